package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/telemetry"
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
	logFormat   string
	otlp        string // where telemetry of the daemon itself is sent; empty: nowhere
	logLevel    string
	access      string
	tlsCert     string
	tlsKey      string
	publicCert  string
	publicKey   string
	firstParty  []string
	pageRules   string
	sampling    string
	budgets     string
	notify      string
	watch       bool
	demo        demoOptions
	owners      string
	sourceLink  string
	symbols     tables.Options
	errands
	spool       string
	spoolSize   int64
	cache       string
	cacheSize   int64
	rollEvery   time.Duration // 0: the default of the store
	takeOver    time.Duration // 0: the default of the store
	limits      collect.Limits
	proxies     []string // as in --trusted-proxies
	proxyHeader string

	maxConnections int // to the public address

	exitWhenStuck bool

	heap *heap            // nil: the environment sets its limit
	now  func() time.Time // the clock of the store; nil: time.Now
}

// check refuses values with which the daemon would start and not work. It returns all that are
// wrong.
func (c *config) check() error {
	var wrong []error
	for _, err := range append(c.refused(), c.checkPlace()...) {
		wrong = append(wrong, c.whence(err))
	}
	return errors.Join(wrong...)
}

func (c *config) refused() (wrong []error) {
	refuse := func(is bool, format string, args ...any) {
		if is {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	l := &c.limits
	for _, limit := range []struct {
		flag string
		n    int64
	}{
		{"max-samples", int64(l.Trace.Samples)}, {"max-stacks", int64(l.Trace.Nodes)},
		{"max-frames", int64(l.Trace.Frames)},
		{"max-string", int64(l.Trace.StringBytes)}, {"max-pages", int64(l.Pages)}, {"max-tags", int64(l.Tags)},
		{"max-label-values", int64(l.Labels)}, {"max-connections", int64(c.maxConnections)},
		{"max-skew", int64(l.Skew)},
	} {
		refuse(limit.n <= 0, "--%s must be above 0", limit.flag)
	}
	err := telemetry.CheckEndpoint(c.otlp)
	refuse(err != nil, "--otlp: %w", err)
	refuse(c.logFormat != "text" && c.logFormat != "json", "--log-format %q: known are text, json", c.logFormat)
	_, known := logLevels()[c.logLevel]
	refuse(!known, "--log-level %q: known are debug, info, warn, error", c.logLevel)
	refuse(!(l.Rate >= 0), "--rate must not be negative")
	refuse(!(l.PageRate >= 0), "--page-rate must not be negative")
	refuse(!(l.KeyRate >= 0), "--key-rate must not be negative")
	keyed := len(c.keys) > 0 || c.keysFile != ""
	refuse(l.KeyRate > 0 && !keyed,
		"--key-rate needs --key or --keys: without a list of keys, clients can make up any number of them")
	refuse(c.demo.on && keyed, "--demo does not go with --key and --keys: the page of the demo has none")
	refuse(c.demo.views < 0, "--demo-views must not be negative")
	refuse((c.tlsCert == "") != (c.tlsKey == ""),
		"--tls-cert and --tls-key go together: a certificate and its private key")
	refuse((c.publicCert == "") != (c.publicKey == ""),
		"--public-tls-cert and --public-tls-key go together: a certificate and its private key")
	if err := collect.CheckProxyHeader(c.proxyHeader); err != nil {
		refuse(true, "--proxy-header: %w", err)
	}
	refuse(c.site == "", "--site: the name of the site is empty")
	refuse(c.data == "", "--data: the name of the directory is empty")
	refuse(c.testNotification != "" && c.notify == "",
		"--test-notification: it goes with --notify, the file that has the channel")
	for _, err := range []error{checkPublicURL(c.publicURL), c.validate()} {
		refuse(err != nil, "%w", err)
	}
	return wrong
}

// checkPlace returns what does not go with where the data is.
func (c *config) checkPlace() (wrong []error) {
	if c.data == "" {
		return nil
	}
	if err := shared.CheckLocation(c.data); err != nil {
		return []error{fmt.Errorf("--data: %w", err)}
	}
	_, onDisk := shared.Folder(c.data)
	if c.maxDisk > 0 && !onDisk {
		wrong = append(wrong, errors.New("--max-disk: a bucket has no such bound; use --retention"))
	}
	for _, own := range []struct{ flag, dir string }{{"spool", c.spool}, {"cache", c.cache}} {
		if own.dir != "" && onDisk {
			wrong = append(wrong, fmt.Errorf("--%s: it is for a bucket; a directory is on this machine itself",
				own.flag))
		}
	}
	if err := c.storeOptions().Validate(); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

// collectOptions returns what the command line and its files say about the receiving
// side.
func (c *config) collectOptions() (collect.Options, error) {
	var wrong []error
	fail := func(err error) { wrong = append(wrong, err) }
	pages, err := readRules(c.pageRules, collect.ParsePageRules)
	fail(within("page rules", err))
	sampling, err := c.readSampling()
	fail(err)
	c.apart, err = c.readSites()
	fail(err)
	keys, err := c.readKeys()
	fail(err)
	proxies, err := collect.ParseProxies(c.proxies)
	if err != nil {
		fail(fmt.Errorf("--trusted-proxies: %w", err))
	}
	proxies.Header = c.proxyHeader
	return collect.Options{
		Proxies: proxies, Pages: pages, Sampling: sampling, Origins: c.origins, FirstParty: c.firstParty,
		PublicURL: c.publicURL, Keys: keys, Limits: c.receivingLimits(),
		Sites: c.apart, Keep: c.retention,
	}, errors.Join(wrong...)
}

// receivingLimits returns the limits of what is received, with what the machine allows.
func (c *config) receivingLimits() collect.Limits {
	l := c.limits
	l.InFlight = c.heap.bodies()
	return l
}
