package roll

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// read returns the shard's part of a segment.
func (r *Shard) read(ctx context.Context, l *layout.Listing, s layout.Segment) (*layout.Batch, error) {
	o, err := r.Bucket.Segment(ctx, l, s)
	if err != nil {
		return nil, err
	}
	return o.OfShard(ctx, r.Number)
}

// arrived are new traces and counts for an hour.
type arrived struct {
	rows   []layout.Row
	counts []layout.Count
}

// arrived returns the entry for data that was received in an hour. If that hour is closed, it
// returns the entry of the current hour.
func (r *Shard) arrived(work map[string]*arrived, m *layout.Manifest, hour string, now time.Time) *arrived {
	if !r.isOpen(m, hour, now) {
		for hour = layout.HourOf(now); !r.isOpen(m, hour, now); { // the clock may have been set back
			hour = layout.HourAfter(hour, 1)
		}
	}
	a := work[hour]
	if a == nil {
		a = &arrived{}
		work[hour] = a
	}
	return a
}

// isOpen reports whether data can still be added to an hour.
func (r *Shard) isOpen(m *layout.Manifest, hour string, now time.Time) bool {
	if h := m.Hours[hour]; h != nil && h.Sealed {
		return false
	}
	return m.Days[layout.DayOf(hour)] == nil &&
		!layout.Expired(hour, time.Duration(r.roller.keeps.Load().Retention.Traces), now)
}

// AddRows adds the traces of an hour that are not stored yet, as if they had just arrived.
func (r *Shard) AddRows(ctx context.Context, hour string, rows []layout.Row) error {
	if err := r.Begin(ctx); err != nil {
		return err
	}
	next := r.Manifest.Clone()
	work := map[string]*arrived{}
	r.arrived(work, next, hour, r.Bucket.Now()).rows = rows
	for hour, a := range work {
		if err := r.rollHour(ctx, nil, next, hour, a); err != nil {
			return err
		}
	}
	if r.fresh == 0 {
		return nil
	}
	return r.Replace(ctx, next)
}

// rollHour adds new traces and counts to an hour: as runs, and as additions to its rollups.
func (r *Shard) rollHour(ctx context.Context, l *layout.Listing, next *layout.Manifest, hour string, a *arrived) error {
	rows, err := r.NewRows(ctx, next, hour, a.rows)
	if err != nil {
		return err
	}
	h := next.Hour(hour)
	h.Duplicates += uint64(len(a.rows) - len(rows))
	r.duplicates += len(a.rows) - len(rows)
	r.fresh += len(rows)
	if len(rows)+len(a.counts) == 0 {
		return nil
	}
	rollups, err := r.rollups(ctx, next, hour, rows, a.counts)
	if err != nil {
		return err
	}
	runs, err := r.putRows(ctx, hour, rows)
	if err != nil {
		return err
	}
	h.Runs = append(h.Runs, runs...)
	h.Rollups = append(h.Rollups, rollups...)
	h.Traces += uint64(len(rows))
	for i := range rows {
		h.Extend(rows[i].Received)
	}
	for i := range a.counts {
		h.Extend(a.counts[i].Received)
	}
	return r.compact(ctx, l, next, hour)
}

// NewRows returns the rows that are not stored yet, sorted and without duplicates.
func (r *Shard) NewRows(ctx context.Context, m *layout.Manifest, hour string, rows []layout.Row) (out []layout.Row,
	err error) {
	slices.SortStableFunc(rows, func(a, b layout.Row) int { return layout.CompareRows(&a, &b) })
	var known []*layout.RunKeys
	for name := range m.Nearby(hour, rows) {
		if m.Hours[name] == nil {
			continue
		}
		for _, f := range m.Hours[name].Runs {
			x, err := r.KeysOf(ctx, layout.RunKey(r.Number, name, f.ID))
			if err != nil {
				return nil, err
			}
			known = append(known, x)
		}
	}
	for i := range rows {
		x := &rows[i]
		if n := len(out); n > 0 && out[n-1].Page == x.Page && out[n-1].ID == x.ID {
			continue
		}
		if !slices.ContainsFunc(known, func(of *layout.RunKeys) bool { return of.Has(x.Page, x.ID) }) {
			out = append(out, *x)
		}
	}
	return out, nil
}

// KeysOf returns the keys of a run, from memory if cached.
func (r *Shard) KeysOf(ctx context.Context, name string) (*layout.RunKeys, error) {
	if x := r.keys[name]; x != nil {
		return x, nil
	}
	x, err := r.Bucket.LoadKeys(ctx, name)
	if err != nil {
		return nil, r.Missing(err)
	}
	r.keys[name] = x
	return x, nil
}

// rollups writes what rows and counts add to the rollups of an hour. rows must be sorted. If
// earlier chunks of a page view are already rolled up, the view is subtracted as it was, and added
// again with all of its chunks.
func (r *Shard) rollups(ctx context.Context, m *layout.Manifest, hour string, rows []layout.Row,
	counts []layout.Count) ([]layout.File, error) {
	slices.SortStableFunc(counts, func(a, b layout.Count) int { return cmp.Compare(a.Page, b.Page) })
	to := r.HourRollups(hour, false, 0)
	for len(rows)+len(counts) > 0 {
		page := firstPage(rows, counts)
		p := r.Bucket.NewPage(page)
		n := 0
		for n < len(rows) && rows[n].Page == page {
			n++
		}
		if n > 0 {
			if err := r.AddToPage(ctx, m, hour, p, rows[:n]); err != nil {
				return nil, err
			}
		}
		rows = rows[n:]
		for ; len(counts) > 0 && counts[0].Page == page; counts = counts[1:] {
			p.AddCount(&counts[0])
		}
		if err := AddPage(ctx, to, page, p); err != nil {
			return nil, err
		}
	}
	return to.Finish(ctx)
}

// firstPage returns the lesser of the first pages of rows and counts. At most one may be empty.
func firstPage(rows []layout.Row, counts []layout.Count) string {
	if len(rows) == 0 || len(counts) > 0 && counts[0].Page < rows[0].Page {
		return counts[0].Page
	}
	return rows[0].Page
}

// AddToPage adds sorted rows of one page to p. So that each page view counts once, it subtracts its
// earlier traces in the hour and adds them again with the new ones.
func (r *Shard) AddToPage(ctx context.Context, m *layout.Manifest, hour string, p *layout.Page,
	rows []layout.Row) error {
	var views [][16]byte
	for i := range rows {
		if n := len(views); n == 0 || views[n-1] != rows[i].ID.View {
			views = append(views, rows[i].ID.View)
		}
		one := layout.Counted{Traces: 1, First: rows[i].Received, Last: rows[i].Received}
		p.Counts.Add(store.Tag{}, one)
		for _, t := range rows[i].Tags {
			p.Counts.Add(t, one)
		}
	}
	var old []layout.Row
	for _, f := range m.RunsOf(hour) {
		x, err := r.KeysOf(ctx, layout.RunKey(r.Number, hour, f.ID))
		if err != nil {
			return err
		}
		got, err := x.ReadViews(ctx, rows[0].Page, views)
		if err != nil {
			return r.Missing(err)
		}
		old = append(old, got...)
	}
	slices.SortFunc(old, func(a, b layout.Row) int { return layout.CompareRows(&a, &b) })
	var d encode.BinaryDecoder
	for _, view := range views {
		was, is := takeView(&old, view), takeView(&rows, view)
		if len(was) > 0 {
			p.Begin(-1)
			r.addTraces(&d, p, was)
			p.End()
		}
		all := slices.Concat(was, is)
		slices.SortFunc(all, func(a, b layout.Row) int { return cmp.Compare(a.ID.Chunk, b.ID.Chunk) })
		p.Begin(1)
		r.bad += r.addTraces(&d, p, all)
		p.End()
	}
	return nil
}

// takeView cuts the rows of a page view off the front of sorted rows.
func takeView(rows *[]layout.Row, view [16]byte) []layout.Row {
	n := 0
	for n < len(*rows) && (*rows)[n].ID.View == view {
		n++
	}
	out := (*rows)[:n:n]
	*rows = (*rows)[n:]
	return out
}

// addTraces adds the traces of a page view. It returns how many cannot be decoded.
func (r *Shard) addTraces(d *encode.BinaryDecoder, p *layout.Page, rows []layout.Row) (bad int) {
	for i := range rows {
		t, err := rows[i].Decode(d)
		if err != nil {
			bad++
			continue
		}
		p.Add(t)
	}
	return bad
}
