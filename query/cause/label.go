package cause

import (
	"fmt"
	"math"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/trie"
)

const (
	// confined is the largest part of a change that may remain without the page views of its label,
	// and certain the largest half width of its interval.
	confined, certain = 0.25, 0.4
	// leastViews and mostViews are the limits for the share of page views of a label to which a
	// change can be confined.
	leastViews, mostViews = 0.02, 0.9
)

// cell is the time of the changed code in page views with one value of a label, or without the
// label.
type cell struct{ ms, views float64 }

func (c cell) mean() float64 {
	if c.views <= 0 {
		return 0
	}
	return c.ms / c.views
}

// label returns the label to which the change is confined: without its page views nothing changed.
// The error of the remaining change is the error of the whole change, increased for the smaller
// number of page views.
func (d *delta) label() (watch.Cause, bool) {
	p := &d.change.Pages[0]
	if p.Change.Low == nil || p.Change.High == nil {
		return watch.Cause{}, false
	}
	half := (*p.Change.High - *p.Change.Low) / 2
	if d.change.Pages[0].Beside != nil && d.change.Pages[0].Beside.Low != nil {
		half = max(half, (*p.Beside.High-*p.Beside.Low)/2)
	}
	var best watch.Cause
	smallest, found := mostViews, false
	for _, key := range Keys() {
		a, allA := d.before.byLabel(key, d.is[0])
		b, allB := d.after.byLabel(key, d.is[1])
		for value, with := range b {
			share := with.views / max(allB.views, 1)
			if value == "" || share < leastViews || share > smallest {
				continue
			}
			had := a[value]
			restA, restB := cell{allA.ms - had.ms, allA.views - had.views}, cell{allB.ms - with.ms,
				allB.views - with.views}
			if restA.views < 1 || restB.views < 1 {
				continue
			}
			left := restB.mean() - restA.mean()
			error := half * math.Sqrt((1/restA.views+1/restB.views)/(1/allA.views+1/allB.views))
			if math.Abs(left) > confined*math.Abs(d.whole) || error > certain*math.Abs(d.whole) ||
				math.Abs(left) > error {
				continue
			}
			smallest, found = share, true
			best = watch.Cause{Kind: watch.CauseLabel, Label: &watch.Label{Key: key, Value: value},
				Text: fmt.Sprintf(
					"only page views with %s %s have the change, which are %.0f %% of all: the others changed by %s "+
						"ms (±%s)", key, value, 100*share, terminal.Signed(left), terminal.Number(error))}
			if had.views == 0 {
				best.Text += "; there were none before the change"
			}
		}
	}
	return best, found
}

// byLabel returns the time of the frames for which is returns true, by the value of a label, and
// over all.
func (t *tree) byLabel(key string, is func(trie.Frame) bool) (of map[string]cell, all cell) {
	takes := make([]bool, len(t.p.Nodes))
	for n := range takes {
		takes[n] = n > 0 && is(t.p.Frame(trie.NodeID(n)))
	}
	of = map[string]cell{}
	for i := range t.p.Groups {
		g := &t.p.Groups[i]
		x := of[g.Labels.Value(key)]
		x.views += float64(g.Coverage.Views)
		for n, w := range g.Weights.All() {
			if takes[n] {
				x.ms += float64(w.Self) / 1e3
			}
		}
		of[g.Labels.Value(key)] = x
	}
	for _, x := range of {
		all.ms, all.views = all.ms+x.ms, all.views+x.views
	}
	return of, all
}
