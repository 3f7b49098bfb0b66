package metamorphic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// operation is an operation on a store.
type operation struct {
	name      string
	weight    int
	do        func(*run, context.Context) error
	in        mode // the first mode that includes it
	always    bool // never left out
	directory bool // only for directories
}

// mode is how a run uses a store. Each mode includes the operations of those before it.
type mode int

const (
	alone    mode = iota // one operation at a time
	together             // many concurrent operations
)

var operations = []operation{
	{name: "append", weight: 20, do: (*run).append, always: true},
	{name: "burst", weight: 4, do: (*run).burst},
	{name: "roll", weight: 8, do: (*run).roll, always: true},
	{name: "maintain", weight: 4, do: (*run).maintain},
	{name: "minutes pass", weight: 6, do: (*run).minutes},
	{name: "hours pass", weight: 4, do: (*run).hours, always: true},
	{name: "almost the hour", weight: 6, do: (*run).almost},
	{name: "clock goes back", weight: 1, do: (*run).back, directory: true},
	{name: "select", weight: 14, do: (*run).question, always: true},
	{name: "scan", weight: 3, do: (*run).scan},
	{name: "catalog", weight: 2, do: (*run).catalog},
	{name: "status", weight: 2, do: (*run).status},
	{name: "count views", weight: 3, do: (*run).countViews},
	{name: "backup", weight: 1, do: (*run).backup},
	{name: "reopen", weight: 2, do: (*run).reopen},
	{name: "crash", weight: 2, do: (*run).crash},
	{name: "delete", weight: 3, do: (*run).delete},
	{name: "full disk", weight: 1, do: (*run).fullDisk, directory: true},
	{name: "read only", weight: 1, do: (*run).readOnly},
	{name: "together", weight: 24, do: (*run).manyAtOnce, in: together, always: true},
}

// send appends traces as one batch.
func (x *run) send(ctx context.Context, traces []*trace) error {
	recs := make([]store.Record, 0, len(traces))
	for _, t := range traces {
		recs = append(recs, t.Record)
	}
	c := x.model.begin(traces)
	return x.watch.do("append", func() error {
		res, err := x.s.Append(ctx, recs)
		if err != nil && x.home.failing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		x.model.ack(c, res)
		if res.Stored+res.Duplicates != len(recs) {
			return fmt.Errorf("append of %d traces: got %+v", len(recs), res)
		}
		return nil
	})
}

func (x *run) append(ctx context.Context) error {
	batch := x.maker.batch(1 + x.r.IntN(30))
	x.note("append %d", len(batch))
	before := x.s.Version(time.Time{}, time.Time{})
	if again := x.s.Version(time.Time{}, time.Time{}); again != before {
		return fmt.Errorf("the version changed without new traces: got %s after %s", again, before)
	}
	fresh := slices.ContainsFunc(batch, func(t *trace) bool { return !x.model.known[t.ID] })
	if err := x.send(ctx, batch); err != nil {
		return err
	}
	if after := x.s.Version(time.Time{}, time.Time{}); after == before && fresh && x.model.known[batch[0].ID] {
		return fmt.Errorf("the version is still %s although traces arrived", after)
	}
	return nil
}

// burst appends many traces.
func (x *run) burst(ctx context.Context) error {
	n := 130 + x.r.IntN(150)
	x.note("burst %d", n)
	for rest := x.maker.burst(n); len(rest) > 0; {
		k := min(len(rest), 64)
		if err := x.send(ctx, rest[:k]); err != nil {
			return err
		}
		rest = rest[k:]
	}
	return nil
}

func (x *run) roll(ctx context.Context) error {
	x.note("roll")
	return x.watch.do("roll", func() error { x.s.Roll(ctx); return nil })
}

func (x *run) maintain(ctx context.Context) error {
	x.note("maintain")
	return x.watch.do("maintain", func() error { x.s.Maintain(ctx); return nil })
}

func (x *run) minutes(ctx context.Context) error {
	d := time.Duration(x.r.Int64N(int64(30 * time.Minute)))
	x.note("move %v", d)
	return x.move(ctx, d)
}

func (x *run) hours(ctx context.Context) error {
	d := time.Hour
	if x.r.IntN(3) == 0 {
		d = time.Duration(x.r.IntN(20*60)) * time.Minute
	}
	x.note("move %v", d)
	return x.move(ctx, d)
}

// almost sets the clock to shortly before the end of an hour. Sometimes it then moves to the end,
// or crashes.
func (x *run) almost(ctx context.Context) error {
	now := x.clock.Now()
	end := now.Truncate(time.Hour).Add(time.Hour)
	d := max(0, end.Sub(now)-time.Duration(x.r.Int64N(int64(30*time.Second))))
	x.note("move %v, to %v before the end", d, end.Sub(now)-d)
	if err := errors.Join(x.move(ctx, d), x.send(ctx, x.maker.batch(1+x.r.IntN(5)))); err != nil {
		return err
	}
	if x.r.IntN(2) == 0 {
		if err := x.maintain(ctx); err != nil {
			return err
		}
	}
	switch x.r.IntN(6) {
	case 0, 1:
		x.note("move to the end")
		return errors.Join(x.move(ctx, end.Sub(x.clock.Now())), x.send(ctx, x.maker.batch(1+x.r.IntN(5))))
	case 2:
		return x.crash(ctx)
	}
	return nil
}

func (x *run) back(context.Context) error {
	d := time.Duration(x.r.Int64N(int64(90 * time.Minute)))
	x.note("move -%v", d)
	x.clock.move(-d)
	return nil
}

func (x *run) question(ctx context.Context) error {
	q := x.model.question(x.r)
	x.note("select %v", q)
	return x.watch.do("select", func() error { return x.model.exactly(ctx, x.s, q) })
}

func (x *run) scan(ctx context.Context) error {
	q := x.model.question(x.r)
	x.note("scan %v", q)
	return x.watch.do("scan", func() error { return x.model.scan(ctx, x.s, q.Page, q.Since, q.Until) })
}

func (x *run) catalog(ctx context.Context) error {
	x.note("catalog")
	return x.watch.do("catalog", func() error { return x.model.catalog(ctx, x.s) })
}

func (x *run) status(ctx context.Context) error {
	x.note("status")
	return x.watch.do("status", func() error { return x.home.sound(ctx, x.s) })
}

func (x *run) countViews(context.Context) error {
	o := outcome{pages[x.r.IntN(len(pages))], []string{"unsampled", "unsupported", "lcp", "cls"}[x.r.IntN(4)]}
	n := 1 + x.r.Int64N(100)
	x.note("count %+v %d", o, n)
	x.model.count(o, n)
	if _, vital := rollup.VitalKindOf(o.reason); !vital {
		x.s.CountViews(o.page, o.reason, n)
		return nil
	}
	v := rollup.Vital{Name: o.reason, Labels: trie.MakeLabels("device", []string{"mobile-low",
		"desktop-high"}[x.r.IntN(2)])}
	v.Add(x.r.Int64N(5_000_000), n)
	x.s.CountVitals(o.page, []rollup.Vital{v})
	return nil
}

func (x *run) reopen(ctx context.Context) error {
	x.note("reopen")
	return errors.Join(x.close(), x.open(ctx))
}

// crash continues with the state that a crash would leave.
func (x *run) crash(ctx context.Context) error {
	x.note("crash")
	if err := x.watch.do("crash", func() error { return x.home.crash(ctx, x.s) }); err != nil {
		return err
	}
	return x.goOn(ctx)
}

// goOn opens another store than the current one. Page views without a trace that were not stored
// yet are lost.
func (x *run) goOn(ctx context.Context) error {
	if err := x.open(ctx); err != nil {
		return err
	}
	if err := x.everything(ctx); err != nil { // notes the page views that exist
		return err
	}
	x.model.forgetOutcomes()
	return nil
}

func (x *run) readOnly(ctx context.Context) error {
	x.note("read only")
	if err := x.close(); err != nil {
		return err
	}
	err := x.watch.do("read", func() error {
		return x.home.read(ctx, func(r reader) error { return x.model.everything(ctx, x.home, r) })
	})
	return errors.Join(err, x.open(ctx))
}
