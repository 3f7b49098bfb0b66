package query

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// ViewsQuery is a query for single page views.
type ViewsQuery struct {
	selection.Selection
	// Quantiles of the time, from 0 to 1, select the page views. The default is 0.5, 0.75 and 0.95.
	Quantiles []float64
}

// Views lists single page views. Each is the visit of one person, so access to aggregated data is
// not enough to see them.
type Views struct {
	Views int64 `json:"views"` // candidates for List: completely profiled page views with selected time
	// List has one page view per quantile, in the order of the quantiles, see [rollup.Rank].
	List  []ViewEntry `json:"list"`
	Stats Stats       `json:"stats"`
}

// ViewEntry is a page view.
type ViewEntry struct {
	Quantile    float64           `json:"quantile"`
	ID          string            `json:"id"`   // 32 hexadecimal digits
	Page        string            `json:"page"` // on which it began
	Release     string            `json:"release,omitempty"`
	Environment string            `json:"environment,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Received    time.Time         `json:"received"` // when the first of the read traces was received
	Traces      int               `json:"traces"`
	Time        float64           `json:"time_ms"` // selected time with a stack, without Own
	Own         float64           `json:"own_ms"`  // time of the profiling script
	LongCount   int64             `json:"long_task_count"`
	LongTime    float64           `json:"long_task_ms"` // part of Time and Own in stretches of 50 ms or more
}

// readViews is the maximum number of traces that are read for single page views.
const readViews = 20_000

// defaultQuantiles returns the default of [ViewsQuery.Quantiles].
func defaultQuantiles() []float64 { return []float64{0.5, 0.75, 0.95} }

// Views implements [Source].
func (l Local) Views(ctx context.Context, q ViewsQuery) (Views, error) {
	if len(q.Quantiles) == 0 {
		q.Quantiles = defaultQuantiles()
	}
	all := map[[16]byte]*viewSums{}
	stats, err := l.eachViewTrace(ctx, q.Selection, func(rec store.Record, decode func() *trie.Trace) error {
		t := decode()
		if t == nil {
			return nil
		}
		in := sums.TimeInView(q.Selection, t, rec.Page)
		if in.Self == 0 {
			return nil
		}
		v := all[rec.ID.View]
		if v == nil {
			v = &viewSums{*newViewEntry(rec, &t.Context), map[uint32]bool{}, false}
			all[rec.ID.View] = v
		}
		v.stopped = v.stopped || t.Context.Labels.Value(rollup.KeyStopped) != ""
		v.chunks[rec.ID.Chunk] = true
		v.Traces = len(v.chunks)
		v.Time += float64(in.Self-in.Own) / 1000
		v.Own += float64(in.Own) / 1000
		v.LongCount, v.LongTime = v.LongCount+in.Tasks, v.LongTime+float64(in.Long)/1000
		return nil
	})
	if err != nil {
		return Views{}, err
	}
	asked := slices.ContainsFunc(q.Where, func(m selection.Matcher) bool { return m.Key == rollup.KeyStopped })
	byTime := make([]*ViewEntry, 0, len(all))
	for _, v := range all {
		if !v.stopped || asked { // the total time of such a view is unknown
			byTime = append(byTime, &v.ViewEntry)
		}
	}
	slices.SortFunc(byTime, func(a, b *ViewEntry) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.ID, b.ID))
	})
	out := Views{Views: int64(len(byTime)), List: []ViewEntry{}, Stats: stats}
	for _, quantile := range q.Quantiles {
		if len(byTime) > 0 {
			v := *byTime[rollup.Rank(quantile, len(byTime))]
			v.Quantile = quantile
			out.List = append(out.List, v)
		}
	}
	return out, nil
}

// viewSums adds the traces of a page view. A chunk of several pages is read once per page.
type viewSums struct {
	ViewEntry
	chunks  map[uint32]bool
	stopped bool // profiling stopped early
}

func newViewEntry(rec store.Record, c *trie.Context) *ViewEntry {
	v := &ViewEntry{ID: hex.EncodeToString(rec.ID.View[:]), Page: c.Page, Release: c.Release,
		Environment: c.Environment, Received: rec.Received.UTC()}
	for _, l := range c.Labels {
		if v.Labels == nil {
			v.Labels = map[string]string{}
		}
		v.Labels[l.Key] = l.Value
	}
	return v
}

// eachViewTrace calls take for the traces of a selection, each with a function that decodes it and
// returns nil if the trace is damaged. It returns an error if there are too many traces.
func (l Local) eachViewTrace(ctx context.Context, sel selection.Selection, take func(store.Record,
	func() *trie.Trace) error) (Stats, error) {
	if err := selection.CheckTimes(sel.Since, sel.Until); err != nil {
		return Stats{}, err
	}
	if !l.Reader.HasTraces(sel.Since, sel.Until) {
		return Stats{}, selection.Refuse(
			"single page views need traces, but some traces of this time range have expired: use a later time")
	}
	few, err := l.fewTraces(ctx, sel, readViews)
	if err != nil {
		return Stats{}, err
	}
	if !few {
		return Stats{}, selection.Refuse(
			"single page views are chosen from at most %d traces: select one page or less time", readViews)
	}
	r := reading{sel: sel}
	stats, err := l.selectFrom(ctx, sel, store.Wanted{None: true}, func(rec store.Record) error {
		return take(rec, func() *trie.Trace { return r.decode(rec) })
	}, nil)
	if err != nil {
		return Stats{}, err
	}
	return r.stats(stats), nil
}
