package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// hourCheck checks an hour of a shard.
type hourCheck struct {
	v     *verifier
	m     *layout.Manifest
	shard int
	name  string
	hour  *layout.Hour

	badRollups map[string]error
}

func (h *hourCheck) run(ctx context.Context) error {
	h.v.out.Hours++
	runs, allRuns, err := h.runs(ctx)
	if err != nil {
		return err
	}
	var keys []string
	for _, f := range h.hour.Rollups {
		keys = append(keys, layout.HourKey(h.shard, h.name, f.ID))
	}
	rollups, bad, err := h.v.rollups(ctx, keys)
	if err != nil {
		return err
	}
	h.badRollups = bad
	for _, q := range h.hour.Quarantined {
		allRuns = allRuns && !q.Summed() // such a run counts in the rollups, but cannot be read
	}
	f := Finding{Do: doPutBack, shard: h.shard, hour: h.name}
	if allRuns && len(runs) > 0 {
		f.Do, f.Mends = doRepair, true
	}
	for _, k := range slices.Sorted(maps.Keys(bad)) {
		if h.v.named(ctx, h.shard, k) {
			f.Object, f.What = k, said(bad[k])
			h.v.find(f)
		}
	}
	if !allRuns || len(runs) == 0 || len(bad) > 0 || len(keys) == 0 {
		return nil
	}
	why, err := h.compare(ctx, runs, rollups)
	if why != "" && h.v.named(ctx, h.shard, keys[0]) {
		f.Object, f.What = keys[0], why
		h.v.find(f)
	}
	return err
}

// runs opens the runs of the hour and checks the number of their traces. It reports whether all of
// them are sound.
func (h *hourCheck) runs(ctx context.Context) (list []*layout.Object, all bool, err error) {
	all = true
	for _, f := range h.hour.Runs {
		k := layout.RunKey(h.shard, h.name, f.ID)
		o, err := h.v.open(ctx, k)
		if err == nil {
			err = h.checkRun(ctx, o, f)
		}
		if err != nil && !layout.IsWrong(err) {
			return nil, false, err
		}
		if err == nil {
			list = append(list, o)
			continue
		}
		all = false
		if h.v.named(ctx, h.shard, k) {
			h.v.find(Finding{Object: k, What: said(err), Do: doTraces, shard: h.shard, hour: h.name})
		}
	}
	return list, all, nil
}

// checkRun reads a run. It must have as many traces as the manifest states, and a key for each of
// them.
func (h *hourCheck) checkRun(ctx context.Context, o *layout.Object, f layout.File) error {
	rows, keys, err := o.CountRows(ctx)
	if err != nil {
		return err
	}
	h.v.out.Traces += uint64(rows)
	if rows != keys || rows != f.Rows {
		return fmt.Errorf("%w: %d traces with %d keys instead of %d as in the manifest", block.ErrDamaged, rows,
			keys, f.Rows)
	}
	return nil
}

// compare returns how the rollups of the hour differ from its traces, or "" if they are equal.
func (h *hourCheck) compare(ctx context.Context, runs, rollups []*layout.Object) (why string, err error) {
	left := map[string]bool{}
	for _, page := range layout.PagesOf(rollups) {
		left[page] = true
	}
	rows, err := h.v.b.FromTraces(ctx, runs, func(page string, want *layout.Page) error {
		delete(left, page)
		got, err := h.v.b.PageOf(ctx, rollups, page)
		if err != nil || why != "" {
			return err
		}
		if x := differ(got, want); x != "" {
			why = fmt.Sprintf("the rollups of %s differ from its traces: %s", page, x)
		}
		return nil
	})
	if layout.IsWrong(err) {
		return said(err), nil
	}
	if err != nil || why != "" {
		return why, err
	}
	for page := range left { // pages with page views without a trace only
		got, err := h.v.b.PageOf(ctx, rollups, page)
		if err != nil {
			return "", err
		}
		if x := differ(got, h.v.b.NewPage(page)); x != "" {
			return fmt.Sprintf("the rollups of %s differ from its traces: %s", page, x), nil
		}
	}
	if rows != h.hour.Traces {
		return fmt.Sprintf("the manifest counts %d traces instead of %d", h.hour.Traces, rows), nil
	}
	return "", nil
}

// differ returns how two rollups of a page differ in the data that comes from traces, or "" if they
// are equal.
func differ(got, want *layout.Page) string {
	views, traces := got.Views()
	wantViews, wantTraces := want.Views()
	if views != wantViews || traces != wantTraces {
		return fmt.Sprintf("%d page views and %d traces instead of %d and %d", views, traces, wantViews, wantTraces)
	}
	if n, w := got.Counts[store.Tag{}].Traces, want.Counts[store.Tag{}].Traces; n != w {
		return fmt.Sprintf("the catalogue counts %d traces instead of %d", n, w)
	}
	a, folded := profileOf(got)
	b, foldedToo := profileOf(want)
	// Which names are folded into (other) depends on the order of arrival.
	if !folded && !foldedToo && !a.Equal(b) {
		return "the times differ"
	}
	return ""
}

// profileOf returns the profile of a rollup with all labels, and whether parts of it were folded
// into (other).
func profileOf(p *layout.Page) (out *trie.Profile, folded bool) {
	rec, err := p.Record()
	if err != nil {
		return nil, true // never happens: all nodes are in its own stack table
	}
	s := rollup.NewSum(func(cell trie.Labels) (trie.Labels, bool) { return cell, true })
	if err := s.Add(rec, p.Stacks()); err != nil {
		return nil, true // never happens: the sum has no limit
	}
	keys := []string{rollup.KeyRelease, rollup.KeyEnvironment, rollup.KeyPhase, rollup.KeyVisibility, rollup.KeyFeature,
		rollup.KeyDevice, rollup.KeyBrowser, rollup.KeyConnection}
	return s.Profile(), p.Full() || rec.Folded(keys) > 0
}
