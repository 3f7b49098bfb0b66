package shared

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// Traces that the store does not accept are in the spool within a second, and in the bucket once
// the store is back: each once, under the hour in which it was received, even if another process
// moves it.
func TestSpool(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		client := s.Client()
		o := Options{Spool: dir, SpoolSize: 600, Flush: time.Millisecond}
		n, err := Open(t.Context(), client.Bucket(time.Now), o)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a")}); err != nil ||
			res.Durability != store.Bucket {
			t.Fatalf("got %+v, %v", res, err)
		}
		client.CutAfter(0)
		begin := time.Now()
		res, err := n.Append(t.Context(), []store.Record{testRecord(2, "/a")})
		if err != nil || res.Durability != store.Spool || res.Stored != 1 {
			t.Fatalf("got %+v, %v", res, err)
		}
		if took := time.Since(begin); took > 1100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if err := n.Unready(); err != nil {
			t.Errorf("with a spool: %v", err)
		}
		for i := 3; err == nil && i < 20; i++ { // until the spool is full
			_, err = n.Append(t.Context(), []store.Record{testRecord(byte(i), "/a")})
		}
		if !strings.Contains(fmt.Sprint(err), "the spool is full") || !errors.Is(err, fakebucket.ErrCut) {
			t.Errorf("got %v, want errSpoolFull", err)
		}
		segments, bytes := n.Counters().SpoolSegments, n.Counters().SpoolBytes
		if segments < 2 || bytes > 600 {
			t.Errorf("%d segments of %d bytes", segments, bytes)
		}
		if err := n.writer.Unspool(t.Context()); err == nil {
			t.Error("the spool was emptied without a store")
		}

		// A new process, after a crash during a write.
		if err := os.WriteFile(filepath.Join(dir, "seg_20000101T00_x-00000001.tmp"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Hour)
		n = openNode(t, s, o)
		if got := n.Counters().SpoolSegments; got != segments {
			t.Fatalf("%d segments are found, want %d", got, segments)
		}
		for range 4 { // the earlier process counts as alive, because its segments have just arrived
			n.round(t.Context(), roll.Work{})
			time.Sleep(15 * time.Second)
		}
		if got := n.Counters().SpoolSegments; got != 0 {
			t.Errorf("%d segments are left", got)
		}
		found := map[byte]int{}
		_, err = n.Scan(t.Context(), store.Query{}, func(rec store.Record) error {
			found[rec.ID.View[0]]++
			if d := rec.Received.Sub(begin).Abs(); d > time.Minute {
				t.Errorf("trace %s is recorded %v late", rec.ID, d)
			}
			return nil
		})
		if err != nil || len(found) != segments+1 || found[1] != 1 || found[2] != 1 {
			t.Errorf("got %v, %v", found, err)
		}
	})
}

func TestSpoolRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), fakebucket.New(1).Client().Bucket(time.Now), Options{Spool: file})
	if err == nil || !strings.Contains(err.Error(), "open the spool") {
		t.Errorf("got %v", err)
	}
}

// A query with a lag of 0 includes all traces acknowledged before it, and reports if no node rolls
// up.
func TestReadYourWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := openNode(t, fakebucket.New(1), Options{Flush: time.Millisecond})
		if _, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a")}); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(7 * time.Second)
			n.round(t.Context(), roll.Work{})
		}()
		found := 0
		count := func(store.Record) error { found++; return nil }
		begin := time.Now()
		stats, err := n.Scan(t.Context(), store.Query{Page: "/a"}, count)
		if took := time.Since(begin); err != nil || found != 1 || !stats.Complete() || took < 7*time.Second ||
			took > 8*time.Second {
			t.Errorf("got %d traces after %v, %v, %v", found, took, stats.Unreadable, err)
		}
		if _, err := n.Append(t.Context(), []store.Record{testRecord(2, "/a")}); err != nil {
			t.Fatal(err)
		}
		found = 0
		stats, err = n.Scan(t.Context(), store.Query{Page: "/a"}, count)
		if err != nil || found != 1 || len(stats.Unreadable) != 1 || !strings.Contains(stats.Unreadable[0].Err.Error(),
			"1 segments wait") {
			t.Errorf("got %d traces, %v, %v", found, stats.Unreadable, err)
		}
	})
}

// A query that waits for recent traces need not wait for the next round, and does not keep the node
// busy all the time.
func TestWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond})
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { n.Run(ctx) })
		time.Sleep(5 * time.Second)
		lists := s.Requests()["LIST"]
		begin := time.Now()
		for i := range 20 {
			if _, err := n.Append(t.Context(), []store.Record{testRecord(byte(i), "/a")}); err != nil {
				t.Fatal(err)
			}
			found := 0
			stats, err := n.Scan(t.Context(), store.Query{Page: "/a"}, func(store.Record) error { found++; return nil })
			if err != nil || found != i+1 || !stats.Complete() {
				t.Fatalf("got %d traces of %d, %v, %v", found, i+1, stats.Unreadable, err)
			}
		}
		if took := time.Since(begin); took > 40*time.Second {
			t.Errorf("20 queries took %v", took)
		}
		if lists = s.Requests()["LIST"] - lists; lists > 80 {
			t.Errorf("got %d list requests", lists)
		}
		stop()
		group.Wait()
	})
}

// If a node stops rolling up a shard, another node takes it over, but not too early. A released
// shard is taken immediately.
func TestTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := Options{Flush: time.Millisecond, Shards: 1}
		a, b := openNode(t, s, o), openNode(t, s, o)
		send := func(i byte) {
			if _, err := a.Append(t.Context(), []store.Record{testRecord(i, "/a")}); err != nil {
				t.Fatal(err)
			}
		}
		rolled := func(n *Node) uint64 { return n.Counters().RolledUp }
		send(1)
		a.round(t.Context(), roll.Work{})
		send(2)
		for range 2 {
			b.round(t.Context(), roll.Work{})
			time.Sleep(14 * time.Second)
		}
		if rolled(a) != 1 || rolled(b) != 0 {
			t.Fatalf("after 28 s: %d and %d", rolled(a), rolled(b))
		}
		time.Sleep(3 * time.Second)
		b.round(t.Context(), roll.Work{})
		if rolled(b) != 1 || a.Counters().Shards != 1 || b.Counters().Shards != 1 {
			t.Fatalf("after 31 s: %d; leading: %d and %d", rolled(b), a.Counters().Shards, b.Counters().Shards)
		}
		send(3)
		a.round(t.Context(), roll.Work{}) // it learns that another node owns the shard
		if rolled(a) != 1 || a.Counters().Shards != 0 {
			t.Errorf("the old node continues: %d", rolled(a))
		}
		b.roller.Release()
		a.round(t.Context(), roll.Work{})
		if rolled(a) != 2 {
			t.Errorf("released shards are not taken: %d", rolled(a))
		}
	})
}

// Nodes that receive traces share the shards, regardless of the order of their starts. If one
// stops, others take over its shards.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		var nodes []*Node
		var stops []func()
		var group sync.WaitGroup
		start := func() {
			n := openNode(t, s, Options{Flush: time.Millisecond})
			ctx, stop := context.WithCancel(t.Context())
			group.Go(func() { n.Run(ctx) })
			nodes, stops = append(nodes, n), append(stops, stop)
		}
		sent, dead := byte(0), map[int]bool{}
		traffic := func(d time.Duration) {
			for begin := time.Now(); time.Since(begin) < d; time.Sleep(5 * time.Second) {
				for i, n := range nodes {
					if sent++; !dead[i] {
						if _, err := n.Append(t.Context(), []store.Record{testRecord(sent, testPages...)}); err != nil {
							t.Error(err)
						}
					}
				}
			}
		}
		led := func() (out []int) {
			for i, n := range nodes {
				if !dead[i] {
					out = append(out, n.Counters().Shards)
				}
			}
			return out
		}
		start()
		traffic(time.Minute)
		if got := led(); got[0] != 8 {
			t.Fatalf("one node rolls up %v", got)
		}
		start()
		start()
		traffic(4 * time.Minute)
		lost := func() (n uint64) {
			for _, x := range nodes {
				n += x.Counters().LostRaces
			}
			return n
		}
		if got := led(); slices.Min(got) < 2 || slices.Max(got) > 3 {
			t.Errorf("three nodes roll up %v", got)
		}
		packed := lost()
		traffic(4 * time.Minute)
		if got := led(); slices.Min(got) < 2 || slices.Max(got) > 3 || lost() > packed {
			t.Errorf("four minutes later the nodes roll up %v, and lost %d races", got, lost()-packed)
		}
		dead[0] = true
		stops[0]()
		traffic(4 * time.Minute)
		if got := led(); got[0] != 4 || got[1] != 4 {
			t.Errorf("two nodes roll up %v", got)
		}
		for _, stop := range stops {
			stop()
		}
		group.Wait()
	})
}

// A node spools a trace, but its response is lost, so the client sends the trace to another node,
// which spools it as well. Both spools are emptied within a day, in different hours.
func TestTwoSpools(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := func(i int) Options {
			return Options{Spool: filepath.Join(dir, strconv.Itoa(i)), Flush: time.Millisecond, Shards: 1}
		}
		ca, cb := s.Client(), s.Client()
		a, err := Open(t.Context(), ca.Bucket(time.Now), o(1))
		if err != nil {
			t.Fatal(err)
		}
		b, err := Open(t.Context(), cb.Bucket(time.Now), o(2))
		if err != nil {
			t.Fatal(err)
		}
		c := openNode(t, s, Options{Flush: time.Millisecond, Shards: 1})
		if _, err := c.Append(t.Context(), []store.Record{testRecord(1, "/a")}); err != nil { // the hour exists
			t.Fatal(err)
		}
		settleNode(t.Context(), c, 4)
		ca.CutAfter(0)
		cb.CutAfter(0)
		for _, n := range []*Node{a, b} { // the first response was lost
			if res, err := n.Append(t.Context(), []store.Record{testRecord(2, "/a")}); err != nil ||
				res.Durability != store.Spool {
				t.Fatal(res, err)
			}
		}
		time.Sleep(90 * time.Minute)
		settleNode(t.Context(), c, 4) // closes the hour
		time.Sleep(2 * time.Hour)
		a2 := openNode(t, s, o(1)) // the first node is restarted
		if err := a2.writer.Unspool(t.Context()); err != nil {
			t.Fatal(err)
		}
		settleNode(t.Context(), c, 8)
		time.Sleep(3 * time.Hour)
		b2 := openNode(t, s, o(2)) // and the second one
		if err := b2.writer.Unspool(t.Context()); err != nil {
			t.Fatal(err)
		}
		settleNode(t.Context(), c, 8)
		if got := countOf(t, c); got[2] != 1 || got[1] != 1 {
			t.Errorf("got traces this many times: %v", got)
		}
	})
}
