package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Comparisons are exact while no other operation is running. During concurrent writes a result must
// lie between the traces acknowledged before a query and those begun before its end.

// all is the question for all data.
var all = question{keys: []string{"release"}}

// question returns a random question.
func (m *model) question(r *rand.Rand) question {
	var q question
	switch r.IntN(4) {
	case 0, 1:
		q.Page = pages[r.IntN(len(pages))]
	case 2:
		two := []string{pages[0], pages[1+r.IntN(len(pages)-1)]}
		q.Pages = func(page string) bool { return slices.Contains(two, page) }
	}
	q.keys = [][]string{nil, {"release"}, {"release", "phase"}, {"environment"}, {"feature"}}[r.IntN(5)]
	if q.Level = rollup.Narrow; r.IntN(3) == 0 {
		q.Level, q.keys = rollup.Wide, []string{"device", "release"}
	}
	q.Details, q.None = r.IntN(3) == 0, r.IntN(5) == 0
	if !q.None && r.IntN(6) == 0 {
		q.Lag = time.Duration(1+r.IntN(1000)) * time.Millisecond
		return q
	}
	at := func() time.Time {
		t := m.clock.Now().Add(-time.Duration(r.Int64N(int64(time.Hour) * []int64{1, 4, 60}[r.IntN(3)])))
		return t.Truncate([]time.Duration{time.Microsecond, time.Minute, time.Hour, 24 * time.Hour}[r.IntN(4)])
	}
	if r.IntN(2) == 0 {
		q.Since = at()
	}
	if r.IntN(3) == 0 {
		if q.Until = at(); !q.Since.Before(q.Until) {
			q.Until = time.Time{}
		}
	}
	if kept := m.horizon(); q.None && q.Since.Before(kept) {
		q.Since = kept // earlier traces may have expired
	}
	return q
}

// exactly compares the answer to q with the model.
func (m *model) exactly(ctx context.Context, r reader, q question) error {
	asked := time.Now()
	got, err := ask(ctx, r, q)
	if err != nil {
		return fmt.Errorf("select %v: %w", q, err)
	}
	want, traces := m.want(q)
	if len(got.stats.Widened) > 0 && !q.Since.Before(m.horizon()) {
		return fmt.Errorf("select %v was widened although the traces are stored: %+v", q, got.stats)
	}
	if q.Lag > 0 && got.stats.Behind > 0 || len(got.stats.Widened) > 0 {
		lower := sums{}
		if q.Lag > 0 {
			lower = m.ackedAt(asked.Add(-q.Lag))
		}
		return got.within(q, lower, m.begunBy())
	}
	if err := sameProfiles(got.pages, want); err != nil {
		return fmt.Errorf("select %v: %+v: %w", q, got.stats, err)
	}
	if n := got.stats.RolledUp + got.stats.Traces; n != traces {
		return fmt.Errorf("select %v has %d traces, want %d: %+v", q, n, traces, got.stats)
	}
	if q.Details && !q.None && q.Since.IsZero() && q.Until.IsZero() {
		return m.sameOutcomes(q, got.outcomes)
	}
	return nil
}

// sameOutcomes compares page views without a trace. Once they were seen, they must stay.
func (m *model) sameOutcomes(q question, got map[outcome]int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for o, n := range got {
		if n > m.outcomes[o].most {
			return fmt.Errorf("%+v: got %d page views, want at most %d", o, n, m.outcomes[o].most)
		}
	}
	for o, s := range m.outcomes {
		if !q.takes(o.page) {
			continue
		}
		if n := got[o]; n < s.least {
			return fmt.Errorf("%+v: got %d page views, want at least %d", o, n, s.least)
		}
		m.outcomes[o] = span{got[o], s.most}
	}
	return nil
}

// within checks that totals lie between two bounds.
func (a answer) within(q question, lower, upper sums) error {
	var errs error
	for _, page := range pages {
		var got totals
		if p := a.pages[page]; p != nil {
			got = totalsOf(p)
		}
		low, high := lower[page], upper[page]
		if !q.takes(page) {
			low, high = totals{}, totals{}
		}
		if got.traces < low.traces || got.self < low.self || got.samples < low.samples ||
			got.traces > high.traces || got.self > high.self || got.samples > high.samples {
			errs = errors.Join(errs, fmt.Errorf("select %v: %s: got %+v, want from %+v to %+v; %+v", q, page, got, low,
				high, a.stats))
		}
	}
	return errs
}

// between queries some pages during concurrent writes.
func (m *model) between(ctx context.Context, r reader, q question) error {
	q.Since, q.Until, q.None = time.Time{}, time.Time{}, false
	lower := m.ackedAt(time.Now().Add(-q.Lag))
	got, err := ask(ctx, r, q)
	if err != nil {
		return err
	}
	return got.within(q, lower, m.begunBy())
}

// scan checks which traces a scan returns.
func (m *model) scan(ctx context.Context, r reader, page string, since, until time.Time) error {
	if kept := m.horizon(); since.Before(kept) {
		since = kept
	}
	seen := map[place]bool{}
	stats, err := r.Scan(ctx, store.Query{Page: page, Since: since, Until: until}, func(rec store.Record) error {
		at := place{rec.ID, rec.Partition}
		x := m.instances[at]
		if x == nil || seen[at] {
			return fmt.Errorf("trace %s in partition %s is a duplicate, or unexpected", rec.ID, rec.Partition)
		}
		seen[at] = true
		return x.check(rec)
	})
	want := m.in(since, until)
	if page != "" {
		want = on(page, want)
	}
	if err != nil || !stats.Complete() || len(seen) != len(want) || stats.Traces != uint64(len(want)) {
		return fmt.Errorf("scan %q since %v until %v: got %d traces, want %d: %+v, %w", page, since, until, len(seen),
			len(want), stats, err)
	}
	return nil
}

// catalog checks the counts by page and tag.
func (m *model) catalog(ctx context.Context, r reader) error {
	entries, stats, err := r.Catalog(ctx, time.Time{}, time.Time{}, 0)
	if err != nil || !stats.Complete() {
		return fmt.Errorf("catalogue: %+v, %w", stats, err)
	}
	want := map[store.CatalogEntry]store.CatalogEntry{}
	for _, x := range m.instances {
		for _, page := range x.Pages {
			for _, t := range append([]store.Tag{{}}, x.Tags...) {
				key := store.CatalogEntry{Page: page, Tag: t}
				e, ok := want[key]
				if !ok {
					e = store.CatalogEntry{Page: page, Tag: t, First: x.received, Last: x.received}
				}
				if e.Traces++; x.received.Before(e.First) {
					e.First = x.received
				}
				if x.received.After(e.Last) {
					e.Last = x.received
				}
				want[key] = e
			}
		}
	}
	for _, e := range entries {
		if w := want[store.CatalogEntry{Page: e.Page, Tag: e.Tag}]; e.Traces != w.Traces || !e.First.Equal(w.First) ||
			!e.Last.Equal(w.Last) {
			return fmt.Errorf("catalogue: got %+v, want %+v", e, w)
		}
	}
	if len(entries) != len(want) {
		return fmt.Errorf("catalogue: got %d entries, want %d", len(entries), len(want))
	}
	return nil
}

// everything checks all results of a store while no other operation is running.
func (m *model) everything(ctx context.Context, h *home, r reader) error {
	if err := m.learn(ctx, r); err != nil {
		return err
	}
	details, traces := all, all
	details.Details, details.Level = true, rollup.Wide
	traces.None, traces.Since = true, m.horizon()
	return errors.Join(m.scan(ctx, r, "", time.Time{}, time.Time{}), m.exactly(ctx, r, all), m.exactly(ctx, r, details),
		m.exactly(ctx, r, traces), m.catalog(ctx, r), h.sound(ctx, r))
}
