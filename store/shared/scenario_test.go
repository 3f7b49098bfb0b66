package shared

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/check"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

// scenario is two days of a small store, in which everything happens once that a store does: traces come, are rolled up,
// compacted, closed, deleted on request and by age, backed up and repaired, and the node is started again. It runs while
// something fails, and at the end checks what is there with nothing failing.
type scenario struct {
	*testing.T
	// open opens the place; a second call is of another process, after the first one was closed or killed.
	open func() (objects.Store, error)
	// pass lets time pass.
	pass func(time.Duration)
	// giveUp is how long an object is tried to be put.
	giveUp time.Duration

	log     bytes.Buffer // of all processes
	n       *Node        // nil while no process runs
	sent    byte
	acked   map[byte]bool // acknowledged
	deleted map[byte]bool // asked to be deleted, successfully
}

// The pages. The scenario deletes the first one, and a page view of the second one.
const (
	deletedPage = "/deleted"
	keptPage    = "/kept"
	otherPage   = "/other"
)

func (x *scenario) options() Options {
	return Options{Flush: time.Millisecond, GiveUp: x.giveUp, Shards: 2, RollRows: 1000, Retention: 72 * time.Hour,
		TakeOver: 30 * time.Second, Logger: slog.New(slog.NewTextHandler(&x.log, nil))}
}

// start starts a process, if none runs. It may fail, as the one before may.
func (x *scenario) start() *Node {
	if x.n != nil {
		return x.n
	}
	b, err := x.open()
	if err == nil {
		if x.n, err = Open(x.Context(), b, x.options()); err == nil {
			return x.n
		}
		if c, ok := b.(interface{ Close() error }); ok {
			_ = c.Close() // that it does not start is what matters
		}
	}
	fmt.Fprintln(&x.log, "it does not start:", err)
	return nil
}

// stop ends the process.
func (x *scenario) stop() {
	if x.n == nil {
		return
	}
	x.n.roller.Release()
	ctx, cancel := context.WithTimeout(x.Context(), 10*time.Second)
	defer cancel()
	if err := x.n.Close(ctx); err != nil {
		fmt.Fprintln(&x.log, "close:", err)
	}
	x.n = nil
}

// send sends a trace of a page. One that is not acknowledged is sent again.
func (x *scenario) send(page string) byte {
	x.sent++
	for range 3 {
		if n := x.start(); n != nil {
			if _, err := n.Append(x.Context(), []store.Record{testRecord(x.sent, page)}); err == nil {
				x.acked[x.sent] = true
				return x.sent
			}
		}
		x.pass(time.Second)
	}
	return x.sent
}

// rounds lets the node do what it does again and again.
func (x *scenario) rounds(count int) {
	for range count {
		if n := x.start(); n != nil {
			n.round(x.Context(), roll.Work{Close: true, Sweep: true})
		}
		x.pass(31 * time.Second)
	}
}

// delete asks to delete something until that is acknowledged. Whatever becomes of the request, ids may be gone.
func (x *scenario) delete(s deletion.Selection, ids ...byte) {
	for range 3 {
		for _, id := range ids {
			x.deleted[id] = true
		}
		if n := x.start(); n != nil {
			if _, err := n.Delete(x.Context(), s, "test", false); err == nil {
				return
			}
		}
		x.pass(time.Second)
	}
}

// repair verifies and repairs, a few times if that fails.
func (x *scenario) repair() {
	for range 3 {
		n := x.start()
		if n == nil {
			x.pass(time.Second)
			continue
		}
		v, err := n.Verify(x.Context(), quietly)
		if err == nil {
			_, err = n.Repair(x.Context(), v)
		}
		if err == nil {
			return
		}
		fmt.Fprintln(&x.log, "repair:", err)
		x.pass(time.Second)
	}
}

// activities are the parts of the scenario, in order. Each may fail.
func (x *scenario) activities() []activity {
	return []activity{
		{"ingest", func() {
			for range 3 {
				x.send(keptPage)
				x.send(deletedPage)
				x.rounds(1)
			}
			x.send(otherPage)
		}},
		{"compaction", func() {
			for range 9 {
				x.send(keptPage)
				x.rounds(1)
			}
		}},
		{"restart", func() {
			x.stop()
			x.send(otherPage)
		}},
		{"closing of hours", func() {
			x.pass(time.Hour)
			x.rounds(4)
			x.send(keptPage)
			x.pass(time.Hour)
			x.rounds(4)
		}},
		{"deletion", func() {
			x.send(otherPage) // in an hour that is open
			x.rounds(2)
			x.delete(deletion.Selection{Views: []string{viewOf(1)}}, 1)
			x.delete(deletion.Selection{Page: deletedPage}, 2, 4, 6)
			x.rounds(6)
		}},
		{"backup", func() {
			if n := x.start(); n != nil {
				if _, err := n.Backup(x.Context(), &bytes.Buffer{}); err != nil {
					fmt.Fprintln(&x.log, "backup:", err)
				}
			}
		}},
		{"closing of a day", func() {
			x.pass(24 * time.Hour)
			x.rounds(4)
			x.send(keptPage)
			x.rounds(2)
		}},
		{"repair", func() {
			x.lose(layout.ManifestKey(layout.ShardOf(keptPage, 2)))
			x.repair()
			x.rounds(2)
			x.send(keptPage)
			x.rounds(2)
		}},
	}
}

type activity struct {
	name string
	do   func()
}

// viewOf returns the id of the page view of a trace.
func viewOf(n byte) string {
	id := testRecord(n).ID
	return hex.EncodeToString(id.View[:])
}

// lose removes an object, as an operator may by mistake.
func (x *scenario) lose(key string) {
	if n := x.start(); n != nil {
		_ = n.b.Delete(x.Context(), key) // it may fail
	}
}

// run runs all activities. before is called before each with its number.
func (x *scenario) run(before func(i int)) {
	x.acked, x.deleted = map[byte]bool{}, map[byte]bool{}
	for i, a := range x.activities() {
		before(i)
		a.do()
	}
	before(len(x.activities()))
	x.stop()
}

// check starts a last process, with nothing failing: all that was acknowledged and not deleted is there once, what was
// deleted is not, and nothing is wrong or quarantined.
func (x *scenario) check() {
	x.Helper()
	n := x.start()
	if n == nil {
		x.Fatalf("it does not start without faults:\n%s", x.tail())
	}
	defer x.stop()
	for range 4 {
		if n.Doubt() != nil { // the clock was not noted for a day
			x.pass(time.Hour)
			x.rounds(1)
		}
	}
	x.delete(deletion.Selection{Views: []string{viewOf(1)}}, 1) // in vain, unless the first requests were
	x.delete(deletion.Selection{Page: deletedPage}, 2, 4, 6)
	for range 3 {
		x.rounds(3)
		x.pass(2 * time.Minute)
	}
	if v := verified(x.T, n); mends(v.Findings) {
		x.repair() // of what a failure may leave: runs that no manifest names
		x.rounds(3)
	}
	v := verified(x.T, n)
	for _, f := range v.Findings {
		x.Errorf("%s: %s", f.Object, f.What)
	}
	if warnings := n.Warnings(); len(warnings) > 0 || n.Unready() != nil {
		x.Errorf("warnings %v, unready: %v", warnings, n.Unready())
	}
	found := map[byte]int{}
	st, err := n.Scan(x.Context(), store.Query{}, func(rec store.Record) error { found[rec.ID.View[0]]++; return nil })
	if err != nil || !st.Complete() {
		x.Errorf("%v, %+v", err, st.Unreadable)
	}
	for id := byte(1); id <= x.sent; id++ {
		switch {
		case found[id] > 1:
			x.Errorf("trace %d is there %d times", id, found[id])
		case x.deleted[id] && found[id] != 0:
			x.Errorf("trace %d is there, and was deleted", id)
		case x.acked[id] && !x.deleted[id] && found[id] == 0:
			x.Errorf("trace %d was acknowledged, and is gone", id)
		}
	}
	if x.Failed() {
		x.Log(x.tail())
	}
}

func mends(list []check.Finding) bool {
	return slices.ContainsFunc(list, func(f check.Finding) bool { return f.Mends })
}

// tail returns the last lines of the log.
func (x *scenario) tail() string {
	lines := strings.Split(x.log.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}
