package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/deletions"
	"github.com/fieldtrie/fieldtrie/cmd/ingest/demo"
	"github.com/fieldtrie/fieldtrie/cmd/ingest/watching"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

// Times of evaluations. The first waits for what was not rolled up before the start.
const (
	firstBudgets = 5 * time.Second
	everyBudgets = time.Minute
)

// readBudgets returns the budgets and the rules for features. Without --budgets, only the demo has
// some.
func (c *config) readBudgets() (*budget.File, error) {
	if c.budgets == "" && c.demo.shop() {
		return demo.Budgets()
	}
	f, err := readRules(c.budgets, budget.Parse)
	if err != nil {
		return nil, within("budgets", err)
	}
	if f == nil {
		f = &budget.File{}
	}
	if len(f.MaxCost.Of) > 0 && !c.watch {
		return nil, within("budgets",
			fmt.Errorf("%s: max_cost: --watch=false turns off the measurement of the profiling cost",
				c.budgets))
	}
	return f, nil
}

// firstBudgets returns the delay of the first evaluation of budgets: none for the shop of the demo,
// which is completely rolled up.
func (c *config) firstBudgets() time.Duration {
	if c.demo.shop() {
		return 0
	}
	return firstBudgets
}

// board returns the evaluator of the budgets of a file. Without --budgets and the demo, it has none
// until SIGHUP adds some.
func (c *config) board(of query.Local, f *budget.File, r prometheus.Registerer) *budget.Board {
	if c.budgets == "" && !c.demo.shop() {
		f = nil
	}
	b := budget.NewBoard(of, f, time.Now)
	r.MustRegister(budgetMetrics{b})
	return b
}

// evaluate keeps a board up to date until ctx is done, beginning after first. It logs the budgets
// that it cannot evaluate and those whose state changes.
func evaluate(ctx context.Context, b *budget.Board, first time.Duration, log *slog.Logger) {
	blown := map[string]bool{}
	var said time.Time
	b.Run(ctx, first, everyBudgets, func(e *budget.Evaluation) {
		var failed []string
		for _, s := range e.Budgets {
			if s.Verdict == budget.Failed {
				failed = append(failed, s.Name+": "+s.Text)
			}
			if s.Blown != blown[s.Name] {
				log.Info("budget", "name", s.Name, "owner", s.Owner, "blown", s.Blown, "views", s.Views)
			}
			blown[s.Name] = s.Blown
		}
		if len(failed) > 0 && time.Since(said) >= everyBudgets {
			said = time.Now()
			log.Error("budgets could not be evaluated", "number", len(failed), "first", failed[0])
		}
	})
}

// Times of looks for changes. The first waits for what was not rolled up before the start.
const (
	firstWatch  = 20 * time.Second
	watchJitter = 5 * time.Minute // so that one of several nodes is first
)

// watching returns how changes are found and told of.
func (c *config) watching(s *serving, of query.Local) watching.Options {
	o := watching.Options{Document: s.kept.node.Changes(), Source: of, Settings: s.budgets.Watch, First: firstWatch,
		Jitter: watchJitter, Notify: s.notify,
		Limits: s.budgets.MaxCost, Steer: s.collector.Steer, Metrics: s.registry, Log: s.log}
	if c.demo.shop() { // the hours since the newest release could be looked at
		o.From, o.First, o.Jitter = time.Now().Add(-12*time.Hour), 5*time.Second, 0
	}
	return o
}

// watch looks for changes until ctx is done.
func (s *serving) watch(ctx context.Context) {
	if s.watcher != nil {
		s.watcher.Run(ctx)
	}
}

// addChanges serves what is known of changes.
func (s *serving) addChanges(private *http.ServeMux) {
	h := newForPages(func(p query.Pages) http.Handler {
		if s.watcher == nil {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprintln(w, `{"error": "this daemon does not look for changes: it was started with --watch=false"}`)
			})
		}
		return s.watcher.Handler(p, whoIs, s.gate)
	})
	for _, pattern := range []string{"GET /api/v1/changes", "GET /api/v1/changes/{id}"} {
		private.Handle(pattern, h)
	}
	private.Handle("POST /api/v1/changes/{id}", s.audit.of("changes", h))
}

// addDeletions serves requests to delete.
func (s *serving) addDeletions(private *http.ServeMux) {
	o := deletions.Options{Who: whoIs, Note: s.audit.deletes}
	if s.watcher != nil {
		o.Forget = s.watcher.Forget
	}
	deletions.Add(private, s.kept.node, o)
}

// budgetMetrics shows what the last evaluation of budgets found.
type budgetMetrics struct{ board *budget.Board }

// Describe implements [prometheus.Collector]. It sends nothing, like the collector of a node.
func (m budgetMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]. Unknown values have no series.
func (m budgetMetrics) Collect(out chan<- prometheus.Metric) {
	e := m.board.Last()
	if e == nil {
		return
	}
	names := []string{"budget", "page", "metric", "unit"}
	value := prometheus.NewDesc("fieldtrie_budget_value",
		"What a budget bounds, as it is: milliseconds of a page view, or a percentage of page views.", names, nil)
	limit := prometheus.NewDesc("fieldtrie_budget_limit", "What it may be.", names, nil)
	blown := prometheus.NewDesc("fieldtrie_budget_blown",
		"1 if the budget is blown, else 0. It changes back once the value is below the limit by the hysteresis.",
		names, nil)
	views := prometheus.NewDesc("fieldtrie_budget_views", "Page views that the value is of.", names, nil)
	info := prometheus.NewDesc("fieldtrie_budget_info", "1, with the owner of a budget.", []string{"budget",
		"owner"}, nil)
	for _, s := range e.Budgets {
		send := func(d *prometheus.Desc, v float64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, s.Name, s.Page, string(s.Metric), s.Unit)
		}
		state := 0.0
		if s.Blown {
			state = 1
		}
		send(limit, s.Limit)
		send(blown, state)
		if s.Verdict != budget.Failed {
			send(views, float64(s.Views))
		}
		if s.Value != nil {
			send(value, s.Value.Value)
		}
		out <- prometheus.MustNewConstMetric(info, prometheus.GaugeValue, 1, s.Name, s.Owner)
	}
}
