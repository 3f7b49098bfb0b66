package watching

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/notify"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Options say how changes are found and told of.
type Options struct {
	Document store.Document // where what is known is kept, for all nodes
	Source   query.Local    // of the page views, without a cache of responses
	Settings watch.Settings
	// From is the hour from which an empty document is filled; zero: the last one that is over.
	From    time.Time
	Now     func() time.Time // the clock; nil is that of the machine
	First   time.Duration    // until the first evaluation
	Jitter  time.Duration    // up to how much later each one is, so that one of several nodes is first
	Notify  *notify.File     // the channels; nil: nobody is told
	Metrics prometheus.Registerer
	Log     *slog.Logger
}

// Watcher finds changes and tells of them.
type Watcher struct {
	o       Options
	board   *changes.Board
	metrics *metrics
	sender  notify.Sender

	past     []notify.Attempt     // of the last day, by this node
	receipts map[string]string    // what receivers call what they got, by channel and change
	repeated map[string]time.Time // when a channel was told again of what is open
}

// New returns a watcher that does nothing yet.
func New(o Options) *Watcher {
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &Watcher{o: o, sender: notify.Sender{Now: o.Now}, receipts: map[string]string{}, repeated: map[string]time.Time{}}
	o.Settings.Edited = w.edited
	w.board = changes.NewBoard(o.Document, watch.Read(o.Source), o.Settings, changes.BoardOptions{Now: o.Now, From: o.From, Jitter: o.Jitter, Releases: w.releases, Explain: w.explain})
	w.metrics = newMetrics(w.board, o.Notify)
	o.Metrics.MustRegister(w.metrics)
	return w
}

// SetSettings replaces what is looked for.
func (w *Watcher) SetSettings(s watch.Settings) {
	s.Edited = w.edited
	w.board.SetSettings(s)
}

// releases returns the releases that began on a page in a time: those that it does not have before.
func (w *Watcher) releases(ctx context.Context, page string, since, until time.Time) (out []changes.Release, err error) {
	series, err := w.o.Source.Series(ctx, query.SeriesQuery{Selection: selection.Selection{Page: page, Since: since, Until: until, GroupBy: []string{"release"}}, Step: 24 * time.Hour})
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
	return out, nil
}

// Run evaluates after each hour and tells of what is found, until ctx is done.
func (w *Watcher) Run(ctx context.Context) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		w.tell(ctx)
	}()
	w.board.Run(ctx, w.o.First, func(err error) {
		if err != nil {
			w.o.Log.Error("changes could not be looked for; it is tried again", "err", err)
		}
		if h := w.board.Health(); h.Pages > 0 {
			w.o.Log.Error("pages that could not be looked at", "number", h.Pages, "first", h.Example)
		}
		for _, name := range w.board.Health().Aside {
			w.o.Log.Error("what was known of changes could not be read: a copy is kept, and a new one begun", "copy", name)
		}
	})
	<-told
}

// Forget forgets what was found about pages, see [changes.Board.Forget].
func (w *Watcher) Forget(ctx context.Context, gone func(page string) bool) error {
	return w.board.Forget(ctx, gone)
}

// View returns what is known of changes of some pages.
func (w *Watcher) View(p query.Pages) changes.View {
	find := naming.Finder(w.o.Source.Rules(), nil)
	return changes.View{Board: w.board, Pages: p, Owner: func(place compare.Place) (of, team string) {
		o := find.Of(trie.Frame{Name: place.Name, Resource: place.Resource, Line: place.Line, Column: place.Column})
		return o.String(), o.Team
	}}
}

// Handler serves what is known of changes of some pages. by names who sends a request.
func (w *Watcher) Handler(p query.Pages, by func(*http.Request) string, gate *api.Gate) http.Handler {
	return api.Changes(w.View(p), by, api.Options{Gate: gate})
}
