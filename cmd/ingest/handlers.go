package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/query/api"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/watching"
	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/docs"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/agent"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/pyroscope"
	"github.com/fieldtrie/fieldtrie/rules/access"
	"github.com/fieldtrie/fieldtrie/rules/access/provider"
	"github.com/fieldtrie/fieldtrie/sdk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/web"
)

// publicHandler serves what is for browsers, and counts how often they load the script.
func publicHandler(collector http.Handler, loads *scriptCounter) *http.ServeMux {
	mux := http.NewServeMux()
	for _, pattern := range collect.Patterns() {
		mux.Handle(pattern, collector)
	}
	mux.Handle("/", loads.of(sdk.Scripts()))
	mux.Handle("GET /sdk.tgz", sdk.Package(commandline.ReadVersion().Version))
	return mux
}

// cleanPaths answers //sdk.js as /sdk.js: a site that gives the URL of the collector with a slash
// at its end asks so, and scripts and traces of other origins do not follow redirects. Below the
// path of --public-url, /sdk.js is what it is without: a proxy of the site may pass on both.
func cleanPaths(publicURL string, h http.Handler) http.Handler {
	below := "/"
	if u, err := url.Parse(publicURL); err == nil && u.Path != "" {
		below = u.Path + "/"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if rest, ok := strings.CutPrefix(path, below); ok {
			path = "/" + rest
		}
		if strings.HasPrefix(path, "//") {
			path = "/" + strings.TrimLeft(path, "/")
		}
		if path != r.URL.Path {
			r.URL.Path, r.URL.RawPath = path, ""
		}
		h.ServeHTTP(w, r)
	})
}

// addDocs adds the documentation.
func addDocs(private *http.ServeMux) {
	private.Handle("GET /docs", http.RedirectHandler("/docs/", http.StatusMovedPermanently))
	private.Handle("GET /docs/", docs.Handler("/docs/"))
}

// addDashboard adds the dashboard, and how browsers log in where the private address asks who they
// are.
func addDashboard(private *http.ServeMux, guard *access.Guard) {
	pages := web.Handler()
	for _, pattern := range []string{"GET /{$}", "GET /{page}", "GET /assets/"} {
		private.Handle(pattern, pages)
	}
	if guard != nil {
		private.Handle("POST /login", guard.Login())
		private.Handle("GET "+access.StartPath, guard.Start())
		private.Handle("GET "+provider.CallbackPath, guard.Callback())
		private.Handle("POST /logout", guard.Logout())
	}
}

// privateHandler serves what is not for the internet, but for answers.
func privateHandler(s *node, registry *prometheus.Registry, draining *atomic.Bool) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.Stuck(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch err := errors.Join(s.Stuck(), s.Unready()); {
		case draining.Load():
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, "the store takes no traces: "+err.Error(), http.StatusServiceUnavailable)
		default:
			text := "ready"
			for _, why := range s.Warnings() {
				text += "; " + why.Error()
			}
			fmt.Fprintln(w, text)
		}
	})
	return mux
}

// answersLag is how far answers may be behind under load, whoever asks.
const answersLag = 2 * time.Minute

// answers is what questions about a store go through, whoever asks them.
type answers struct {
	source query.Local
	gate   *api.Gate
	heap   *heap
	site   string // what Pyroscope's clients know as the name of the service
	audit  *audit
	board  *budget.Board
	found  *watching.Watcher // nil with --watch=false
	demo   string            // the description of the demo; empty without --demo
}

// budgets returns the source of the budgets of some pages.
func (a answers) budgets(of query.Pages) func(context.Context, query.Source) ([]budget.Status, error) {
	return func(context.Context, query.Source) ([]budget.Status, error) {
		e := a.board.Last()
		if !a.board.Has() {
			return nil, agent.ErrNoBudgets
		}
		if e == nil {
			return nil, errors.New("the budgets are not evaluated yet: ask again in some seconds")
		}
		return slices.DeleteFunc(slices.Clone(e.Budgets), func(s budget.Status) bool {
			return of.Takes != nil && !of.Takes(s.Page)
		}), nil
	}
}

// changes returns the source of the changes of some pages, nil without --watch.
func (a answers) changes(of query.Pages) func(query.Source) (changes.Source, error) {
	if a.found == nil {
		return nil
	}
	return func(query.Source) (changes.Source, error) { return a.found.View(of), nil }
}

// add adds the API, and what Pyroscope's clients, such as Grafana, ask for.
func (a answers) add(private *http.ServeMux) {
	api := a.heap.forAnswers(newForPages(func(p query.Pages) http.Handler {
		return api.Handler(a.source.Only(p), api.Options{Lag: answersLag, Gate: a.gate, Memory: a.source.Memory,
			ProfileFile: web.ProfileFile, Demo: a.demo})
	}))
	private.Handle("/api/", api)
	private.Handle("/pprof/", api)
	for _, pattern := range []string{"/api/v1/views", "/api/v1/view"} { // which the guard tells apart
		private.Handle(pattern, a.audit.of("views", api))
	}
	agents := a.gate.Measure("/mcp", a.heap.forAnswers(newForPages(func(p query.Pages) http.Handler {
		return agent.Handler(agent.Options{Open: agent.Fixed(a.source.Only(p)),
			Version: commandline.ReadVersion().Version, Lag: answersLag, Turn: a.gate.Do,
			Budgets: a.budgets(p), Changes: a.changes(p)})
	})))
	for _, method := range []string{"GET", "POST", "DELETE"} { // GET alone is for the pages of the dashboard
		private.Handle(method+" /mcp", agents)
	}
	services := a.heap.forAnswers(newForPages(func(p query.Pages) http.Handler {
		return pyroscope.Handler(a.source.Only(p), pyroscope.Options{Site: a.site, Lag: answersLag, Gate: a.gate})
	}))
	for _, pattern := range pyroscope.Patterns() {
		private.Handle(pattern, services)
	}
}

// storedNames returns the pages of this hour, so that a restart does not begin the count of
// distinct pages anew, and, by kind, the names that traces of the last day had in two hours at
// least, so that it does not forget which ones are a site's.
func storedNames(ctx context.Context, s store.Reader) (pages []string, established map[string][]string) {
	now := time.Now()
	catalog, err := query.Local{Reader: s}.Catalog(ctx, now.Add(-24*time.Hour), now, answersLag)
	if err != nil {
		return nil, nil // the count only bounds growth, and names are established again
	}
	for _, e := range catalog.Pages() {
		if !e.Last.Before(now.Truncate(time.Hour)) {
			pages = append(pages, e.Page)
		}
	}
	established = map[string][]string{}
	for _, e := range catalog.Entries {
		if e.Last.Truncate(time.Hour).After(e.First) {
			established[e.Kind] = append(established[e.Kind], e.Name)
		}
	}
	return pages, established
}
