// Command load replays real traces at ingest at a set rate, and checks that every
// acknowledged trace is stored exactly once. See "load --help".
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/test/loadgen"
)

const usage = `Usage: load [flags] [DIR] [-- FLAGS OF INGEST]

Replays the traces of DIR (default testdata/traces: JSON, one a file, gzipped or not) at
ingest as page views of many pages, each with an id, release, labels and spans of its own.
Without --addr it builds ingest, starts it on free ports with its data in a directory that
is deleted in the end, and stops it by SIGTERM; GOMEMLIMIT and the like go to it too.

By default views have little in common, and each variant has labels and spans of its own,
which is hard on sums. With --site they are those of a site: five releases, which share
most functions and of which the last rolls out during the run, four classes of devices,
six browsers, four connections, ten features, one to four routes and one to twenty chunks
a view, mostly few. A real site has about --pages 1000.

A request is due at a set time, whatever the daemon does, and its latency counts from
then. In the end, when all traces are rolled up, each page's profile must be the exact sum
of the acknowledged traces. Otherwise the first differences are printed, and the exit
status is 1. The exit status is also 1 if the daemon stops acknowledging (--stall); its
goroutines are then printed if it was started here. Flags of
ingest that change what is stored, such as --first-party, need --verify=false.

Examples:

  load --rate 2000 --for 60s testdata/traces
  load --rate 2000 --for 60s --json --pages 1000
  load --rate 500 --for 5m --site --pages 1000
  load --rate 500 --for 2m --kill-every 5s --retry
  load --rate 5000 --traces 100000 --batch 20 --data /tmp/load -- --retention 6h
  load --rate 1500 --for 60s --batch 5 --dashboards 50
  load --rate 200 --for 10m --site --networks 500 --attack all
  load --rate 200 --for 2m --nodes 3 --store versitygw --kill-every 1s --retry --repeat 0.05
  load --addr 127.0.0.1:8418 --query-addr 127.0.0.1:8419 --pid $(pidof ingest)

Flags:
%s
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills the process
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(exitCode(err))
	}
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return 2
	}
	return 1
}

// config is the parsed command line.
type config struct {
	options     loadgen.Options
	queryAddrs  []string
	pid         int
	data        string
	ingest      string
	ingestFlags []string
	nodes       int // to start
	store       string
	spool       bool
	trouble     trouble
	verify      bool
	verifyPages int
	again       bool // --restart
	everywhere  int
	report      string
	dashboards  dashboards
	stall       time.Duration
	attack      attack
	cheap       bool
	memory      int64 // limit of a started daemon in bytes; 0: none
}

func (c *config) flags(fs *pflag.FlagSet) {
	o := &c.options
	fs.Float64Var(&o.Rate, "rate", 1000, "traces a second")
	fs.DurationVar(&o.For, "for", 0, "end after this `DURATION` (default 30s unless --traces is given)")
	fs.Uint64Var(&o.Count, "traces", 0, "end after so many traces, repeats included")
	fs.IntVar(&o.Connections, "connections", 64, "connections, and maximum number of requests in flight")
	fs.IntVar(&o.Batch, "batch", 1, "traces in a request")
	fs.BoolVar(&o.JSON, "json", false, "send the JSON of the browser API, not the binary format")
	fs.BoolVar(&o.Site, "site", false, "send views similar to a real site's, instead of views with little in common")
	fs.IntVar(&o.Pages, "pages", 200, "number of pages")
	fs.Float64Var(&o.Zipf, "zipf", 1.1, "page k has frequency k^-`EXPONENT`; above 1")
	fs.IntVar(&o.Variants, "variants", 4,
		"how many views, with release, labels, spans and chunks, are made of each trace; with --site of each trace "+
			"and release")
	fs.Float64Var(&o.Repeat, "repeat", 0.01, "`SHARE` of requests to send twice, from 0 to 1")
	fs.BoolVar(&o.Retry, "retry", false, "retry up to five times after 408, 429 or 5xx, or without a response")
	fs.Uint64Var(&o.Seed, "seed", 1, "of the random choices; the ids of the views are new each time")
	t := &c.trouble
	fs.DurationVar(&t.killEvery, "kill-every", 0,
		"kill the daemon, or one of --nodes, about this often, and start it again; not with --addr")
	fs.DurationVar(&c.stall, "stall", 15*time.Second,
		"fail when nothing is acknowledged for this `DURATION` while requests are sent; 0 for never")
	fs.BoolVar(&c.verify, "verify", true, "check that everything acknowledged is stored exactly once")
	fs.BoolVar(&c.again, "restart", false,
		"then restart the daemon, and measure the first query of all pages, and the same query by aggregate without "+
			"a daemon")
	fs.IntVar(&c.verifyPages, "verify-pages", 0, "check only this number of pages, those with the most views; 0 is all")
	fs.IntVar(&c.everywhere, "verify-everywhere", 5,
		"query this number of pages at every daemon, with equal results; query the others at a random one")
	fs.StringSliceVar(&o.Addrs, "addr", nil,
		"public `ADDR` of a running daemon, or of all on a bucket; otherwise they are started")
	fs.StringSliceVar(&c.queryAddrs, "query-addr", []string{"127.0.0.1:8419"}, "private `ADDR` of each daemon")
	fs.IntVar(&c.pid, "pid", 0, "its process `ID`, to report memory and processor time")
	fs.StringVar(&o.Key, "key", "", "`KEY` that the daemon requires")
	fs.StringVar(&c.data, "data", "",
		"`DIR` with the data, to report its size; for a started daemon, where it keeps its data, which is not "+
			"deleted: DIR or s3://…")
	fs.StringVar(&c.ingest, "ingest", "", "`PROGRAM` to start; otherwise ingest is built")
	fs.IntVar(&c.dashboards.count, "dashboards", 0,
		"number of dashboards polled during the load, each for one page, every tenth for all pages: the requests to "+
			"/api/v1 and of the Grafana dashboard")
	fs.DurationVar(&c.dashboards.every, "poll", 10*time.Second, "`DURATION` between two polls of a dashboard")
	fs.IntVar(&o.Networks, "networks", 0,
		"let requests come from this number of networks, by proxy headers, which started daemons trust")
	fs.StringSliceVar(&c.attack.modes, "attack", nil, "attack the daemon during the load, in these `MODES`: "+
		strings.Join(attackModes(), ", ")+", or all. The traces of the load must stay right")
	fs.BoolVar(&c.cheap, "cheap", false,
		"send cheap queries with a token to a started daemon in parallel with the load, as under attack")
	fs.Float64Var(&c.attack.rate, "attack-rate", 1, "requests a second of each mode, of 4 MiB when decompressed")
	fs.IntVar(&c.attack.slow, "attack-connections", 500, "connections of each mode that holds them")
	fs.Int64Var(&c.memory, "memory", 0,
		"limit of the daemon's memory in `BYTES`: a daemon that exceeds it is killed. It needs root and Linux")
	c.clusterFlags(fs)
	fs.StringVar(&c.report, "json-report", "",
		"`FILE` for the report as JSON; - is standard output instead of the table")
}

// parse parses the command line. It returns pflag.ErrHelp for --help.
func parse(args []string, stdout io.Writer) (c config, dir string, err error) {
	fs := pflag.NewFlagSet("load", pflag.ContinueOnError)
	fs.SortFlags = false
	c.flags(fs)
	fs.Usage = func() { fmt.Fprintf(stdout, usage, fs.FlagUsagesWrapped(92)) }
	if err := fs.Parse(args); err != nil {
		return c, "", err
	}
	dirs := fs.Args()
	if n := fs.ArgsLenAtDash(); n >= 0 {
		dirs, c.ingestFlags = dirs[:n], dirs[n:]
	}
	if c.options.For == 0 && c.options.Count == 0 {
		c.options.For = 30 * time.Second
	}
	if len(dirs) > 1 {
		return c, "", fmt.Errorf("unexpected argument %q; see load --help", dirs[1])
	}
	if err := c.check(); err != nil {
		return c, "", err
	}
	if c.attack.modes, err = parseAttack(c.attack.modes); err != nil {
		return c, "", err
	}
	dir = "testdata/traces"
	if len(dirs) > 0 {
		dir = dirs[0]
	}
	return c, dir, nil
}

// check rejects impossible settings.
func (c *config) check() error {
	own, t := len(c.options.Addrs) == 0, c.trouble
	switch {
	case !own && (t != trouble{pauseFor: t.pauseFor} || len(c.ingestFlags) > 0 || c.ingest != "" || c.memory != 0):
		return errors.New("--kill-every and other faults, --ingest, --memory and flags of ingest are for a daemon " +
			"started here, so they cannot be combined with --addr")
	case !own && len(c.options.Addrs) != len(c.queryAddrs):
		return errors.New("--addr and --query-addr must have equally many addresses")
	case c.again && (!own || c.nodes > 1):
		return errors.New("--restart needs exactly one daemon that is started here")
	case own && c.pid != 0:
		return errors.New("--pid needs --addr and a running daemon")
	case !(c.attack.rate > 0) || c.attack.slow < 1:
		return errors.New("--attack-rate and --attack-connections must be above 0")
	case t.killEvery < 0 || c.stall < 0:
		return errors.New("--kill-every and --stall must not be negative")
	}
	return c.checkCluster()
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, dir, err := parse(args, stdout)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return usageError{err}
	}
	if c.options.Traces, err = loadgen.ReadTraces(dir); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "load: %d traces of %s\n", len(c.options.Traces), dir)
	r, err := c.measure(ctx, stderr)
	if err != nil {
		return err
	}
	if c.report != "-" {
		if err := r.print(stdout); err != nil {
			return err
		}
	}
	if c.report != "" {
		if err := r.write(c.report, stdout); err != nil {
			return err
		}
	}
	if r.Differences > 0 {
		return fmt.Errorf("stored traces differ from acknowledged ones: %d differences", r.Differences)
	}
	return nil
}

// write writes r as JSON to a file, or to stdout if name is "-".
func (r *report) write(name string, stdout io.Writer) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if name == "-" {
		_, err = stdout.Write(text)
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
