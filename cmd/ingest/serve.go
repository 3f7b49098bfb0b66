package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/connections"

	"github.com/fieldtrie/fieldtrie/query/api"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
)

// maxPrivateConnections is how many connections the private address and the socket have each,
// if the process may have eight times as many files open.
const maxPrivateConnections = 1024

// serve runs the daemon until ctx is done.
func (c *config) serve(ctx context.Context, log *slog.Logger) error {
	options, err := c.collectOptions()
	if err != nil {
		return err
	}
	budgets, err := c.readBudgets()
	if err != nil {
		return err
	}
	options.Features = budgets.Features
	owners, err := c.readOwners()
	if err != nil {
		return err
	}
	links, err := c.links()
	if err != nil {
		return err
	}
	audit, auditFile, err := c.newAudit(log)
	if err != nil {
		return err
	}
	defer func() { _ = auditFile.Close() }()
	registry := prometheus.NewRegistry()
	private, err := c.private(registry, log)
	if err != nil {
		return err
	}
	supervisor, err := findSupervisor(os.Getenv, log)
	if err != nil {
		log.Warn("the service manager is not told how the daemon is", "err", err)
	}
	hangUp := c.hangUps()
	defer signal.Stop(hangUp)
	// Listening comes first: a port that is taken ends the program before it touches
	// anything.
	public, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	defer func() { _ = public.Close() }()
	if err := private.listen(c.queryListen, log); err != nil {
		return err
	}
	defer func() { _ = private.Close() }()
	k, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	s, symbols := k.backend, k.symbols
	reads, surplus := newReads(), newSurplus()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), s, reads, surplus, symbols,
		newBuildInfo(commandline.ReadVersion()))
	source := query.Local{Reader: s, Memory: query.NewMemory(memoryForAnswers), Responses: query.NewResponseCache(ctx), Steps: query.NewStepCache(),
		Symbols: naming.New(symbols.tables), Owners: owners, Links: links}
	board := c.board(query.Local{Reader: s, Symbols: source.Symbols, Owners: owners}, budgets, registry)
	options.Store, options.Metrics, options.Logger = s, registry, log
	options.KnownPages, options.Established = storedNames(ctx, s)
	ownOrigin := ""
	if c.demo {
		ownOrigin = private.url()
	}
	options.Origins = withOwn(options.Origins, ownOrigin)
	options.SiteBytes = c.siteBytes(log)
	collector := collect.New(options)
	registry.MustRegister(siteMetrics{collector})
	settings := reload{c, ownOrigin, collector, private.guard, board, audit, reads, log}
	d := daemon{
		log: log, data: c.data, store: s, heap: c.heap, supervisor: supervisor, exitWhenStuck: c.exitWhenStuck, surplus: surplus,
		failed: make(chan error, 3), hangUp: hangUp, reread: settings.all,
	}
	outer := publicHandler(collector)
	inner := privateHandler(s, registry, &d.draining)
	k.add(inner, audit, log)
	gate := api.NewGate(api.GateOptions{Metrics: registry})
	answers{source, gate, c.heap, c.site, audit, board}.add(inner)
	addDashboard(inner, private.guard)
	addDocs(inner)
	if c.demo {
		addDemo(outer, inner, urlOf(public.Addr()))
		log.Info("demo", "url", private.url()+"/demo/")
	}
	inner.Handle("/api/v1/budgets", gate.Measure("/api/v1/budgets", newForPages(func(p query.Pages) http.Handler { return board.Only(p.Takes) })))
	inner.Handle("GET /api/v1/answers", api.Together(inner))
	d.work(ctx, s.Work, symbols.sweep, symbols.follow, func(ctx context.Context) { evaluate(ctx, board, log) },
		func(ctx context.Context) { c.keepSiteBytes(ctx, collector, log) })
	d.start(public, cleanPaths(outer), connections.Share(c.maxConnections, 2))
	d.start(private, private.handler(inner), connections.Share(maxPrivateConnections, 8))
	if k.socket != nil {
		d.start(k.socket, inner, connections.Share(maxPrivateConnections, 8))
	}
	if len(c.unknown) > 0 {
		log.Warn("variables of the environment that are no settings", "names", c.unknown)
	}
	log.Info("listening", "public", public.Addr().String(), "private", private.Addr().String(), "data", c.data)
	return d.run(ctx) // which closes the store
}

// kept is where everything is kept, and what comes with it.
type kept struct {
	backend
	dir     *directory // nil if it is a bucket
	symbols *symbolStore
	socket  net.Listener // through which aggregate finds the daemon; nil if there is none
}

// open opens what --data names.
func (c *config) open(ctx context.Context, log *slog.Logger) (k kept, err error) {
	if bucket.IsLocation(c.data) {
		s, err := c.openShared(ctx, log)
		if err != nil {
			return k, err
		}
		k.backend = s
		if k.symbols, err = c.openSharedSymbols(s.Node, log); err != nil {
			return k, errors.Join(err, s.Close())
		}
		return k, nil
	}
	if k.dir, err = c.openDirectory(log); err != nil {
		return k, err
	}
	k.backend = k.dir
	if k.symbols, err = c.openSymbols(k.dir.Store, log); err != nil {
		return k, errors.Join(err, k.dir.Close())
	}
	if k.socket, err = listenSocket(c.data); err != nil {
		log.Warn("no socket, so aggregate --data can not ask this daemon; use aggregate --addr", "err", err)
	}
	return k, nil
}

// add serves symbols and backups.
func (k *kept) add(private *http.ServeMux, audit *audit, log *slog.Logger) {
	k.symbols.add(private, audit)
	var backup http.Handler = notOnBucket("turn versioning or replication of the bucket on")
	if k.dir != nil {
		backup = backupHandler(k.dir.Store, log)
	}
	private.Handle("GET /v1/backup", audit.of("backup", backup))
}

// hinted adds what to do to errors of opening the store.
func hinted(err error) error {
	if x, ok := errors.AsType[*local.InUseError](err); ok {
		return fmt.Errorf("%w; one daemon serves a directory, so stop that one or use another --data", x)
	}
	return err
}

// listenSocket listens on the socket through which aggregate finds the daemon. One that
// is there is a leftover: who opened the store holds its lock.
func listenSocket(dir string) (net.Listener, error) {
	path := filepath.Join(dir, api.SocketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}
