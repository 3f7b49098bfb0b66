package shared

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

func countOf(t *testing.T, n *Node) map[byte]int {
	found := map[byte]int{}
	if _, err := n.Scan(t.Context(), store.Query{}, func(rec store.Record) error {
		found[rec.ID.View[0]]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func settleNode(ctx context.Context, n *Node, rounds int) {
	for range rounds {
		n.round(ctx, roll.Work{Close: true})
		time.Sleep(15 * time.Second)
	}
}

// The manifest of a shard is lost, and a node is restarted, as an operator would try first.
func TestLostManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := Options{Flush: time.Millisecond, Shards: 1}
		n := openNode(t, s, o)
		for i := range 5 {
			if _, err := n.Append(t.Context(), []store.Record{testRecord(byte(i+1), "/a")}); err != nil {
				t.Fatal(err)
			}
			settleNode(t.Context(), n, 4)
			time.Sleep(time.Hour)
		}
		settleNode(t.Context(), n, 4)
		time.Sleep(3 * time.Hour)
		before := countUnder(t, n, "raw/") + countUnder(t, n, "hours/")
		if err := n.b.Delete(t.Context(), layout.ManifestKey(0)); err != nil {
			t.Fatal(err)
		}
		n.round(t.Context(), roll.Work{Close: true, Sweep: true}) // the running node does no harm
		if got := countUnder(t, n, "raw/") + countUnder(t, n, "hours/"); got != before {
			t.Errorf("running node: %d of %d objects left", got, before)
		}
		begin := time.Now()
		n2 := openNode(t, s, o)
		ctx, cancel := context.WithCancel(t.Context())
		var g sync.WaitGroup
		g.Go(func() { n2.Run(ctx) })
		time.Sleep(5 * time.Second)
		cancel()
		g.Wait()
		if got := countUnder(t, n2, "raw/") + countUnder(t, n2, "hours/"); got != before {
			t.Errorf("%v after another node started, %d of %d objects are left", time.Since(begin), got, before)
		}
	})
}

func countUnder(t *testing.T, n *Node, prefix string) (count int) {
	for _, err := range n.b.List(t.Context(), prefix, "") {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	return count
}

// One response has a wrong Date header.
func TestWrongDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		var wrong time.Duration
		s.Now = func() time.Time { return time.Now().Add(wrong) }
		c := s.Client()
		o := Options{Flush: time.Millisecond, Shards: 1, Retention: 7 * 24 * time.Hour,
			HourRetention: 30 * 24 * time.Hour, DayRetention: 400 * 24 * time.Hour}
		n, err := Open(t.Context(), c.Bucket(time.Now), o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			if _, err := n.Append(t.Context(), []store.Record{testRecord(byte(i+1), "/a")}); err != nil {
				t.Fatal(err)
			}
			settleNode(t.Context(), n, 4)
			time.Sleep(time.Hour)
		}
		settleNode(t.Context(), n, 4)
		if got := countOf(t, n); len(got) != 5 {
			t.Fatal(got)
		}
		wrong = 402 * 24 * time.Hour
		_, _, _ = n.b.Range(t.Context(), "FORMAT", -1, 0) // this response has the wrong date
		wrong = 0
		t.Logf("offset %v, unready: %v", time.Until(n.b.Clock().Now()), n.Unready())
		n.round(t.Context(), roll.Work{Close: true})
		m, _, _ := n.b.Manifest(t.Context(), 0, 0)
		t.Logf("hours %d days %d removed %d", len(m.Hours), len(m.Days), len(m.Removed))
		if got := countOf(t, n); len(got) != 5 {
			t.Errorf("after one response with a wrong date %d of 5 traces are left", len(got))
		}
		settleNode(t.Context(), n, 3)
		m, _, _ = n.b.Manifest(t.Context(), 0, 0)
		t.Logf("later: hours %d days %d removed %d; raw objects %d, hours %d, days %d", len(m.Hours), len(m.Days),
			len(m.Removed), countUnder(t, n, "raw/"), countUnder(t, n, "hours/"), countUnder(t, n, "days/"))
	})
}

// Many nodes with little traffic use a store whose requests take 30 ms.
func TestManyNodes(t *testing.T) {
	nodes, took, minutes := 12, 30*time.Millisecond, 2
	if testing.Short() {
		nodes, minutes = 4, 1
	}
	if n, err := strconv.Atoi(os.Getenv("NODES")); err == nil { // 32 nodes for 5 minutes use one CPU
		nodes, minutes = n, 5
	}
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		s.Took = took
		ctx, cancel := context.WithCancel(t.Context())
		var g sync.WaitGroup
		var list []*Node
		for range nodes {
			n, err := Open(ctx, s.Client().Bucket(time.Now), Options{Retention: 24 * time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, n)
			name := fmt.Sprintf("%08d", len(list))
			g.Go(func() { n.Run(ctx) })
			g.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					var id store.ID
					copy(id.View[:], fmt.Sprintf("%s%08x", name, i))
					rec := testRecord(1, "/page/"+strconv.Itoa(i%40))
					rec.ID = id
					if _, err := n.Append(ctx, []store.Record{rec}); err != nil && ctx.Err() == nil &&
						!errors.Is(err, context.Canceled) {
						t.Log(err)
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		for minute := range minutes {
			time.Sleep(time.Minute)
			n := list[0]
			l, err := n.b.ListSegments(ctx)
			if err != nil {
				t.Fatal(err)
			}
			oldest, most := time.Duration(0), 0
			for shard := range n.b.Shards {
				m, _, _ := n.b.Manifest(ctx, shard, 0)
				waiting := 0
				for _, x := range l.List {
					if !m.Has(x.Segment) {
						waiting++
						oldest = max(oldest, l.At.Sub(x.Modified))
					}
				}
				most = max(most, waiting)
			}
			t.Logf("%d nodes, %v: minute %d: %d segments listed, up to %d wait for a shard, the oldest since %v; "+
				"requests %v", nodes, took, minute+1, len(l.List), most, oldest.Round(time.Second), s.Requests())
			// Mostly 13 s: one round.
			if oldest > 20*time.Second {
				t.Errorf("a segment has waited for %v", oldest)
			}
			lost, led := uint64(0), []int{}
			for _, n := range list {
				lost += n.Counters().LostRaces
				led = append(led, n.Counters().Shards)
			}
			t.Logf("lost races %d, shards by node %v", lost, led)
		}
		cancel()
		g.Wait()
		time.Sleep(time.Minute) // wait until running work is done
	})
}

// A manifest of three hours ago is restored, as the documentation suggests.
func TestOldManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := Options{Flush: time.Millisecond, Shards: 1}
		n := openNode(t, s, o)
		var old []byte
		for i := range 6 {
			if _, err := n.Append(t.Context(), []store.Record{testRecord(byte(i+1), "/a")}); err != nil {
				t.Fatal(err)
			}
			settleNode(t.Context(), n, 4)
			time.Sleep(time.Hour)
			settleNode(t.Context(), n, 4)
			if i == 2 {
				got, err := n.b.Get(t.Context(), layout.ManifestKey(0), 1<<20, "")
				if err != nil {
					t.Fatal(err)
				}
				old = got.Body
			}
		}
		before, raw := countUnder(t, n, "raw/")+countUnder(t, n, "hours/"), countUnder(t, n, "raw/")
		if _, err := n.b.Put(t.Context(), layout.ManifestKey(0), old, objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		n2 := openNode(t, s, o)
		ctx, cancel := context.WithCancel(t.Context())
		var g sync.WaitGroup
		g.Go(func() { n2.Run(ctx) })
		time.Sleep(3 * time.Hour)
		if _, err := n2.Append(t.Context(), []store.Record{testRecord(9, "/a")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Minute)
		cancel()
		g.Wait()
		left := countUnder(t, n2, "raw/")
		if left < raw {
			t.Errorf("40 min after the next trace: got %d of %d objects, %d of %d runs (one is new), traces in "+
				"responses: %v", countUnder(t, n2, "raw/")+countUnder(t, n2, "hours/"), before, left, raw,
				countOf(t, n2))
		}
	})
}
