package main

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/bucket"
	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/tables"
)

// config is what the command line says.
type config struct {
	data        string
	listen      string
	queryListen string
	site        string
	partition   time.Duration
	retention   time.Duration // of traces
	hourly      time.Duration // of rollups of hours
	daily       time.Duration // of rollups of days
	maxDisk     int64
	ballast     int64
	origins     []string
	keys        []string
	keysFile    string
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

func (c *config) flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.data, "data", "fieldtrie-data", "`DIR` with the data, made if it is not there; or s3://BUCKET/PREFIX, which machines share, see docs/fleet.md")
	fs.StringVar(&c.listen, "listen", ":8418", "public `ADDR`, for browsers")
	fs.StringVar(&c.queryListen, "query-listen", "127.0.0.1:8419", "private `ADDR`, for queries, health and metrics")
	fs.StringVar(&c.site, "site", "fieldtrie", "`NAME` of the site, which Grafana shows as the service")
	fs.Var((*originsValue)(&c.origins), "allow-origin", "`ORIGIN` that may send traces, such as https://www.example.com or https://*.example.com; repeatable (default all)")
	fs.Var((*keysValue)(&c.keys), "key", "`KEY` that may send, as in POST /v1/traces?key=KEY; repeatable (default all may). It stands in pages and is no secret: it keeps out noise, and lets you cut off an old embed")
	fs.StringVar(&c.keysFile, "keys", "", "YAML `FILE` with more keys, each with its site, rate and origins. SIGHUP reads it again")
	fs.StringVar(&c.access, "access", "", "YAML `FILE` with the tokens and users that the private address asks for, and what each may have (default all may have all). SIGHUP reads it again")
	fs.StringVar(&c.tlsCert, "tls-cert", "", "serve HTTPS on the private address, with the certificate in this PEM `FILE`; read again when it changes")
	fs.StringVar(&c.tlsKey, "tls-key", "", "PEM `FILE` with the private key of --tls-cert")
	fs.Var((*hostsValue)(&c.firstParty), "first-party", "`HOST` whose scripts are shown, such as example.com or *.example.com; code of all others becomes (third-party HOST); repeatable (default all are shown)")
	fs.StringVar(&c.pageRules, "page-rules", "", "`FILE` with a path such as /shop/:item a line; what fits none has its identifiers replaced by :id")
	fs.StringVar(&c.sampling, "sampling", "", "`FILE` with a pattern and a rate a line, such as /shop/:item 0.05: the share of the views of a page that browsers are told to profile, 0 to stop. SIGHUP reads it again")
	fs.StringVar(&c.budgets, "budgets", "", "YAML `FILE` with budgets, which are evaluated every minute, and with rules that name features of the traces that come. SIGHUP reads it again")
	c.retention = 7 * 24 * time.Hour
	fs.Var((*ageValue)(&c.retention), "retention", "delete traces after this `DURATION`; 0 keeps them for ever. What they sum up to stays")
	c.hourly, c.daily = 30*24*time.Hour, 400*24*time.Hour
	fs.Var((*ageValue)(&c.hourly), "hourly-retention", "delete sums of hours after this `DURATION`; 0 keeps them for ever")
	fs.Var((*ageValue)(&c.daily), "daily-retention", "delete sums of days after this `DURATION`; 0 keeps them for ever")
	fs.Var((*sizeValue)(&c.maxDisk), "max-disk", "most that the data directory may take, as a `SIZE` such as 200GiB: over it the oldest traces go first (default no bound)")
	c.ballast = 256 << 20
	fs.Var((*reserveValue)(&c.ballast), "ballast", "set this `SIZE` of the disk aside, a 32nd of it at most, so that a start on a full disk can bring the data in order; 0 is none")
	fs.DurationVar(&c.partition, "partition", time.Hour, "`DURATION` that shares a directory, an hour at most")

	fs.StringVar(&c.spool, "spool", "", "`DIR` of this machine for what the bucket of --data does not take within a second; it is put there later (default none: such traces are refused)")
	c.spoolSize = 1 << 30
	fs.Var((*sizeValue)(&c.spoolSize), "spool-size", "most that --spool may take, as a `SIZE`")
	// For tests that kill machines as they roll up: with the times that are good for a bucket few live that long.
	fs.DurationVar(&c.rollEvery, "roll-every", 0, "with a bucket, roll up this often")
	fs.DurationVar(&c.takeOver, "take-over", 0, "with a bucket, do what another machine did when it has stopped for this long")
	for _, name := range []string{"roll-every", "take-over"} {
		_ = fs.MarkHidden(name) // which fails where there is no such flag
	}

	fs.StringVar(&c.cache, "cache", "", "`DIR` of this machine for what questions have read of a bucket (default memory alone)")
	c.cacheSize = 4 << 30
	fs.Var((*sizeValue)(&c.cacheSize), "cache-size", "most that --cache may take, as a `SIZE`")

	fs.StringVar(&c.owners, "owners", "", "YAML `FILE` that says whose code is whose, for questions by owner, team and package; see docs/owners.md")
	fs.StringVar(&c.sourceLink, "source-link", "", "`TEMPLATE` of URLs of sources, such as https://git.example.com/{repo}/blob/{release}/{file}#L{line}: answers as JSON have them")
	c.symbols.Retention, c.symbols.MaxSize = 400*24*time.Hour, 2<<30
	fs.Var((*ageValue)(&c.symbols.Retention), "symbols-retention", "delete the symbols of a build this `DURATION` after they were last uploaded; 0 keeps them for ever")
	fs.Var((*sizeValue)(&c.symbols.MaxSize), "max-symbols", "most that all symbols may take, as a `SIZE`: over it those of the oldest builds go")

	watched, err := watchdogPeriod(os.Getenv)
	fs.BoolVar(&c.exitWhenStuck, "exit-when-stuck", err == nil && watched > 0, "when nothing was written for too long, end at once and without closing the data, so that a supervisor starts the daemon anew; =false goes on and refuses traces (default true with $WATCHDOG_USEC, as by systemd's WatchdogSec)")

	fs.StringVar(&c.restore, "restore", "", "make --data, which must be new or empty, of a backup in `FILE`, - for standard input, and exit")
	fs.StringVar(&c.importOf, "import", "", "move the data in `DIR`, which no daemon uses, into the bucket of --data, and exit. The same command goes on with what was interrupted")
	fs.StringVar(&c.exportTo, "export", "", "make `DIR`, which must be new or empty, of the bucket of --data, which no daemon uses, and exit. The same command goes on with what was interrupted")
	fs.BoolVar(&c.verify, "verify", false, "check all that the bucket of --data has, say what is wrong, and exit with 1 if something is")
	fs.BoolVar(&c.repair, "repair", false, "with --verify: make sums again of what they were made of")
	fs.BoolVar(&c.demo, "demo", false, "serve a page at /demo/ on the private address, to try things out")

	l := &c.limits
	*l = collect.Limits{}.WithDefaults()
	fs.Var((*sizeValue)(&l.Body), "max-body", "largest request, as sent: `SIZE`")
	fs.Var((*sizeValue)(&l.Inflated), "max-inflated", "largest request, decompressed: `SIZE`")
	fs.IntVar(&l.Trace.Samples, "max-samples", l.Trace.Samples, "most samples of a trace")
	fs.IntVar(&l.Trace.Nodes, "max-stacks", l.Trace.Nodes, "most stacks of a trace")
	fs.IntVar(&l.Trace.Frames, "max-frames", l.Trace.Frames, "most frames of a trace")
	fs.IntVar(&l.Trace.StringBytes, "max-string", l.Trace.StringBytes, "longest name or URL in bytes")
	fs.IntVar(&l.Pages, "max-pages", l.Pages, "most distinct pages an hour; further ones are counted as (other)")
	fs.IntVar(&l.Tags, "max-tags", l.Tags, "most distinct features an hour, as many releases, as many environments; further ones are stored as (other)")
	fs.IntVar(&l.Labels, "max-label-values", l.Labels, "most distinct values of each label an hour; further ones are stored as (other)")
	fs.DurationVar(&l.Skew, "max-skew", l.Skew, "client clocks further off are not believed")
	fs.IntVar(&c.maxConnections, "max-connections", 4096, "most connections to the public address, and no more than half of the files that the process may have open; over it those go that were idle for the longest time")
	fs.StringSliceVar(&c.proxies, "trusted-proxies", nil, "`ADDR` or network of a proxy before the public address, such as 10.0.0.0/8, which says in --proxy-header whom it got a request from; or none if browsers connect directly; repeatable (default not known: all clients are taken for one)")
	fs.StringVar(&c.proxyHeader, "proxy-header", "X-Forwarded-For", "where --trusted-proxies say it: X-Forwarded-For or Forwarded")
	fs.Float64Var(&l.Rate, "rate", 0, "most requests a second from one address; 0 is no limit, as behind a proxy that is not in --trusted-proxies all have one address")
	fs.Float64Var(&l.PageRate, "page-rate", 0, "most traces a second of one page, and a minute's worth at once; 0 is no limit")
	fs.Float64Var(&l.KeyRate, "key-rate", 0, "most requests a second with one key, unless --keys says another rate, and a minute's worth at once; 0 is no limit")
}

// check refuses values with which the daemon would start and not work.
func (c *config) check() error {
	l := &c.limits
	for flag, n := range map[string]int64{
		"max-samples": int64(l.Trace.Samples), "max-stacks": int64(l.Trace.Nodes), "max-frames": int64(l.Trace.Frames),
		"max-string": int64(l.Trace.StringBytes), "max-pages": int64(l.Pages), "max-tags": int64(l.Tags), "max-label-values": int64(l.Labels), "max-connections": int64(c.maxConnections), "max-skew": int64(l.Skew), "partition": int64(c.partition),
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
	if c.site == "" {
		return fmt.Errorf("--site: the name of the site is empty")
	}
	if c.data == "" {
		return fmt.Errorf("--data: the name of the directory is empty")
	}
	if err := c.validate(c.data); err != nil {
		return err
	}
	if bucket.IsLocation(c.data) {
		return c.checkShared()
	}
	for flag, dir := range map[string]string{"spool": c.spool, "cache": c.cache} {
		if dir != "" {
			return fmt.Errorf("--%s: it is for a bucket; a directory is on this machine itself", flag)
		}
	}
	return c.storeOptions().Validate()
}

// checkShared refuses what does not go with a bucket.
func (c *config) checkShared() error {
	if _, err := bucket.ParseLocation(c.data); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	switch {
	case c.maxDisk > 0:
		return fmt.Errorf("--max-disk: a bucket has no such bound; use --retention")
	case c.partition != time.Hour:
		return fmt.Errorf("--partition: in a bucket traces are kept by the hour")
	}
	return c.fleetOptions().Validate()
}

// memTable holds the memory of the store near 150 MiB.
const memTable = 32 << 20

func (c *config) storeOptions() store.Options {
	return store.Options{Program: "ingest", Now: c.now, Partition: c.partition, MemTableSize: memTable,
		Retention: c.retention, HourRetention: c.hourly, DayRetention: c.daily, MaxDisk: c.maxDisk, Ballast: c.ballast}
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
	}, nil
}

// sizeValue is a flag for a number of bytes.
type sizeValue int64

func (v *sizeValue) String() string { return humanize.IBytes(uint64(*v)) }
func (v *sizeValue) Type() string   { return "size" }
func (v *sizeValue) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > math.MaxInt64/2 {
		return fmt.Errorf("%q is not a size such as 256KiB", s)
	}
	*v = sizeValue(n)
	return nil
}

// reserveValue is a flag for a number of bytes that may be none.
type reserveValue int64

func (v *reserveValue) String() string { return (*sizeValue)(v).String() }
func (v *reserveValue) Type() string   { return "size" }
func (v *reserveValue) Set(s string) error {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n <= 0 {
		*v = 0
		return nil
	}
	return (*sizeValue)(v).Set(s)
}

// ageValue is a flag for a duration that may be in days.
type ageValue time.Duration

func (v *ageValue) String() string { return time.Duration(*v).String() }
func (v *ageValue) Type() string   { return "duration" }
func (v *ageValue) Set(s string) error {
	d, err := query.ParseAge(s)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration such as 24h or 7d", s)
	}
	*v = ageValue(d)
	return nil
}

// originsValue is a flag for origins that may send traces.
type originsValue []string

func (v *originsValue) String() string { return strings.Join(*v, " ") }
func (v *originsValue) Type() string   { return "origin" }
func (v *originsValue) Set(s string) error {
	if err := collect.CheckOrigin(s); err != nil {
		return err
	}
	*v = append(*v, s)
	return nil
}

// hostsValue is a flag for hosts. A URL would match no host, and hide all code.
type hostsValue []string

func (v *hostsValue) String() string { return strings.Join(*v, " ") }
func (v *hostsValue) Type() string   { return "host" }
func (v *hostsValue) Set(s string) error {
	host := strings.TrimPrefix(s, "*.")
	if u, err := url.Parse("https://" + host); err != nil || host == "" || u.Host != host || strings.ContainsAny(host, "*@") {
		return fmt.Errorf("%q is not a host such as example.com or *.example.com", s)
	}
	*v = append(*v, s)
	return nil
}

// keysValue is a flag for keys.
type keysValue []string

func (v *keysValue) String() string { return strings.Join(*v, " ") }
func (v *keysValue) Type() string   { return "key" }
func (v *keysValue) Set(s string) error {
	if err := collect.CheckKey(s); err != nil {
		return err
	}
	*v = append(*v, s)
	return nil
}
