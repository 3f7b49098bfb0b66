package main

import (
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
)

// config is what the settings say.
type config struct {
	settings
	data        string
	listen      string
	queryListen string
	site        string
	publicURL   string
	retention   time.Duration // of traces
	hourly      time.Duration // of rollups of hours
	shorten     bool          // the retention of a bucket
	believe     bool          // the clock
	daily       time.Duration // of rollups of days
	maxDisk     int64
	origins     []string
	keys        []string
	keysFile    string
	sites       string
	apart       []site.Site // of the file of --sites, as they were at the start
	auditLog    string
	access      string
	tlsCert     string
	tlsKey      string
	firstParty  []string
	pageRules   string
	sampling    string
	budgets     string
	demo        bool
	owners      string
	sourceLink  string
	symbols     tables.Options
	errands
	spool       string
	spoolSize   int64
	cache       string
	cacheSize   int64
	rollEvery   time.Duration // 0: as [fleet.Options] has it
	takeOver    time.Duration // likewise
	limits      collect.Limits
	proxies     []string // as --trusted-proxies has them
	proxyHeader string

	maxConnections int // to the public address

	exitWhenStuck bool

	heap *heap            // nil: the environment says how large it may be
	now  func() time.Time // the clock of the store; nil: time.Now
}

// check refuses values with which the daemon would start and not work.
func (c *config) check() error { return c.whence(c.refused()) }

func (c *config) refused() error {
	l := &c.limits
	for flag, n := range map[string]int64{
		"max-samples": int64(l.Trace.Samples), "max-stacks": int64(l.Trace.Nodes), "max-frames": int64(l.Trace.Frames),
		"max-string": int64(l.Trace.StringBytes), "max-pages": int64(l.Pages), "max-tags": int64(l.Tags), "max-label-values": int64(l.Labels), "max-connections": int64(c.maxConnections), "max-skew": int64(l.Skew),
	} {
		if n <= 0 {
			return fmt.Errorf("--%s must be above 0", flag)
		}
	}
	for flag, rate := range map[string]float64{"rate": l.Rate, "page-rate": l.PageRate, "key-rate": l.KeyRate} {
		if !(rate >= 0) {
			return fmt.Errorf("--%s must not be negative", flag)
		}
	}
	keyed := len(c.keys) > 0 || c.keysFile != ""
	if l.KeyRate > 0 && !keyed {
		return fmt.Errorf("--key-rate needs --key or --keys: without keys of yours, everybody makes up their own")
	}
	if c.demo && keyed {
		return fmt.Errorf("--demo does not go with --key and --keys: the page of the demo has none")
	}
	if (c.tlsCert == "") != (c.tlsKey == "") {
		return fmt.Errorf("--tls-cert and --tls-key go together: a certificate and its private key")
	}
	if err := collect.CheckProxyHeader(c.proxyHeader); err != nil {
		return fmt.Errorf("--proxy-header: %w", err)
	}
	if err := checkPublicURL(c.publicURL); err != nil {
		return err
	}
	if c.site == "" {
		return fmt.Errorf("--site: the name of the site is empty")
	}
	if c.data == "" {
		return fmt.Errorf("--data: the name of the directory is empty")
	}
	if err := c.validate(); err != nil {
		return err
	}
	return c.checkPlace()
}

// checkPlace refuses what does not go with where the data is.
func (c *config) checkPlace() error {
	if err := shared.CheckLocation(c.data); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	_, onDisk := shared.Folder(c.data)
	if c.maxDisk > 0 && !onDisk {
		return fmt.Errorf("--max-disk: a bucket has no such bound; use --retention")
	}
	for flag, dir := range map[string]string{"spool": c.spool, "cache": c.cache} {
		if dir != "" && onDisk {
			return fmt.Errorf("--%s: it is for a bucket; a directory is on this machine itself", flag)
		}
	}
	return c.storeOptions().Validate()
}

// collectOptions returns what the command line and its files say about the receiving
// side.
func (c *config) collectOptions() (collect.Options, error) {
	pages, err := readRules(c.pageRules, collect.ParsePageRules)
	if err != nil {
		return collect.Options{}, fmt.Errorf("page rules: %w", err)
	}
	sampling, err := c.readSampling()
	if err != nil {
		return collect.Options{}, err
	}
	if c.apart, err = c.readSites(); err != nil {
		return collect.Options{}, err
	}
	keys, err := c.readKeys()
	if err != nil {
		return collect.Options{}, err
	}
	proxies, err := collect.ParseProxies(c.proxies)
	if err != nil {
		return collect.Options{}, fmt.Errorf("--trusted-proxies: %w", err)
	}
	proxies.Header = c.proxyHeader
	return collect.Options{
		Proxies: proxies, Pages: pages, Sampling: sampling, Origins: c.origins, FirstParty: c.firstParty, Keys: keys, Limits: c.limits,
		Sites: c.apart, Keep: c.retention,
	}, nil
}
