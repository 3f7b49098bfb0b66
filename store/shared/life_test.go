package shared

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// life is a set of nodes that run as in production, for days of virtual time.
type life struct {
	*world
	machines []*machine
	sending  sync.WaitGroup

	mu sync.Mutex // guards what the world knows of traces
}

// machine is one of the nodes, with a disk that outlives its process.
type machine struct {
	client *fakebucket.Client
	node   *Node
	spool  string
	stop   func()
}

func (l *life) begin(m *machine) {
	off := time.Duration(l.rnd.IntN(1180)-590) * time.Second
	m.client = l.server.Client()
	o := Options{Shards: 2, Retention: 30 * time.Hour, RollEvery: time.Minute, Spool: m.spool}
	for {
		var err error
		if m.node, err = Open(l.t.Context(), m.client.Bucket(func() time.Time {
			return time.Now().Add(off)
		}), o); err == nil {
			break
		}
		time.Sleep(time.Second) // the store sometimes rejects requests
	}
	ctx, cancel := context.WithCancel(l.t.Context())
	done := make(chan struct{})
	n := m.node
	go func() {
		defer close(done)
		n.Run(ctx)
	}()
	m.stop = func() {
		cancel()
		<-done
	}
}

// send sends a trace to a node, and may send it again.
func (l *life) send(m *machine) {
	var recs []store.Record
	l.mu.Lock()
	for range 1 + l.rnd.IntN(8) {
		rec := l.record()
		l.maybe[rec.ID] = true
		recs = append(recs, rec)
	}
	l.mu.Unlock()
	n := m.node
	l.sending.Go(func() {
		if _, err := n.Append(l.t.Context(), recs); err != nil {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := range recs {
			l.acked[recs[i].ID] = append(l.acked[recs[i].ID], time.Now())
		}
	})
}

// something performs a random event on a node, or none.
func (l *life) something(m *machine) {
	switch l.rnd.IntN(60) {
	case 0: // a crash
		m.client.CutAfter(l.rnd.IntN(7))
		time.Sleep(time.Duration(l.rnd.IntN(3)) * time.Minute)
		m.client.CutAfter(0)
		m.stop()
		time.Sleep(time.Duration(l.rnd.IntN(5)) * time.Minute)
		l.begin(m)
	case 1: // an update
		m.stop()
		if err := m.node.Close(l.t.Context()); err == nil {
			time.Sleep(10 * time.Second)
		}
		l.begin(m)
	case 2: // the store is unreachable for a while
		m.client.CutAfter(0)
		for range l.rnd.IntN(20) {
			l.send(m)
			time.Sleep(time.Duration(l.rnd.IntN(20)) * time.Second)
		}
		m.client.CutAfter(-1)
	case 3: // a burst of traces
		for range 30 {
			l.send(m)
		}
	default:
		l.send(m)
	}
}

// TestLife runs nodes for 40 hours of virtual time: hours and days end under load, nodes start and
// stop, their clocks are wrong, and the store rejects requests and loses answers. At the end each
// acknowledged trace is stored once, and rollups equal the sum of the traces. HOURS is the number
// of hours, and SEED selects the events.
func TestLife(t *testing.T) {
	hours, _ := strconv.Atoi(os.Getenv("HOURS"))
	if hours == 0 {
		hours = 40
		if testing.Short() {
			hours = 12
		}
	}
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server := fakebucket.New(seed)
		server.Faults = 0.01
		l := &life{world: &world{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), server: server, nodes: make([]*actor, 1),
			acked: map[store.ID][]time.Time{}, maybe: map[store.ID]bool{}, busy: map[*roll.Shard]bool{},
			views: map[lostView][2]int64{}}}
		for i := range 3 {
			m := &machine{spool: fmt.Sprintf("%s/%d", dir, i)}
			l.begin(m)
			l.machines = append(l.machines, m)
		}
		for begin := time.Now(); time.Since(begin) < time.Duration(hours)*time.Hour; {
			time.Sleep(time.Duration(l.rnd.IntN(360)) * time.Second)
			l.something(l.machines[l.rnd.IntN(len(l.machines))])
		}
		l.sending.Wait()
		time.Sleep(3 * time.Minute) // wait until spools are empty and shards are rolled up
		for _, m := range l.machines {
			if segments := m.node.Counters().SpoolSegments; segments > 0 {
				t.Errorf("%d segments are still in a spool", segments)
			}
			for shard, lag := range m.node.Counters().Lags {
				if lag > 2*time.Minute {
					t.Errorf("a segment has waited for %v to be rolled up in shard %d", lag, shard)
				}
			}
		}
		for _, m := range l.machines {
			m.stop()
		}
		l.now = time.Now()
		server.Now = func() time.Time { return l.now }
		defer func() {
			if wrong, ok := recover().(failure); ok {
				t.Error(string(wrong))
			}
		}()
		l.check(l.settle())
		t.Logf("%d traces were sent, and %d of them acknowledged; requests: %v", len(l.sent), len(l.acked),
			server.Requests())
	})
}

// A store that accepts requests but does not respond for hours delays nothing for longer than that.
func TestStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fakebucket.New(1).Client()
		n, err := Open(t.Context(), client.Bucket(time.Now), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var hangs atomic.Bool
		client.Before = func(r *http.Request) {
			if hangs.Load() {
				<-r.Context().Done()
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { n.Run(ctx) })
		for i := range byte(5) {
			if _, err := n.Append(t.Context(), []store.Record{testRecord(2*i, "/a")}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(i) * 7 * time.Second) // so that it hangs at different points of a round
			hangs.Store(true)
			time.Sleep(2 * time.Hour)
			if n.Unready() == nil {
				t.Error("the node reports that it is ready")
			}
			begin := time.Now()
			if _, err := n.Append(t.Context(), []store.Record{testRecord(2*i+1, "/a")}); err == nil ||
				time.Since(begin) > 10*time.Second {
				t.Errorf("got %v after %v", err, time.Since(begin))
			}
			hangs.Store(false)
			time.Sleep(5 * time.Minute)
			if got := n.Counters(); got.RolledUp < uint64(i)+1 || n.Unready() != nil {
				t.Errorf("five minutes later %d of %d traces are rolled up; %v", got.RolledUp, i+1, n.Unready())
			}
		}
		stop()
		group.Wait()
	})
}
