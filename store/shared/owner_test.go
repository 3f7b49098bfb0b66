package shared

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// A node finds a shard without an owner, and another node takes the shard before the first one
// commits. The first node must lose that race, and not take the shard from a live owner.
func TestOneOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := Options{Flush: time.Millisecond, Shards: 1}
		first := openNode(t, s, o)
		if _, err := first.Append(t.Context(), []store.Record{testRecord(1, "/a")}); err != nil {
			t.Fatal(err)
		}
		first.round(t.Context(), roll.Work{})
		first.roller.Release() // a manifest exists now, and no node owns the shard
		ca, cb := s.Client(), s.Client()
		a, err := Open(t.Context(), ca.Bucket(time.Now), o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Open(t.Context(), cb.Bucket(time.Now), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := first.Append(t.Context(), []store.Record{testRecord(2, "/a")}); err != nil {
			t.Fatal(err)
		}
		let, done := make(chan bool), make(chan bool)
		manifest := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/MANIFEST") }
		cb.Before = func(r *http.Request) {
			if r.Method == http.MethodPut && manifest(r) {
				<-let // it has listed segments, and is about to take the shard
			}
		}
		go func() {
			defer close(done)
			b.round(context.WithoutCancel(t.Context()), roll.Work{})
		}()
		synctest.Wait()
		if _, err := first.Append(t.Context(), []store.Record{testRecord(3, "/a")}); err != nil {
			t.Fatal(err)
		}
		var gets atomic.Int32
		var once sync.Once
		ca.Before = func(r *http.Request) {
			// The second request shows that the shard is free. Before the next one, the other node
			// takes it.
			if manifest(r) && (r.Method == http.MethodPut || gets.Add(1) == 3) {
				once.Do(func() {
					close(let)
					<-done
				})
			}
		}
		a.round(t.Context(), roll.Work{})
		m, _, err := first.b.Manifest(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("owner %s; a counts %d shards as its own, b %d", m.Owner, a.Counters().Shards, b.Counters().Shards)
		if a.Counters().Shards > 0 && b.Counters().Shards > 0 {
			t.Error("two live nodes both count the shard as their own")
		}
	})
}

// If four nodes start together, each shard gets an owner soon: no shard waits longer than a round
// and the time for which a node leaves a shard to others. RUNS is the number of runs. Before nodes
// read all manifests first, one run in fifty failed.
func TestEachShardHasOwner(t *testing.T) {
	runs, _ := strconv.Atoi(os.Getenv("RUNS"))
	failed := 0
	for i := range max(runs, 1) {
		synctest.Test(t, func(t *testing.T) {
			s := fakebucket.New(1)
			s.Took = 30 * time.Millisecond
			ctx, cancel := context.WithCancel(t.Context())
			var g sync.WaitGroup
			var list []*Node
			begin := time.Now()
			for range 4 {
				n, err := Open(ctx, s.Client().Bucket(time.Now), Options{Retention: 24 * time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, n)
				name := fmt.Sprintf("%08d", len(list))
				g.Go(func() { n.Run(ctx) })
				g.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						rec := testRecord(1, "/page/"+strconv.Itoa(i%40))
						copy(rec.ID.View[:], fmt.Sprintf("%s%08x", name, i))
						if _, err := n.Append(ctx, []store.Record{rec}); err != nil && ctx.Err() == nil &&
							!errors.Is(err, context.Canceled) {
							t.Log(err)
						}
						time.Sleep(20 * time.Millisecond)
					}
				})
			}
			var hist []string
			last, changed, bad := map[int]string{}, map[int]time.Time{}, false
			w, err := OpenReader(ctx, s.Client().Bucket(time.Now), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for range 90 {
				time.Sleep(500 * time.Millisecond)
				for shard := range w.b.Shards {
					m, _, err := w.b.Manifest(ctx, shard, 0)
					if err != nil || m.Nonce == last[shard] {
						continue
					}
					if d := time.Since(changed[shard]); !changed[shard].IsZero() && d > 20*time.Second {
						bad = true
						hist = append(hist, fmt.Sprintf("%v shard %d: stood still for %v",
							time.Since(begin).Round(time.Millisecond), shard, d.Round(time.Second)))
					}
					var led []int
					for _, n := range list {
						led = append(led, n.Counters().Shards)
					}
					hist = append(hist, fmt.Sprintf("%v shard %d: owner %q, nodes take for theirs %v",
						time.Since(begin).Round(time.Millisecond), shard, m.Owner, led))
					last[shard], changed[shard] = m.Nonce, time.Now()
				}
			}
			if bad {
				failed++
				t.Logf("run %d:", i)
				for _, h := range hist {
					t.Log(h)
				}
			}
			cancel()
			g.Wait()
			time.Sleep(time.Minute)
		})
	}
	if failed > 0 {
		t.Errorf("in %d of %d runs a shard had no owner for too long", failed, max(runs, 1))
	}
}
