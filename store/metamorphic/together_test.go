package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// worker is the work of one goroutine while others work.
type worker struct {
	*run
	r     *rand.Rand
	maker *maker
	name  string
	times int
	do    func(*worker, context.Context) error
}

// manyAtOnce runs several goroutines on the store concurrently.
func (x *run) manyAtOnce(ctx context.Context) error {
	if err := x.makeRoom(ctx); err != nil {
		return err
	}
	if x.r.IntN(2) == 0 {
		if err := x.burst(ctx); err != nil { // traces for concurrent readers
			return err
		}
	}
	var all []*worker
	hire := func(most int, name string, times int, do func(*worker, context.Context) error) {
		for range x.r.IntN(most + 1) {
			w := &worker{run: x, r: rand.New(rand.NewPCG(x.r.Uint64(), 3)), name: name,
				times: 1 + x.r.IntN(times), do: do}
			w.maker = x.maker.fork()
			all = append(all, w)
		}
	}
	hire(3, "appends", 8, (*worker).appends)
	hire(2, "rolls", 5, (*worker).rolls)
	hire(2, "maintains", 4, (*worker).maintains)
	hire(1, "turns", 3, (*worker).turns)
	hire(4, "selects", 5, (*worker).selects)
	hire(1, "scans", 3, (*worker).scans)
	hire(1, "looks", 3, (*worker).looks)
	hire(1, "counts views", 4, (*worker).counts)
	others := make(chan struct{})
	var backup *backupOf
	if x.r.IntN(5) == 0 {
		backup = &backupOf{run: x, slow: x.r.IntN(2) == 0, others: others}
		x.note("  backup, slow %v", backup.slow)
	}
	return x.work(ctx, all, backup, others)
}

// work waits for all workers, and then for the backup.
func (x *run) work(ctx context.Context, all []*worker, b *backupOf, others chan struct{}) error {
	errs := make([]error, len(all)+1)
	var group, last sync.WaitGroup
	if b != nil {
		last.Go(func() { errs[len(all)] = b.make(ctx) })
	}
	for i, w := range all {
		x.note("  %s, %d times", w.name, w.times)
		group.Go(func() {
			defer x.caught()
			for range w.times {
				if errs[i] = w.do(w, ctx); errs[i] != nil {
					errs[i] = fmt.Errorf("%s: %w", w.name, errs[i])
					return
				}
			}
		})
	}
	group.Wait()
	close(others)
	last.Wait()
	for _, w := range all {
		x.maker.join(w.maker)
	}
	err := errors.Join(errs...)
	if err == nil && b != nil {
		err = b.check(ctx)
	}
	return err
}

func (w *worker) appends(ctx context.Context) error {
	if w.r.IntN(3) == 0 {
		return w.send(ctx, w.maker.burst(20+w.r.IntN(60)))
	}
	return w.send(ctx, w.maker.batch(1+w.r.IntN(30)))
}

func (w *worker) rolls(ctx context.Context) error {
	return w.watch.do("roll", func() error { w.s.Roll(ctx); return nil })
}

func (w *worker) maintains(ctx context.Context) error {
	return w.watch.do("maintain", func() error { w.s.Maintain(ctx); return nil })
}

// turns ends an hour.
func (w *worker) turns(ctx context.Context) error {
	w.clock.move(time.Hour)
	w.turned.Add(1)
	if w.r.IntN(4) == 0 {
		return nil // the next roll-up will detect it
	}
	return w.maintains(ctx)
}

func (w *worker) selects(ctx context.Context) error {
	q := w.model.question(w.r)
	if w.r.IntN(8) == 0 {
		return w.hurried(ctx, q)
	}
	return w.watch.do("select", func() error { return w.model.between(ctx, w.s, q) })
}

// hurried runs a query with a very short deadline.
func (w *worker) hurried(ctx context.Context, q question) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(w.r.IntN(2000))*time.Microsecond)
	defer cancel()
	err := w.watch.do("select with a short deadline", func() error { _, err := ask(ctx, w.s, q); return err })
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func (w *worker) scans(ctx context.Context) error {
	return w.watch.do("scan", func() error { return w.model.scanBetween(ctx, w.s) })
}

func (w *worker) looks(ctx context.Context) error {
	return w.watch.do("look", func() error {
		_, stats, err := w.s.Catalog(ctx, time.Time{}, time.Time{}, 0)
		if err == nil && !stats.Complete() {
			err = fmt.Errorf("catalogue is incomplete: %+v", stats)
		}
		for _, n := range w.s.nodes {
			n.Counters()
			n.Room()
		}
		return err
	})
}

func (w *worker) counts(context.Context) error {
	o := outcome{pages[w.r.IntN(len(pages))], "unsampled"}
	w.model.count(o, 1)
	w.s.CountViews(o.page, o.reason, 1)
	return nil
}

// scanBetween checks a scan during concurrent writes: it must include all traces that existed
// before, and no trace that was not sent.
func (m *model) scanBetween(ctx context.Context, r reader) error {
	before := m.knownNow()
	seen, twice := map[store.ID]bool{}, map[place]bool{}
	stats, err := r.Scan(ctx, store.Query{}, func(rec store.Record) error {
		at := place{rec.ID, rec.Partition}
		if twice[at] {
			return fmt.Errorf("trace %s is stored twice in partition %s", rec.ID, rec.Partition)
		}
		twice[at], seen[rec.ID] = true, true
		return nil
	})
	if err != nil || !stats.Complete() {
		return fmt.Errorf("scan: %+v, %w", stats, err)
	}
	kept := m.horizon()
	for _, id := range before {
		old := slices.ContainsFunc(m.of[id], func(x *instance) bool { return x.received.Before(kept) })
		if !seen[id] && !old {
			return fmt.Errorf("trace %s was acknowledged before the scan, but is missing from it", id)
		}
	}
	return nil
}
