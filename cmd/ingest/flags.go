package main

import (
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/demo"
	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
)

// mainFlags are the flags in --help, enough to serve a site. --help-all shows all flags.
func mainFlags() []string {
	return []string{"config", "data", "listen", "query-listen", "allow-origin", "first-party", "trusted-proxies",
		"access", "retention", "max-disk", "demo", "check", "help-all"}
}

// sections returns the flags by topic, with their defaults set.
func (c *config) sections() []commandline.Section {
	section := func(title string, add func(*pflag.FlagSet)) commandline.Section {
		fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
		fs.SortFlags = false
		add(fs)
		return commandline.Section{Title: title, Flags: fs}
	}
	return []commandline.Section{
		section("Settings", c.settingsFlags),
		section("Data and addresses", c.placeFlags),
		section("Who may send", c.senderFlags),
		section("What is stored, and for how long", c.storageFlags),
		section("Names, owners and budgets", c.meaningFlags),
		section("With a bucket", c.bucketFlags),
		section("Limits", c.limitFlags),
		section("Instead of serving", c.errandFlags),
	}
}

func (c *config) settingsFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.file, "config", "",
		"YAML `FILE` with settings, named like the flags; see docs/operations.md. SIGHUP reloads it")
	fs.BoolVar(&c.dry, "check", false,
		"read all settings and files, print the mistakes and the effective settings, and exit")
	fs.BoolVar(&c.askHealthy, "healthy", false,
		"check the health of the daemon with these settings on this machine, and exit with 0 if it is healthy: for "+
			"containers")
	fs.BoolVar(&c.helpAll, "help-all", false, "describe all flags, and exit")
	fs.StringVar(&c.docsTo, "write-docs", "",
		"write the documentation, which the daemon serves at /docs/, into `DIR` as a site, and exit")
	c.asked.Add(fs)
}

func (c *config) placeFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.data, "data", "fieldtrie-data",
		"data `DIR`, created if missing; or s3://BUCKET/PREFIX, which nodes share; see docs/storage.md")
	fs.StringVar(&c.listen, "listen", ":8418",
		"public `ADDR`, for browsers: HOST:PORT, :PORT, or unix:PATH for a proxy on this machine")
	fs.StringVar(&c.publicURL, "public-url", "",
		"`URL` at which browsers reach the public address, such as https://profiles.example.com or "+
			"https://www.example.com/p: the dashboard's setup guide shows it, and its path may prefix all request "+
			"paths (default: the local address)")
	fs.StringVar(&c.queryListen, "query-listen", "127.0.0.1:8419",
		"private `ADDR`, for queries, health and metrics; unix:PATH is a socket")
	fs.StringVar(&c.site, "site", "fieldtrie", "`NAME` of the site, which Grafana shows as the service")
	fs.StringVar(&c.access, "access", "",
		"YAML `FILE` with the tokens and users that the private address asks for, and what each may have (default "+
			"all may have all). SIGHUP reads it again")
	fs.StringVar(&c.auditLog, "audit-log", "",
		"`FILE` for who asked for single views and backups, uploaded symbols or changed settings, as lines of JSON "+
			"(default the log)")
	fs.StringVar(&c.otlp, "otlp", "",
		"`URL` of an OpenTelemetry collector, such as http://127.0.0.1:4318, that receives the daemon's own metrics "+
			"and traces; the variables OTEL_EXPORTER_OTLP_… set headers and other options (default none)")
	fs.StringVar(&c.logFormat, "log-format", "text",
		"`FORMAT` of the log on standard error: text or json, an object a line")
	fs.StringVar(&c.logLevel, "log-level", "info", "`LEVEL` from which on it has lines: debug, info, warn or error")
	fs.StringVar(&c.publicCert, "public-tls-cert", "",
		"serve HTTPS on the public address, with the certificate in this PEM `FILE`; read again when it changes")
	fs.StringVar(&c.publicKey, "public-tls-key", "", "PEM `FILE` with the private key of --public-tls-cert")
	fs.StringVar(&c.tlsCert, "tls-cert", "",
		"serve HTTPS on the private address, with the certificate in this PEM `FILE`; read again when it changes")
	fs.StringVar(&c.tlsKey, "tls-key", "", "PEM `FILE` with the private key of --tls-cert")
	fs.BoolVar(&c.demo.on, "demo", false,
		"try things out: store a week of visits of a small shop first, in a temporary directory or a new --data, "+
			"and serve a page that profiles itself at /demo/ on the private address; see docs/demo.md")
	fs.IntVar(&c.demo.views, "demo-views", demo.Views,
		"`NUMBER` of page views of the shop of --demo; 0 is the page at /demo/ alone, with whatever --data has")
	fs.BoolVar(&c.demo.ends, "demo-ends", false, "end when all is said")
	_ = fs.MarkHidden("demo-ends") // it fails if the flag is missing
	watched, err := watchdogPeriod(os.Getenv)
	fs.BoolVar(&c.exitWhenStuck, "exit-when-stuck", err == nil && watched > 0,
		"if the store is stuck, exit immediately without closing the data, so that a service manager restarts the "+
			"daemon; =false goes on and refuses traces (default true with $WATCHDOG_USEC, as by systemd's WatchdogSec)")
}

func (c *config) senderFlags(fs *pflag.FlagSet) {
	fs.Var(origins(&c.origins), "allow-origin",
		"`ORIGIN` that may send traces, such as https://www.example.com or https://*.example.com; repeatable "+
			"(default all)")
	fs.Var(keys(&c.keys), "key",
		"`KEY` that may send, as in POST /v1/traces?key=KEY; repeatable (default all may). It stands in pages and "+
			"is no secret: it keeps out noise, and lets you cut off an old embed")
	fs.StringVar(&c.keysFile, "keys", "",
		"YAML `FILE` with more keys, each with its site, rate and origins. SIGHUP reloads it")
	fs.StringVar(&c.sites, "sites", "",
		"YAML `FILE` with isolated sites, each with its rate and disk space; --keys and --access assign senders and "+
			"users to sites. Pages get the name of their site, as shop:/feed")
	fs.Var(proxies(&c.proxies), "trusted-proxies",
		"`ADDR` or network of a proxy before the public address, such as 10.0.0.0/8, which passes the client's "+
			"address in --proxy-header; or none if browsers connect directly; repeatable (default not known: all "+
			"clients count as one)")
	fs.StringVar(&c.proxyHeader, "proxy-header", "X-Forwarded-For",
		"header with the client's address from --trusted-proxies: X-Forwarded-For or Forwarded")
	_ = fs.SetAnnotation("proxy-header", commandline.Values, []string{"X-Forwarded-For", "Forwarded"})
	fs.StringVar(&c.sampling, "sampling", "",
		"`FILE` with a pattern and a rate a line, such as /shop/:item 0.05: the share of the views of a page that "+
			"browsers are told to profile, 0 to stop. SIGHUP reads it again")
}

func (c *config) storageFlags(fs *pflag.FlagSet) {
	c.retention = 7 * 24 * time.Hour
	fs.Var((*ageValue)(&c.retention), "retention",
		"delete traces after this `DURATION`; 0 keeps them forever. Their sums stay")
	c.hourly, c.daily = 30*24*time.Hour, 400*24*time.Hour
	fs.Var((*ageValue)(&c.hourly), "hourly-retention",
		"delete sums of hours after this `DURATION`; 0 keeps them forever")
	fs.Var((*ageValue)(&c.daily), "daily-retention", "delete sums of days after this `DURATION`; 0 keeps them forever")
	fs.BoolVar(&c.shorten, "shorten-retention", false,
		"with a bucket, delete data older than these flags, although another machine was started to keep it longer")
	fs.BoolVar(&c.believe, "believe-clock", false,
		"delete by age although the clock is days from when the data directory was used last")
	fs.Var((*sizeValue)(&c.maxDisk), "max-disk",
		"most that the data directory may take, as a `SIZE` such as 200GiB: over it the oldest traces go first "+
			"(default no bound)")
	fs.Var(hosts(&c.firstParty), "first-party",
		"`HOST` whose scripts are shown, such as example.com or *.example.com; code of all others becomes "+
			"(third-party HOST); repeatable (default all are shown)")
	fs.StringVar(&c.pageRules, "page-rules", "",
		"`FILE` with a path such as /shop/:item a line; what fits none has its identifiers replaced by :id")
}

func (c *config) meaningFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.budgets, "budgets", "",
		"YAML `FILE` with budgets, which are evaluated every minute, and with rules that name features of the "+
			"traces that come. SIGHUP reads it again")
	fs.BoolVar(&c.watch, "watch", true,
		"look for changes of pages, features, functions and Web Vitals after each hour; see docs/changes.md")
	fs.StringVar(&c.notify, "notify", "",
		"YAML `FILE` with notification channels for changes: webhooks, Slack, Alertmanager, e-mail, Grafana, "+
			"GitHub; see docs/notifications.md")
	fs.StringVar(&c.owners, "owners", "",
		"YAML `FILE` with the owners of code, for queries by owner, team and package; see docs/owners.md")
	fs.StringVar(&c.sourceLink, "source-link", "",
		"`TEMPLATE` of URLs of sources, such as https://git.example.com/{repo}/blob/{release}/{file}#L{line}: JSON "+
			"responses include them")
	c.symbols.Retention, c.symbols.MaxSize = 400*24*time.Hour, 2<<30
	fs.Var((*ageValue)(&c.symbols.Retention), "symbols-retention",
		"delete the symbols of a build this `DURATION` after their last upload; 0 keeps them forever")
	fs.Var((*sizeValue)(&c.symbols.MaxSize), "max-symbols",
		"maximum `SIZE` of all symbols; above it the oldest builds are deleted")
}

func (c *config) bucketFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.spool, "spool", "",
		"`DIR` of this machine for traces that the bucket of --data does not accept within a second; they are sent "+
			"later (default none: such traces are refused)")
	c.spoolSize = 1 << 30
	fs.Var((*sizeValue)(&c.spoolSize), "spool-size", "maximum `SIZE` of --spool")
	fs.StringVar(&c.cache, "cache", "",
		"`DIR` of this machine for what questions have read of a bucket (default memory alone)")
	c.cacheSize = 4 << 30
	fs.Var((*sizeValue)(&c.cacheSize), "cache-size", "most that --cache may take, as a `SIZE`")
	// For tests that kill machines during rollups, because few live as long as the defaults.
	fs.DurationVar(&c.rollEvery, "roll-every", 0, "roll up this often at least")
	fs.DurationVar(&c.takeOver, "take-over", 0,
		"with a bucket, take over the work of a machine that has been stopped for this long")
	for _, name := range []string{"roll-every", "take-over"} {
		_ = fs.MarkHidden(name) // it fails if the flag is missing
	}
}

func (c *config) limitFlags(fs *pflag.FlagSet) {
	l := &c.limits
	*l = collect.Limits{}.WithDefaults()
	fs.Var((*sizeValue)(&l.Body), "max-body", "largest request, as sent: `SIZE`")
	fs.Var((*sizeValue)(&l.Inflated), "max-inflated", "largest request, decompressed: `SIZE`")
	fs.IntVar(&l.Trace.Samples, "max-samples", l.Trace.Samples, "most samples of a trace")
	fs.IntVar(&l.Trace.Nodes, "max-stacks", l.Trace.Nodes, "most stacks of a trace")
	fs.IntVar(&l.Trace.Frames, "max-frames", l.Trace.Frames, "most frames of a trace")
	fs.IntVar(&l.Trace.StringBytes, "max-string", l.Trace.StringBytes, "longest name or URL in bytes")
	fs.IntVar(&l.Pages, "max-pages", l.Pages, "most distinct pages an hour; further ones are counted as (other)")
	fs.IntVar(&l.Tags, "max-tags", l.Tags,
		"most distinct features an hour, as many releases, as many environments; further ones are stored as (other)")
	fs.IntVar(&l.Labels, "max-label-values", l.Labels,
		"most distinct values of each label an hour; further ones are stored as (other)")
	fs.DurationVar(&l.Skew, "max-skew", l.Skew, "client clocks further off are not believed")
	fs.IntVar(&c.maxConnections, "max-connections", 4096,
		"most connections to the public address, and no more than half of the files that the process may have open; "+
			"over it those go that were idle for the longest time")
	fs.Float64Var(&l.Rate, "rate", 0,
		"maximum requests a second from one address; 0 is no limit, as behind a proxy that is not in "+
			"--trusted-proxies all have one address")
	fs.Float64Var(&l.PageRate, "page-rate", 0,
		"maximum traces a second of one page, with a burst of a minute's worth; 0 is no limit")
	fs.Float64Var(&l.KeyRate, "key-rate", 0,
		"maximum requests a second with one key, unless --keys has another rate, with a burst of a minute's worth; "+
			"0 is no limit")
}

func (c *config) errandFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.restore, "restore", "",
		"create --data, which must be new or empty, from a backup in `FILE`, - for standard input, or from the data "+
			"in a directory or s3://BUCKET/PREFIX, and exit")
	fs.BoolVar(&c.verify, "verify", false,
		"check all objects of --data, list missing and damaged ones, and exit with 1 if there are any")
	fs.StringVar(&c.testNotification, "test-notification", "",
		"send a test message to the channel `NAME` of --notify, print the response, and exit with 1 if it was refused")
	fs.BoolVar(&c.repair, "repair", false, "with --verify: rebuild damaged sums from their sources")
}
