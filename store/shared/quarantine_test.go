package shared

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// An object of the open hour is lost or damaged: a run with one trace of one page, or its rollups.
// Later traces of all pages of the shard must still be rolled up.
func TestDamagedRunStopsNothing(t *testing.T) {
	flip := func(t *testing.T, n *Node, key string) {
		o, err := n.b.Get(t.Context(), key, 1<<20, "")
		if err == nil {
			o.Body[3] ^= 1 // in the first block, so that its keys and index are sound
			_, err = n.b.Put(t.Context(), key, o.Body, objects.Condition{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	remove := func(t *testing.T, n *Node, key string) {
		if err := n.b.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		what, of string
		harm     func(t *testing.T, n *Node, key string)
	}{{"a run is lost", "raw/", remove}, {"a bit of a run", "raw/", flip}, {"rollups are lost", "hours/", remove},
		{"a bit of rollups", "hours/", flip}} {
		t.Run(x.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakebucket.New(1)
				o := Options{Flush: time.Millisecond, Shards: 1, RollEvery: 5 * time.Minute}
				n := openNode(t, s, o)
				if _, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a")}); err != nil {
					t.Fatal(err)
				}
				settleNode(t.Context(), n, 2)
				var key string
				for e, err := range n.b.List(t.Context(), x.of, "") {
					if err != nil {
						t.Fatal(err)
					}
					key = e.Key
				}
				x.harm(t, n, key)
				n = openNode(t, s, o) // with empty caches
				ctx, cancel := context.WithCancel(t.Context())
				var g sync.WaitGroup
				g.Go(func() { n.Run(ctx) })
				const last = 21
				for i := byte(2); i <= last; i++ {
					if _, err := n.Append(t.Context(), []store.Record{testRecord(i, "/other")}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(90 * time.Second)
				}
				time.Sleep(6 * time.Hour)
				if got := countOf(t, n); got[last] != 1 {
					t.Errorf("6 h after the last of 20 traces of another page, %d of them are missing from "+
						"responses; lags %v, ready: %v", 20-len(got)+got[1], n.Counters().Lags, n.Unready())
				}
				v, err := n.Verify(ctx, func(int, int, uint64) {})
				mended, rerr := n.Repair(ctx, v)
				time.Sleep(20 * time.Minute)
				if got := countOf(t, n); got[last] != 1 {
					t.Errorf("after a repair of %d of %d findings: %v, %v", mended, len(v.Findings), err, rerr)
				}
				if x.what == "a run is lost" {
					time.Sleep(9 * 24 * time.Hour) // until all of it has expired
				}
				if l, err := n.b.ListSegments(ctx); err != nil || len(l.List) > 0 {
					t.Errorf("at the end (nine days later for a lost run, with a retention of a week) %d segments "+
						"are waiting, %v", len(l.List), err)
				}
				cancel()
				g.Wait()
			})
		})
	}
}

// Two runs of two shards are swapped, as after a wrong manual restore. All rollups are correct, and
// Repair must not change them.
func TestRepairOfSwappedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := Options{Flush: time.Millisecond, Shards: 2}
		n := openNode(t, s, o)
		pages := map[int]string{} // by shard
		for i := byte(1); len(pages) < 2; i++ {
			rec := recordOf(store.ID{View: [16]byte{i}}, rand.New(rand.NewPCG(uint64(i), 1)))
			shard := layout.ShardOf(rec.Pages[0], 2)
			if len(rec.Pages) > 1 || pages[shard] != "" {
				continue
			}
			pages[shard] = rec.Pages[0]
			if _, err := n.Append(t.Context(), []store.Record{rec}); err != nil {
				t.Fatal(err)
			}
		}
		settleNode(t.Context(), n, 2)
		time.Sleep(2 * time.Hour)
		settleNode(t.Context(), n, 20) // closes the hour
		sums := func() (out [2]int64) {
			n := openNode(t, s, o)
			for shard, page := range pages {
				_, err := n.Select(t.Context(), store.Query{Page: page}, store.Wanted{}, func(store.Record) error {
					return nil
				}, func(r store.Rolled) error {
					_, traces := r.Record.Views()
					out[shard] += int64(traces)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			return out
		}
		before := sums()
		m0, _, _ := n.b.Manifest(t.Context(), 0, 0)
		m1, _, _ := n.b.Manifest(t.Context(), 1, 0)
		var keys [2]string
		var bodies [2][]byte
		for shard, m := range []*layout.Manifest{m0, m1} {
			for name, h := range m.Hours {
				keys[shard] = layout.RunKey(shard, name, h.Runs[0].ID)
			}
			got, err := n.b.Get(t.Context(), keys[shard], 1<<20, "")
			if err != nil {
				t.Fatal(err)
			}
			bodies[shard] = got.Body
		}
		for shard := range 2 {
			if _, err := n.b.Put(t.Context(), keys[shard], bodies[1-shard], objects.Condition{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := sums(); got != before {
			t.Errorf("before the repair: %v instead of %v", got, before)
		}
		n = openNode(t, s, o)
		v, err := n.Verify(t.Context(), func(int, int, uint64) {})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Findings {
			t.Log(f.Object, f.What, f.Do)
		}
		mended, err := n.Repair(t.Context(), v)
		t.Log(mended, err)
		if got := sums(); got != before {
			t.Errorf("after the repair: traces of the pages %v instead of %v", got, before)
		}
	})
}

// A run of a closed hour cannot be read when a trace arrives that may duplicate one of its traces.
// The run is quarantined, the rollups of the hour stay unchanged even after a repair, and the run
// is used again once it is restored.
func TestQuarantineOfClosedHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := Options{Flush: time.Millisecond, Shards: 1}
		n := openNode(t, s, o)
		time.Sleep(30 * time.Minute)
		rnd := rand.New(rand.NewPCG(1, 2))
		send := func(id byte) {
			rec := recordOf(store.ID{View: [16]byte{id}}, rnd)
			if _, err := n.Append(t.Context(), []store.Record{rec}); err != nil {
				t.Fatal(err)
			}
			settleNode(t.Context(), n, 1)
		}
		send(1)
		send(2)
		time.Sleep(35 * time.Minute)
		settleNode(t.Context(), n, 3) // closes the hour and compacts it to one run
		keys := keysUnder(t, n, "raw/")
		m, _, err := n.b.Manifest(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		keys = slices.DeleteFunc(keys, func(k string) bool { return !m.Names(0)[k] })
		if len(keys) != 1 {
			t.Fatalf("the manifest names %v", keys)
		}
		sound, err := n.b.Get(t.Context(), keys[0], 1<<20, "")
		if err != nil {
			t.Fatal(err)
		}
		damage(t, n, keys[0], true)
		n = openNode(t, s, o) // does not have the keys of the run in memory
		send(3)
		settleNode(t.Context(), n, 4)
		sums := func() (total uint64) {
			_, err := n.Select(t.Context(), store.Query{}, store.Wanted{}, func(store.Record) error {
				total++
				return nil
			},
				func(r store.Rolled) error { _, traces := r.Record.Views(); total += uint64(traces); return nil })
			if err != nil {
				t.Fatal(err)
			}
			return total
		}
		before := sums()
		if c := n.Counters(); c.Quarantined != 1 || before < 3 || len(n.Warnings()) != 1 {
			t.Errorf("%d objects are quarantined, the rollups have %d traces, warnings %v", c.Quarantined, before,
				n.Warnings())
		}
		v := verified(t, n)
		if len(v.Findings) != 1 || v.Findings[0].Object != keys[0] || v.Findings[0].Mends {
			t.Errorf("%+v", v.Findings)
		}
		for _, back := range []bool{false, true} {
			if back {
				if _, err := n.b.Put(t.Context(), keys[0], sound.Body, objects.Condition{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := n.Repair(t.Context(), verified(t, n)); err != nil {
				t.Fatal(err)
			}
			settleNode(t.Context(), n, 2)
			if after := sums(); after != before {
				t.Errorf("restored: %v: after a repair the rollups have %d traces instead of %d", back, after, before)
			}
		}
		if got, v := countOf(t, n), verified(t, n); len(got) != 3 || len(v.Findings) > 0 ||
			n.Counters().Quarantined != 0 {
			t.Errorf("at the end: %v, %+v", got, v.Findings)
		}
	})
}

// The keys of a run of the open hour are damaged, but all of its traces can be read. They are saved
// to another run, so no trace is missing, and the old run does not count again once it is restored.
func TestQuarantineOfKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := Options{Flush: time.Millisecond, Shards: 1}
		n := openNode(t, s, o)
		appendTo(t, n, 1, 2, 3)
		settleNode(t.Context(), n, 1)
		key := keysUnder(t, n, "raw/")[0]
		sound, err := n.b.Get(t.Context(), key, 1<<20, "")
		if err != nil {
			t.Fatal(err)
		}
		damaged := false
		for i := 0; i < len(sound.Body) && !damaged; i++ {
			body := bytes.Clone(sound.Body)
			body[i] ^= 1
			if _, err := n.b.Put(t.Context(), key, body, objects.Condition{}); err != nil {
				t.Fatal(err)
			}
			run, err := n.b.Open(t.Context(), key)
			if err != nil || run.EachRow(t.Context(), func(*layout.Row) error { return nil }) != nil {
				continue
			}
			_, err = n.b.LoadKeys(t.Context(), key)
			damaged = layout.IsWrong(err)
		}
		if !damaged {
			t.Fatal("no byte belongs only to the keys")
		}
		n = openNode(t, s, o)
		appendTo(t, n, 2, 4)           // the first one is a duplicate
		settleNode(t.Context(), n, 12) // until the shard is taken over, and the run is quarantined
		for _, back := range []bool{false, true} {
			if back {
				if _, err := n.b.Put(t.Context(), key, sound.Body, objects.Condition{}); err != nil {
					t.Fatal(err)
				}
				if _, err := n.Repair(t.Context(), verified(t, n)); err != nil {
					t.Fatal(err)
				}
				settleNode(t.Context(), n, 2)
			}
			st, err := n.Scan(t.Context(), store.Query{}, func(store.Record) error { return nil })
			if got := fmt.Sprint(countOf(t, n)); got != "map[1:1 2:1 3:1 4:1]" || err != nil || !st.Complete() {
				t.Errorf("restored: %v: %s, %v, %+v", back, got, err, st.Unreadable)
			}
		}
		if v := verified(t, n); len(v.Findings) > 0 || n.Counters().Quarantined != 0 {
			t.Errorf("at the end: %+v", v.Findings)
		}
	})
}
