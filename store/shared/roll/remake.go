package roll

import (
	"context"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// RemakeHour rebuilds the rollups of an hour from its traces. Page views without a trace and Web
// Vitals exist only in rollups, so RemakeHour keeps all of them that can be read.
func (r *Shard) RemakeHour(ctx context.Context, next *layout.Manifest, name string) error {
	h := next.Hours[name]
	if h == nil {
		return nil // it has expired
	}
	var runs []*layout.Object
	for _, f := range h.Runs {
		o, err := r.Bucket.Open(ctx, layout.RunKey(r.Number, name, f.ID))
		if err != nil {
			return r.Missing(err)
		}
		runs = append(runs, o)
	}
	reports, err := r.readable(ctx, name, h.Rollups)
	if err != nil {
		return err
	}
	m := &remaking{r: r, to: r.HourRollups(name, h.Sealed, 0), reports: reports, left: layout.PagesOf(reports)}
	rows, err := r.Bucket.FromTraces(ctx, runs, func(page string, p *layout.Page) error { return m.add(ctx, page, p) })
	if err != nil {
		return r.Missing(err)
	}
	if err := m.upTo(ctx, nil); err != nil {
		return err
	}
	rollups, err := m.to.Finish(ctx)
	if err != nil {
		return err
	}
	for _, f := range h.Rollups {
		next.Remove(r.Bucket.Now(), layout.HourKey(r.Number, name, f.ID))
	}
	h.Rollups, h.Traces = rollups, rows
	for i := range h.Quarantined {
		q := &h.Quarantined[i]
		q.Lost = max(q.Lost, q.File.Rows) // an upper bound: the old rollups counted at most these
	}
	return nil
}

// readable opens the rollups of an hour that can be read.
func (r *Shard) readable(ctx context.Context, hour string, files []layout.File) (out []*layout.Object, err error) {
	for _, f := range files {
		o, err := r.Bucket.Open(ctx, layout.HourKey(r.Number, hour, f.ID))
		if err != nil && !layout.IsWrong(err) {
			return nil, err
		}
		if err == nil {
			out = append(out, o)
		}
	}
	return out, nil
}

// remaking writes rollups page by page, in order.
type remaking struct {
	r       *Shard
	to      *Series[*layout.RollupWriter]
	reports []*layout.Object // the old rollups
	left    []string         // pages of the old rollups that are not written yet, sorted
}

// add writes a page that has traces, after all pages before it that have only reports.
func (m *remaking) add(ctx context.Context, page string, p *layout.Page) error {
	if err := m.upTo(ctx, &page); err != nil {
		return err
	}
	if len(m.left) > 0 && m.left[0] == page {
		m.left = m.left[1:]
	}
	return m.write(ctx, page, p)
}

// upTo writes the pages before end that have only reports, or all remaining ones if end is nil.
func (m *remaking) upTo(ctx context.Context, end *string) error {
	for len(m.left) > 0 && (end == nil || m.left[0] < *end) {
		page := m.left[0]
		m.left = m.left[1:]
		if err := m.write(ctx, page, m.r.Bucket.NewPage(page)); err != nil {
			return err
		}
	}
	return nil
}

func (m *remaking) write(ctx context.Context, page string, p *layout.Page) error {
	for _, o := range m.reports {
		for _, level := range layout.OpenLevels() {
			x, _, err := o.Page(ctx, page, []rollup.Level{level}, false)
			if err != nil && !layout.IsWrong(err) {
				return err
			}
			if err == nil && x != nil {
				x.AddReports(p, func(*rollup.Vital) bool { return true })
			}
		}
	}
	if p.Empty() {
		return nil
	}
	return AddPage(ctx, m.to, page, p)
}
