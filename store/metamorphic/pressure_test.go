package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/fieldtrie/fieldtrie/store"
)

// turnInUse ends the time of a partition while a query is in the middle of traces that
// nobody read before.
func (x *run) turnInUse(ctx context.Context) error {
	if err := x.makeRoom(ctx); err != nil {
		return err
	}
	n := 260 + x.r.IntN(160)
	at, roll := int64(x.r.IntN(n)), x.r.IntN(2) == 0
	x.note("turn in use: %d traces, at %d, roll %v", n, at, roll)
	q := all
	traces := x.maker.burst(n)
	q.Page, q.Details = traces[0].doc.Context.Page, true // what is not rolled up yet is summed up for it
	for len(traces) > 0 {
		k := min(len(traces), 64)
		if err := x.send(ctx, traces[:k]); err != nil {
			return err
		}
		traces = traces[k:]
	}
	var seen atomic.Int64
	reading := make(chan struct{})
	begin := sync.OnceFunc(func() { close(reading) })
	q.Pages = func(string) bool { // it is asked for each trace
		if seen.Add(1) > at {
			begin()
		}
		return true
	}
	errs := make([]error, 3)
	var group sync.WaitGroup
	group.Go(func() {
		defer x.caught()
		defer begin()
		errs[0] = x.watch.do("select", func() error { return x.model.between(ctx, x.s, q) })
	})
	if roll {
		group.Go(func() {
			defer x.caught()
			errs[1] = x.watch.do("roll", func() error { return x.s.Roll(ctx) })
		})
	}
	group.Go(func() {
		defer x.caught()
		<-reading
		x.clock.move(x.traits.width)
		errs[2] = x.watch.do("maintain", func() error { return x.s.Maintain(ctx) })
	})
	group.Wait()
	x.moved += x.traits.width
	return errors.Join(errs...)
}

// patientCommits is how many commits may go by while Maintain waits for its turn.
const patientCommits = 300

// saturate keeps the queue full until maintenance has had its turn beside it.
func (x *run) saturate(ctx context.Context) error {
	x.note("saturate")
	if err := errors.Join(x.makeRoom(ctx), x.send(ctx, x.maker.burst(60))); err != nil {
		return err
	}
	const writers = 48
	d, s := x.inDirectory()
	batch := min(20, d.opts.GroupTraces*5/8+1) // small groups have no room for a second one
	var enough atomic.Uint64                   // commits
	enough.Store(s.Counters().Commits + patientCommits)
	errs := make([]error, writers+1)
	var group sync.WaitGroup
	for i := range writers {
		m := x.maker.fork()
		group.Go(func() {
			defer x.caught()
			for errs[i] == nil && s.Counters().Commits <= enough.Load() {
				traces := []*trace{m.trace(m.page(), m.view())}
				for len(traces) < batch { // repeats, so that the directory does not grow
					traces = append(traces, m.made[m.r.IntN(len(m.made))])
				}
				errs[i] = x.send(ctx, traces)
			}
		})
	}
	for range 3 {
		before := s.Counters().Commits
		enough.Store(before + patientCommits)
		x.clock.move(x.traits.width / 2)
		x.moved += x.traits.width / 2
		errs[writers] = x.maintain(ctx)
		if n := s.Counters().Commits - before; n > patientCommits {
			errs[writers] = errors.Join(errs[writers], fmt.Errorf("maintenance waited for %d commits, until they ended", n))
			break
		}
	}
	enough.Store(0)
	group.Wait()
	return errors.Join(errs...)
}

// closeInUse closes the store, twice, while others use it.
func (x *run) closeInUse(ctx context.Context) error {
	x.note("close in use")
	var closed atomic.Bool
	var group sync.WaitGroup
	errs := make(chan error, 100)
	use := func(f func() error) {
		group.Go(func() {
			for {
				if err := f(); err != nil {
					if !errors.Is(err, store.ErrClosed) {
						errs <- err
					}
					return
				}
			}
		})
	}
	for range 3 {
		m := x.maker.fork()
		use(func() error { return x.send(ctx, m.batch(5)) })
	}
	use(func() error {
		return x.watch.do("scan", func() error {
			_, err := x.s.Scan(ctx, store.Query{}, func(store.Record) error {
				if closed.Load() {
					return errors.New("a scan goes on after Close")
				}
				return nil
			})
			return err
		})
	})
	use(func() error { return x.watch.do("roll", func() error { return x.s.Roll(ctx) }) })
	use(func() error { return x.watch.do("maintain", func() error { return x.s.Maintain(ctx) }) })
	use(func() error {
		return x.watch.do("select", func() error { return x.model.between(ctx, x.s, all) })
	})
	if err := x.send(ctx, x.maker.batch(5)); err != nil {
		return err
	}
	for range 2 {
		group.Go(func() {
			if err := x.watch.do("close", x.s.Close); err != nil {
				errs <- err
			}
			closed.Store(true)
		})
	}
	group.Wait()
	close(errs)
	var err error
	for e := range errs {
		err = errors.Join(err, e)
	}
	x.model.storedOutcomes()
	return errors.Join(err, x.open(ctx))
}
