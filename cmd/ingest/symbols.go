package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/demo"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/rules/access"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
	"github.com/fieldtrie/fieldtrie/symbols/uploads"
)

// symbolStore keeps the symbols that are uploaded, those of each site apart, and names functions by
// them.
type symbolStore struct {
	sites  *tables.Sites
	shared *uploads.Handler
	of     map[string]*uploads.Handler // by site
	names  *naming.Symbolizer
	log    *slog.Logger
}

// openSymbols opens the symbols of a store. All machines go by its clock.
func (c *config) openSymbols(of *node, log *slog.Logger) (*symbolStore, error) {
	o := c.symbolOptions(log)
	o.Now, o.Room = of.Now, roomIn(of)
	sites, err := tables.OpenSites(of.Symbols(), o, len(c.apart))
	if err != nil {
		return nil, err
	}
	s := &symbolStore{sites, uploads.New(sites.Shared()), map[string]*uploads.Handler{}, nil, log}
	for _, x := range c.apart {
		t, err := sites.Site(x.Name)
		if err != nil {
			return nil, err
		}
		s.of[x.Name] = uploads.New(t)
	}
	s.names = naming.NewOfSites(sites.All())
	return s, nil
}

// roomIn returns what says whether there is room for symbols, so that traces go on to be taken.
func roomIn(of *node) func(n int64) error {
	return func(n int64) error {
		if room, onDisk := of.Room(); onDisk && room.Full(n) {
			return fmt.Errorf("%w: %d MiB", tables.ErrNoSpace, room.Free>>20)
		}
		return nil
	}
}

func (c *config) symbolOptions(log *slog.Logger) tables.Options {
	o := c.symbols
	o.Damaged = func(err error) { log.Error("unreadable symbols are ignored", "err", err) }
	if o.Retention == 0 {
		o.Retention = -1 // forever
	}
	return o
}

// add serves what upload sends.
func (s *symbolStore) add(private *http.ServeMux, audit *audit) {
	answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, status, err := s.handlerFor(access.From(r.Context()), r.URL.Query())
		if err != nil {
			api.WriteError(w, status, err)
			return
		}
		h.ServeHTTP(w, r)
	})
	changes := audit.of("symbols", answers)
	private.Handle("/v1/symbols/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead || r.Method == http.MethodGet {
			answers.ServeHTTP(w, r)
			return
		}
		changes.ServeHTTP(w, r)
	}))
	private.Handle("GET /v1/symbols", answers)
}

// handlerFor returns the handler of the symbols that a user may send and query: symbols of the
// requested site, of the only site of the user, or shared symbols.
func (s *symbolStore) handlerFor(who *access.Identity, values url.Values) (h http.Handler, status int, err error) {
	name, limited := values.Get(api.SiteParameter), who != nil && len(who.Sites) > 0
	switch {
	case !values.Has(api.SiteParameter) && !limited:
		return s.shared, 0, nil
	case !values.Has(api.SiteParameter) && len(who.Sites) > 1:
		return nil, http.StatusBadRequest,
			fmt.Errorf("parameter site: the symbols of which one of the sites %s; with upload it is --site",
				strings.Join(who.Sites, ", "))
	case !values.Has(api.SiteParameter):
		name = who.Sites[0]
	case limited && !slices.Contains(who.Sites, name):
		return nil, http.StatusForbidden, fmt.Errorf("parameter site: not for symbols of site %.40q", name)
	}
	of, ok := s.of[name]
	if !ok {
		return nil, http.StatusNotFound, fmt.Errorf("site %.40q is not in the file of --sites", name)
	}
	return of, 0, nil
}

// sharedEvery is how often it is looked for what was uploaded to other machines.
const sharedEvery = 30 * time.Second

// follow sees what is uploaded to other machines, until ctx is done.
func (s *symbolStore) follow(ctx context.Context) {
	every(ctx, sharedEvery, func() {
		if err := s.sites.Refresh(); err != nil {
			s.log.Warn("look for new symbols", "err", err)
		}
	})
}

// sweep deletes expired symbols until ctx is done.
func (s *symbolStore) sweep(ctx context.Context) {
	sweep := func() {
		if err := s.sites.Sweep(); err != nil {
			s.log.Error("delete old symbols", "err", err)
		}
	}
	sweep()
	every(ctx, time.Hour, sweep)
}

// Describe implements [prometheus.Collector]. It sends nothing, like the collector of a node.
func (s *symbolStore) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (s *symbolStore) Collect(out chan<- prometheus.Metric) {
	send := func(name, help string, kind prometheus.ValueType, v float64) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), kind, v)
	}
	stats := s.sites.Stats()
	refused := s.shared.Refused()
	for _, h := range s.of {
		refused += h.Refused()
	}
	send("fieldtrie_symbols_uploads", "Builds whose symbols are kept.", prometheus.GaugeValue, float64(stats.Uploads))
	send("fieldtrie_symbols_tables", "Scripts whose symbols are kept.", prometheus.GaugeValue, float64(stats.Tables))
	send("fieldtrie_symbols_bytes", "Bytes of symbols on disk.", prometheus.GaugeValue, float64(stats.Bytes))
	send("fieldtrie_symbols_damaged", "Unreadable files of symbols.", prometheus.GaugeValue, float64(stats.Damaged))
	send("fieldtrie_symbols_refused_total", "Uploads of symbols that were refused.", prometheus.CounterValue,
		float64(refused))
}

// links returns what makes URLs of sources.
func (c *config) links() (naming.Links, error) {
	if c.sourceLink == "" {
		return naming.Links{}, nil
	}
	l, err := naming.ParseLinks(c.sourceLink)
	if err != nil {
		return l, fmt.Errorf("--source-link %s: %w", c.sourceLink, err)
	}
	return l, nil
}

// readOwners reads the file that says whose code is whose; nil if there is none. The demo has one.
func (c *config) readOwners() (*owner.Rules, error) {
	if c.owners == "" && c.demo.shop() {
		return demo.Owners()
	}
	if c.owners == "" {
		return nil, nil
	}
	rules, err := readRules(c.owners, owner.Parse)
	return rules, within("owners", err)
}
