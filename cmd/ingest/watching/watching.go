package watching

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/notify"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/cause"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/cost"
	"github.com/fieldtrie/fieldtrie/query/rollout"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store"
)

// Options configures a Watcher.
type Options struct {
	Document store.Document // stores changes and notifications, shared by all nodes
	Source   query.Local    // of the page views, without a cache of responses
	Settings watch.Settings
	// Limits bound the cost of profiling for visitors. Steer is called with the highest allowed
	// share of profiled page views by page, with all such pages each time. It may be nil.
	Limits cost.Limits
	Steer  func(most map[string]float64)
	// From is the hour from which an empty document is filled; zero: the last one that is over.
	From    time.Time
	Now     func() time.Time // the clock; nil for time.Now
	First   time.Duration    // delay of the first evaluation
	Jitter  time.Duration    // maximum random delay of each evaluation, so that one of several nodes is first
	Notify  *notify.File     // the channels; nil for no notifications
	Metrics prometheus.Registerer
	Log     *slog.Logger
}

// Watcher detects changes and sends notifications.
type Watcher struct {
	o       Options
	board   *changes.Board
	limits  atomic.Pointer[cost.Limits]
	metrics *metrics
	sender  notify.Sender

	past     []notify.Attempt     // of the last day, by this node
	receipts map[string]string    // ids that receivers assigned, by channel and change
	repeated map[string]time.Time // last time that open changes were sent again, by channel
}

// New returns a Watcher. Run starts it.
func New(o Options) *Watcher {
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &Watcher{o: o, sender: notify.Sender{Now: o.Now}, receipts: map[string]string{},
		repeated: map[string]time.Time{}}
	o.Settings.Edited = w.edited
	w.board = changes.NewBoard(o.Document, watch.Read(o.Source), o.Settings, changes.BoardOptions{Now: o.Now,
		From: o.From, Jitter: o.Jitter, Releases: w.releases, Explain: w.explain})
	w.SetLimits(o.Limits)
	w.metrics = newMetrics(w.board, w.braked, o.Notify)
	o.Metrics.MustRegister(w.metrics)
	return w
}

// SetSettings replaces the settings for detecting changes.
func (w *Watcher) SetSettings(s watch.Settings) {
	s.Edited = w.edited
	w.board.SetSettings(s)
}

// SetLimits replaces the limits for the cost of profiling.
func (w *Watcher) SetLimits(l cost.Limits) { w.limits.Store(&l) }

// releases returns the releases that a page has in a time range and did not have before.
func (w *Watcher) releases(ctx context.Context, page string, since, until time.Time) (out []changes.Release,
	err error) {
	series, err := w.o.Source.Series(ctx, query.SeriesQuery{Selection: selection.Selection{Page: page, Since: since,
		Until: until, GroupBy: []string{"release"}}, Step: 24 * time.Hour})
	if err != nil {
		return nil, err
	}
	for _, g := range series.Groups {
		for _, p := range g.Points {
			if p.Views == 0 {
				continue
			}
			if name := g.Labels["release"]; name != "" && p.Time.Sub(since) >= 24*time.Hour {
				out = append(out, changes.Release{Release: name, Begin: p.Time.UTC()})
			}
			break
		}
	}
	slices.SortFunc(out, func(a, b changes.Release) int {
		return cmp.Or(a.Begin.Compare(b.Begin), rollout.CompareVersions(a.Release, b.Release))
	})
	return out, nil
}

// Run evaluates after each hour and sends notifications, until ctx is done.
func (w *Watcher) Run(ctx context.Context) {
	var others sync.WaitGroup
	others.Go(func() { w.tell(ctx) })
	others.Go(func() { w.brake(ctx) })
	w.board.Run(ctx, w.o.First, func(err error) {
		if err != nil {
			w.o.Log.Error("changes could not be looked for; it is tried again", "err", err)
		}
		if h := w.board.Health(); h.Pages > 0 {
			w.o.Log.Error("pages that could not be looked at", "number", h.Pages, "first", h.Example)
		}
		for _, name := range w.board.Health().Aside {
			w.o.Log.Error("what was known of changes could not be read: a copy is kept, and a new one begun",
				"copy", name)
		}
	})
	others.Wait()
}

// Browsers returns what the watched pages tell about browser versions, see
// [changes.Board.Browsers].
func (w *Watcher) Browsers(ctx context.Context, takes func(page string) bool) browsers.Evidence {
	return w.board.Browsers(ctx, takes)
}

// Forget forgets what was found about pages, see [changes.Board.Forget].
func (w *Watcher) Forget(ctx context.Context, gone func(page string) bool) error {
	return w.board.Forget(ctx, gone)
}

// View returns the changes of some pages.
func (w *Watcher) View(p query.Pages) changes.View {
	return changes.View{Board: w.board, Pages: p, Owner: cause.Owner(w.o.Source)}
}

// Handler serves the changes of some pages. by returns the sender of a request.
func (w *Watcher) Handler(p query.Pages, by func(*http.Request) string, gate *api.Gate) http.Handler {
	return api.Changes(w.View(p), by, api.Options{Gate: gate})
}
