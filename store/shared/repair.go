package shared

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Repair makes again what [Reader.Verify] has found wrong and can be made again: manifests of what is kept of them and of the traces that
// they do not name, sums of hours of their traces, and of days of their hours. It returns how many there were. Of page views without a trace, and of Web Vitals, it
// keeps what can be read: nothing else has them.
func (n *Node) Repair(ctx context.Context, v Verified) (mended int, err error) {
	done := map[Finding]bool{}
	for step := range repairSteps {
		for _, f := range v.Findings {
			of := Finding{shard: f.shard, hour: f.hour, day: f.day, lost: f.lost, adopts: f.adopts}
			if !f.Mends || f.step() != step || done[of] {
				continue
			}
			done[of] = true
			if err := n.repair(ctx, of); err != nil {
				return mended, fmt.Errorf("repair %s%s of shard %d: %w", f.hour, f.day, f.shard, err)
			}
			mended++
		}
	}
	return mended, nil
}

// repairSteps is how many steps there are, see [Finding.step].
const repairSteps = 4

// step says in which order things are repaired: days are made of hours, and these of what manifests name.
func (f Finding) step() int {
	switch {
	case f.lost:
		return 0
	case f.adopts:
		return 1
	case f.day == "":
		return 2
	}
	return 3
}

// repair makes something again. If another machine was faster, it begins again.
func (n *Node) repair(ctx context.Context, f Finding) error {
	r := &roller{n: n, shard: f.shard}
	for attempt := 0; ; attempt++ {
		err := r.repair(ctx, f)
		if !errors.Is(err, errLost) || attempt == importAttempts {
			return err
		}
		r.forget()
		if err := n.pause(ctx, 0, importPause/2+rand.N(importPause)); err != nil {
			return err
		}
	}
}

func (r *roller) repair(ctx context.Context, f Finding) error {
	if f.lost {
		if err := r.restore(ctx); err != nil {
			return err
		}
		r.forget()
	}
	if f.lost || f.adopts {
		return r.adopt(ctx)
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	r.began = time.Time{}
	next := r.m.clone()
	remake, name := r.remakeHour, f.hour
	if f.day != "" {
		remake, name = r.remakeDay, f.day
	}
	if err := remake(ctx, next, name); err != nil {
		return err
	}
	return r.replace(ctx, next)
}

// remakeHour replaces the sums of an hour by those of its traces.
func (r *roller) remakeHour(ctx context.Context, next *manifest, name string) error {
	h := next.Hours[name]
	if h == nil {
		return nil // it is too old by now
	}
	var runs []*object
	for _, f := range h.Runs {
		o, err := r.n.openObject(ctx, r.n.b, runKey(r.shard, name, f.ID))
		if err != nil {
			return r.missing(err)
		}
		runs = append(runs, o)
	}
	pages := map[string]*pageSum{}
	rows, err := r.n.rawSums(ctx, runs, func(page string, p *pageSum) error {
		pages[page] = p
		return nil
	})
	if err != nil {
		return r.missing(err)
	}
	for _, f := range h.Sums {
		k := sumsKey(r.shard, name, f.ID)
		if err := r.salvage(ctx, k, pages); err != nil {
			return err
		}
		next.remove(r.n.Now(), k)
	}
	sums, err := r.putSums(ctx, pages, r.ofHour(name, h.Sealed, 0))
	if err != nil {
		return err
	}
	h.Sums, h.Traces = sums, rows
	return nil
}

// salvage adds what can be read of sums and is not in traces: page views without one, and Web Vitals.
func (r *roller) salvage(ctx context.Context, k string, pages map[string]*pageSum) error {
	o, err := r.n.openObject(ctx, r.n.b, k)
	if isWrong(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, page := range pagesOf([]*object{o}) {
		for _, level := range openLevels() {
			x, _, err := r.n.pageSums(ctx, o, page, []rollup.Level{level}, false)
			if isWrong(err) {
				continue
			}
			if err != nil {
				return err
			}
			p := pages[page]
			if p == nil {
				p = newPageSum(page, r.n.opts.Rollups)
			}
			for _, rec := range x.records {
				for _, out := range rec.Outcomes {
					p.AddOutcome(out.Reason, out.Views)
				}
				for i := range rec.Vitals {
					p.AddVital(&rec.Vitals[i])
				}
			}
			if !p.Empty() {
				pages[page] = p
			}
		}
	}
	return nil
}

// remakeDay replaces the sums of a day by those of its hours.
func (r *roller) remakeDay(ctx context.Context, next *manifest, name string) error {
	d := next.Days[name]
	if d == nil || !d.whole(next) {
		return nil // it is made again by now, or too late
	}
	for _, f := range d.Sums {
		next.remove(r.n.Now(), daySumsKey(r.shard, name, f.ID))
	}
	return r.closeDay(ctx, next, name)
}
