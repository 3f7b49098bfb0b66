package shared

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/block"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// hourCheck checks an hour of a shard.
type hourCheck struct {
	v     *verifier
	m     *manifest
	shard int
	name  string
	hour  *hour

	badSums map[string]error
}

func (h *hourCheck) run(ctx context.Context) error {
	h.v.out.Hours++
	runs, allRuns, err := h.runs(ctx)
	if err != nil {
		return err
	}
	var keys []string
	for _, f := range h.hour.Sums {
		keys = append(keys, sumsKey(h.shard, h.name, f.ID))
	}
	sums, bad, err := h.v.sums(ctx, keys)
	if err != nil {
		return err
	}
	h.badSums = bad
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
	if err := h.kept(ctx); err != nil {
		return err
	}
	if !allRuns || len(runs) == 0 || len(bad) > 0 || len(keys) == 0 {
		return nil
	}
	why, err := h.compare(ctx, runs, sums)
	if why != "" && h.v.named(ctx, h.shard, keys[0]) {
		f.Object, f.What = keys[0], why
		h.v.find(f)
	}
	return err
}

// kept checks what imports keep beside the hour.
func (h *hourCheck) kept(ctx context.Context) error {
	_, bad, err := h.v.sums(ctx, h.hour.untraced(h.shard, h.name))
	for _, k := range slices.Sorted(maps.Keys(bad)) {
		if h.v.named(ctx, h.shard, k) {
			h.v.find(Finding{Object: k, What: said(bad[k]), Do: doKept, shard: h.shard, hour: h.name})
		}
	}
	return err
}

// runs opens the runs of the hour, and checks all but their traces. It reports whether all are good.
func (h *hourCheck) runs(ctx context.Context) (list []*object, all bool, err error) {
	all = true
	for _, f := range h.hour.Runs {
		k := runKey(h.shard, h.name, f.ID)
		o, err := h.v.open(ctx, k)
		if err == nil {
			err = h.checkRun(ctx, o, f)
		}
		if err != nil && !isWrong(err) {
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

// checkRun reads a run: it has to have as many traces as the manifest says, and their keys.
func (h *hourCheck) checkRun(ctx context.Context, o *object, f file) error {
	r := h.v.r
	rows, keys := 0, 0
	c := r.cursor(o, o.index.Kind(kindTraces), 1)
	for {
		more, err := c.next(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		rows++
	}
	for _, e := range o.index.Kind(kindKeys) {
		data, err := r.data(ctx, o, []block.Entry{e})
		if err != nil {
			return err
		}
		list, err := decodeKeys(data[0], e.Rows)
		if err != nil {
			return err
		}
		keys += len(list)
	}
	h.v.out.Traces += uint64(rows)
	if rows != keys || rows != f.Rows {
		return fmt.Errorf("%w: %d traces with %d keys, the manifest says %d", block.ErrDamaged, rows, keys, f.Rows)
	}
	return nil
}

// compare says how the sums of the hour differ from its traces, "" if they do not.
func (h *hourCheck) compare(ctx context.Context, runs, sums []*object) (why string, err error) {
	left := map[string]bool{}
	for _, page := range pagesOf(sums) {
		left[page] = true
	}
	rows, err := h.v.r.rawSums(ctx, runs, func(page string, want *pageSum) error {
		delete(left, page)
		got, err := h.v.r.pageOf(ctx, sums, page)
		if err != nil || why != "" {
			return err
		}
		if x := differ(got, want); x != "" {
			why = fmt.Sprintf("the sums of %s are not those of its traces: %s", page, x)
		}
		return nil
	})
	if isWrong(err) {
		return said(err), nil
	}
	if err != nil || why != "" {
		return why, err
	}
	for page := range left { // of which there are page views without a trace alone
		got, err := h.v.r.pageOf(ctx, sums, page)
		if err != nil {
			return "", err
		}
		if x := differ(got, newPageSum(page, h.v.r.opts.Rollups)); x != "" {
			return fmt.Sprintf("the sums of %s are not those of its traces: %s", page, x), nil
		}
	}
	if rows != h.hour.Traces {
		return fmt.Sprintf("the manifest counts %d traces, there are %d", h.hour.Traces, rows), nil
	}
	return "", nil
}

// differ says how two sums of a page differ in what comes from traces, "" if they do not.
func differ(got, want *pageSum) string {
	views, traces := got.Views()
	wantViews, wantTraces := want.Views()
	if views != wantViews || traces != wantTraces {
		return fmt.Sprintf("they have %d page views and %d traces instead of %d and %d", views, traces, wantViews, wantTraces)
	}
	if n, w := got.counts[store.Tag{}].traces, want.counts[store.Tag{}].traces; n != w {
		return fmt.Sprintf("the catalogue counts %d traces instead of %d", n, w)
	}
	a, folded := profileOf(got)
	b, foldedToo := profileOf(want)
	// What becomes (other) depends on what came first.
	if !folded && !foldedToo && !a.Equal(b) {
		return "their times are others"
	}
	return ""
}

// profileOf returns what sums have of times, with all labels, and whether something of it is (other) for want of room.
func profileOf(p *pageSum) (out *trie.Profile, folded bool) {
	rec, err := p.Record()
	if err != nil {
		return nil, true // never: its nodes are its own
	}
	s := rollup.NewSum(func(cell trie.Labels) (trie.Labels, bool) { return cell, true })
	if err := s.Add(rec, p.Stacks()); err != nil {
		return nil, true // never: nothing bounds it
	}
	keys := []string{rollup.KeyRelease, rollup.KeyEnvironment, rollup.KeyPhase, rollup.KeyVisibility, rollup.KeyFeature, rollup.KeyDevice, rollup.KeyBrowser, rollup.KeyConnection}
	return s.Profile(), p.Full() || rec.Folded(keys) > 0
}

// rawSums calls f with what the traces of runs sum up to, page by page, and returns how many there are.
func (r *Reader) rawSums(ctx context.Context, runs []*object, f func(page string, p *pageSum) error) (rows uint64, err error) {
	x := &rawSum{r: r, f: f}
	var list []*cursor
	for _, o := range runs {
		list = append(list, r.cursor(o, o.index.Kind(kindTraces), len(runs)))
	}
	if err := merge(ctx, list, x.add); err != nil {
		return x.rows, err
	}
	return x.rows, x.endPage()
}

// rawSum adds up traces that come in order.
type rawSum struct {
	r    *Reader
	f    func(page string, p *pageSum) error
	d    encode.BinaryDecoder
	p    *pageSum // of the page of view
	view []row    // those of the present page view
	rows uint64
}

func (x *rawSum) add(next *row) error {
	if n := len(x.view); n > 0 {
		last := &x.view[n-1]
		switch {
		case last.page != next.page:
			if err := x.endPage(); err != nil {
				return err
			}
		case last.id == next.id:
			return fmt.Errorf("%w: trace %s of %s is there twice", block.ErrDamaged, next.id, next.page)
		case last.id.View != next.id.View:
			x.endView()
		}
	}
	if x.p == nil {
		x.p = newPageSum(next.page, x.r.opts.Rollups)
	}
	x.view = append(x.view, *next)
	x.rows++
	return nil
}

func (x *rawSum) endView() {
	x.p.Begin(1)
	for i := range x.view {
		row := &x.view[i]
		one := counted{1, row.received, row.received}
		x.p.counts.add(store.Tag{}, one)
		doc, err := x.d.Decode(row.payload, encode.FileLimits())
		if err != nil || doc.Trace == nil {
			continue // it is counted, and can not be summed up
		}
		tags, _ := store.TagsOf(doc.Trace)
		for _, t := range tags {
			x.p.counts.add(t, one)
		}
		x.p.Add(doc.Trace)
	}
	x.p.End()
	x.view = x.view[:0]
}

func (x *rawSum) endPage() error {
	if len(x.view) == 0 {
		return nil
	}
	page := x.view[0].page
	x.endView()
	p := x.p
	x.p = nil
	return x.f(page, p)
}
