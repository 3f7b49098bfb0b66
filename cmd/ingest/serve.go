package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/address"
	"github.com/fieldtrie/fieldtrie/cmd/ingest/connections"
	"github.com/fieldtrie/fieldtrie/cmd/ingest/telemetry"
	"github.com/fieldtrie/fieldtrie/cmd/ingest/watching"
	"github.com/fieldtrie/fieldtrie/notify"

	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/query/budget"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/internal/requests"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/rules/access"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
)

// maxPrivateConnections is how many connections the private address and the socket have each,
// if the process may have eight times as many files open.
const maxPrivateConnections = 1024

// serve runs the daemon until ctx is done. The order of the steps matters.
func (c *config) serve(ctx context.Context, log *slog.Logger, stdout io.Writer) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s := serving{config: c, log: log, registry: prometheus.NewRegistry()}
	defer s.end()
	for _, step := range []func(context.Context) error{
		s.readFiles, // report mistakes in files first
		s.guard,     // set up access control before any request
		s.tell,      // report mistakes in telemetry settings before anything is open
		s.listen,    // fail on a port in use before any change to the data
		s.open,      // writes are possible from here on
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	s.register()
	s.receive(ctx)
	s.answer(ctx)
	d := s.daemon()
	public, private := s.handlers(d)
	s.work(ctx, d)
	d.start(s.public, public, connections.Share(c.maxConnections, 2))
	d.start(s.private, s.private.handler(private, s.telemetry), connections.Share(maxPrivateConnections, 8))
	if s.kept.socket != nil {
		d.start(s.kept.socket, s.private.watched(private, private, s.telemetry),
			connections.Share(maxPrivateConnections, 8))
	}
	if len(c.unknown) > 0 {
		log.Warn("unknown environment variables", "names", c.unknown)
	}
	log.Info("listening", "public", s.public.Addr().String(), "private", s.private.Addr().String(), "data", c.data)
	if c.demo.on {
		d.background.Go(func() { s.tellDemo(ctx, stdout, end) })
	}
	return d.run(ctx) // which closes the store
}

// serving holds the parts of a daemon. Each step of [config.serve] adds some.
type serving struct {
	config    *config
	log       *slog.Logger
	registry  *prometheus.Registry
	telemetry *telemetry.Sender // nil without --otlp
	ends      []func()          // run at the end, the last one first

	options     collect.Options
	budgets     *budget.File
	notify      *notify.File
	owners      atomic.Pointer[owner.Rules]  // nil for the default rules
	links       atomic.Pointer[naming.Links] // to sources
	audit       *audit
	private     *privateAddress
	supervisor  *supervisor
	hangUp      chan os.Signal
	public      net.Listener
	certificate *access.Certificate // of the public address; nil without TLS
	kept        kept
	reads       *prometheus.CounterVec
	surplus     prometheus.Counter
	collector   *collect.Collector
	ownOrigin   string // of the demo, which may always send; empty without --demo
	source      query.Local
	board       *budget.Board
	watcher     *watching.Watcher // nil with --watch=false
	gate        *api.Gate
}

func (s *serving) end() {
	for _, f := range slices.Backward(s.ends) {
		f()
	}
}

// readFiles reads the files that settings name.
func (s *serving) readFiles(context.Context) (err error) {
	c := s.config
	if s.options, err = c.collectOptions(); err != nil {
		return err
	}
	if s.budgets, err = c.readBudgets(); err != nil {
		return err
	}
	s.options.Features = s.budgets.Features
	if s.notify, err = c.readNotify(); err != nil {
		return err
	}
	owners, err := c.readOwners()
	if err != nil {
		return err
	}
	s.owners.Store(owners)
	links, err := c.links()
	s.links.Store(&links)
	return err
}

// guard prepares the private address, and the notifications of the service manager.
func (s *serving) guard(context.Context) (err error) {
	var file io.Closer
	if s.audit, file, err = s.config.newAudit(s.log); err != nil {
		return err
	}
	s.ends = append(s.ends, func() { _ = file.Close() })
	if s.private, err = s.config.private(s.registry, s.log); err != nil {
		return err
	}
	if s.certificate, err = loadCertificate(s.config.publicCert, s.config.publicKey, s.log); err != nil {
		return err
	}
	if s.supervisor, err = findSupervisor(os.Getenv, s.log); err != nil {
		s.log.Warn("notifying the service manager failed", "err", err)
	}
	s.hangUp = s.config.hangUps()
	s.ends = append(s.ends, func() { signal.Stop(s.hangUp) })
	return nil
}

// listen opens both addresses without accepting connections.
func (s *serving) listen(context.Context) (err error) {
	if s.public, err = listen(s.config.listen, s.certificate); err != nil {
		return err
	}
	s.ends = append(s.ends, func() { _ = s.public.Close() })
	if err := s.private.listen(s.config.queryListen, s.log); err != nil {
		return err
	}
	s.ends = append(s.ends, func() { _ = s.private.Close() })
	return nil
}

// open opens the store and all other stored data.
func (s *serving) open(ctx context.Context) (err error) {
	s.kept, err = s.config.open(ctx, s.log)
	return err
}

// register registers the metrics of the parts opened so far.
func (s *serving) register() {
	s.reads, s.surplus = newReads(), newSurplus()
	s.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		s.kept.node, s.reads, s.surplus, s.kept.symbols, newBuildInfo(commandline.ReadVersion()))
}

// tell starts to send the daemon's own metrics and traces.
func (s *serving) tell(ctx context.Context) (err error) {
	if s.config.otlp == "" {
		return nil
	}
	s.telemetry, err = telemetry.Start(ctx, telemetry.Options{Endpoint: s.config.otlp, Metrics: s.registry,
		Version: commandline.ReadVersion().Version, Service: "ingest", Logger: s.log})
	if err != nil {
		return fmt.Errorf("--otlp: %w", err)
	}
	s.ends = append(s.ends, s.telemetry.End)
	return nil
}

// receive creates the collector.
func (s *serving) receive(ctx context.Context) {
	if s.config.demo.on {
		s.ownOrigin = s.private.url()
	}
	o := &s.options
	o.Store, o.Metrics, o.Logger = s.kept.node, s.registry, s.log
	o.KnownPages, o.Established = storedNames(ctx, s.kept.node)
	o.Origins = withOwn(o.Origins, s.ownOrigin)
	o.SiteBytes = s.config.siteBytes(s.log)
	s.collector = collect.New(*o)
	s.kept.node.OnDelete(s.collector.Forget)
	s.registry.MustRegister(siteMetrics{s.collector})
}

// answer creates the handlers of queries.
func (s *serving) answer(ctx context.Context) {
	named := query.Local{Reader: s.kept.node, Symbols: s.kept.symbols.names, Owners: s.owners.Load,
		Links: func() naming.Links {
			return *s.links.Load()
		}}
	if s.config.watch {
		named.Browsers = func(ctx context.Context, takes func(page string) bool) browsers.Evidence {
			return s.watcher.Browsers(ctx, takes)
		}
	}
	s.board = s.config.board(named, s.budgets, s.registry)
	if s.config.watch {
		s.watcher = watching.New(s.config.watching(s, named))
	}
	s.source = named
	s.source.Memory = s.config.heap.forQueries()
	s.source.Responses, s.source.Steps = query.NewResponseCache(ctx), query.NewStepCache()
	s.gate = api.NewGate(api.GateOptions{Metrics: s.registry, Concurrent: s.config.heap.turns()})
}

// daemon returns the daemon, whose servers do not run yet.
func (s *serving) daemon() *daemon {
	c := s.config
	settings := reload{s}
	return &daemon{
		log: s.log, data: c.data, store: s.kept.node, heap: c.heap, supervisor: s.supervisor,
		exitWhenStuck: c.exitWhenStuck, surplus: s.surplus,
		failed: make(chan error, 3), hangUp: s.hangUp, reread: settings.all,
	}
}

// handlers returns the handlers of the public and the private address.
func (s *serving) handlers(d *daemon) (public http.Handler, private *http.ServeMux) {
	c := s.config
	loads := &scriptCounter{}
	outer := publicHandler(s.collector, loads)
	inner := privateHandler(s.kept.node, s.registry, &d.draining)
	s.kept.add(inner, s.audit, s.log)
	answers{s.source, s.gate, s.config.heap, s.config.site, s.audit, s.board, s.watcher,
		s.config.demo.says()}.add(inner)
	addDashboard(inner, s.private.guard)
	addDocs(inner)
	if s.config.demo.on {
		addDemo(outer, inner, urlOf(s.public.Addr(), s.certificate))
		s.log.Info("demo", "url", s.private.url()+"/demo/")
	}
	inner.Handle("/api/v1/budgets", s.gate.Measure("/api/v1/budgets", newForPages(func(p query.Pages) http.Handler {
		return s.board.Only(p.Takes)
	})))
	s.addChanges(inner)
	s.addDeletions(inner)
	inner.Handle("GET /api/v1/arrivals", s.serveArrivals(loads))
	inner.Handle("GET /api/v1/answers", api.Together(inner))
	return requests.WithIDs(s.telemetry.Public(cleanPaths(c.publicURL, outer))), inner
}

// work starts the daemon's background work.
func (s *serving) work(ctx context.Context, d *daemon) {
	d.work(ctx, s.kept.Run, s.kept.symbols.sweep, s.kept.symbols.follow, func(ctx context.Context) {
		evaluate(ctx, s.board, s.config.firstBudgets(), s.log)
	},
		func(ctx context.Context) { s.config.keepSiteBytes(ctx, s.collector, s.log) }, s.watch)
}

// kept holds the stores of a daemon and their resources.
type kept struct {
	*node
	symbols *symbolStore
	socket  net.Listener // through which aggregate finds the daemon; may be nil
}

// open opens what --data names.
func (c *config) open(ctx context.Context, log *slog.Logger) (k kept, err error) {
	n, err := c.openNode(ctx, log)
	if err != nil {
		return k, err
	}
	k.node = n
	if k.symbols, err = c.openSymbols(n, log); err != nil {
		return k, errors.Join(err, n.Close())
	}
	if dir, ok := shared.Folder(c.data); ok {
		k.listen(dir, log)
	}
	return k, nil
}

// listen opens the socket through which aggregate finds the daemon by its data directory.
func (k *kept) listen(dir string, log *slog.Logger) {
	var err error
	if k.socket, err = address.Socket(filepath.Join(dir, api.SocketName)); err != nil {
		log.Warn("no socket in the data directory, so aggregate --data cannot query this daemon; use aggregate --addr",
			"err", err)
	}
}

// add registers the handlers of symbols and backups.
func (k *kept) add(private *http.ServeMux, audit *audit, log *slog.Logger) {
	k.symbols.add(private, audit)
	private.Handle("GET /v1/backup", audit.of("backup", backupHandler(k.node, log)))
}

// hinted adds advice to errors of opening the store.
func hinted(err error) error {
	if x, ok := errors.AsType[*disk.InUseError](err); ok {
		return fmt.Errorf("%w; one daemon serves a directory, so stop that one or use another --data", x)
	}
	return err
}
