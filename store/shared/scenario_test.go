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

// scenario is two days of a small store, in which everything that a store does happens once: traces
// arrive, are rolled up, compacted, closed, deleted on request and by age, backed up and repaired,
// and the node is restarted. It runs with injected failures, and at the end checks the data without
// failures.
type scenario struct {
	*testing.T
	// open opens the location. Later calls are by other processes, after the earlier one was closed
	// or killed.
	open func() (objects.Store, error)
	// pass lets time pass.
	pass func(time.Duration)
	// giveUp is how long to retry an object.
	giveUp time.Duration

	log     bytes.Buffer // of all processes
	n       *Node        // nil while no process is running
	sent    byte
	acked   map[byte]bool // acknowledged traces
	deleted map[byte]bool // traces with an acknowledged request to delete
}

// Pages. The scenario deletes the first one, and a page view of the second one.
const (
	deletedPage = "/deleted"
	keptPage    = "/kept"
	otherPage   = "/other"
)

func (x *scenario) options() Options {
	return Options{Flush: time.Millisecond, GiveUp: x.giveUp, Shards: 2, RollRows: 1000, Retention: 72 * time.Hour,
		TakeOver: 30 * time.Second, Logger: slog.New(slog.NewTextHandler(&x.log, nil))}
}

// start starts a process unless one is running. That may fail.
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
			_ = c.Close() // the error of starting is the one that counts
		}
	}
	fmt.Fprintln(&x.log, "the node does not start:", err)
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

// send sends a trace of a page, and retries until it is acknowledged.
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

// rounds lets the node do its periodic work.
func (x *scenario) rounds(count int) {
	for range count {
		if n := x.start(); n != nil {
			n.round(x.Context(), roll.Work{Close: true, Sweep: true})
		}
		x.pass(31 * time.Second)
	}
}

// delete requests a deletion until the request is acknowledged. ids may be deleted from the first
// attempt on.
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

// repair verifies and repairs, with a few retries.
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

// activities are the steps of the scenario, in order. Each may fail.
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
			x.send(otherPage) // in an open hour
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

// lose deletes an object, as an operator may do by mistake.
func (x *scenario) lose(key string) {
	if n := x.start(); n != nil {
		_ = n.b.Delete(x.Context(), key) // this may fail
	}
}

// run runs all activities. It calls before with the number of each.
func (x *scenario) run(before func(i int)) {
	x.acked, x.deleted = map[byte]bool{}, map[byte]bool{}
	for i, a := range x.activities() {
		before(i)
		a.do()
	}
	before(len(x.activities()))
	x.stop()
}

// check starts a last process without failures. Each trace that was acknowledged and not deleted is
// stored once, deleted traces are gone, and no object is damaged or quarantined.
func (x *scenario) check() {
	x.Helper()
	n := x.start()
	if n == nil {
		x.Fatalf("the node does not start without faults:\n%s", x.tail())
	}
	defer x.stop()
	for range 4 {
		if n.Doubt() != nil { // the clock has not been noted for a day
			x.pass(time.Hour)
			x.rounds(1)
		}
	}
	x.delete(deletion.Selection{Views: []string{viewOf(1)}}, 1) // no effect, unless the earlier requests failed
	x.delete(deletion.Selection{Page: deletedPage}, 2, 4, 6)
	for range 3 {
		x.rounds(3)
		x.pass(2 * time.Minute)
	}
	if v := verified(x.T, n); mends(v.Findings) {
		x.repair() // a failure may leave unnamed runs
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
			x.Errorf("got trace %d %d times, want once", id, found[id])
		case x.deleted[id] && found[id] != 0:
			x.Errorf("deleted trace %d is still stored", id)
		case x.acked[id] && !x.deleted[id] && found[id] == 0:
			x.Errorf("acknowledged trace %d is missing", id)
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
