package shared

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

func openNode(t *testing.T, s *fakebucket.Server, o Options) *Node {
	t.Helper()
	n, err := Open(t.Context(), s.Client().Bucket(time.Now), o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func testRecord(n byte, pages ...string) store.Record {
	return store.Record{ID: store.ID{View: [16]byte{n}}, Pages: pages, Payload: []byte{n, 1, 2}}
}

func segmentsOf(t *testing.T, n *Node) (rows []layout.Row) {
	t.Helper()
	l, err := n.b.ListSegments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range l.List {
		o, err := n.b.Segment(t.Context(), l, s.Segment)
		if err != nil {
			t.Fatal(err)
		}
		for shard := range n.b.Shards {
			b, err := o.OfShard(t.Context(), shard)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, b.Rows...)
		}
	}
	slices.SortFunc(rows, func(a, b layout.Row) int { return layout.CompareRows(&a, &b) })
	return rows
}

// Callers that append at about the same time share a segment, and do not wait longer than
// necessary.
func TestAppendShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: 100 * time.Millisecond})
		before := s.Requests()["PUT"]
		begin := time.Now()
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				res, err := n.Append(t.Context(), []store.Record{testRecord(byte(i), "/a", "/b"), testRecord(byte(i),
					"/b", "/a")})
				if err != nil || res != (store.AppendResult{Stored: 1, Duplicates: 1, Durability: store.Bucket}) {
					t.Errorf("got %+v, %v", res, err)
				}
			})
		}
		group.Wait()
		if took := time.Since(begin); took != 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if puts := s.Requests()["PUT"] - before; puts != 1 {
			t.Errorf("%d segments", puts)
		}
		if rows := segmentsOf(t, n); len(rows) != 100 || rows[0].Page != "/a" || rows[0].Others[0] != "/b" {
			t.Errorf("%d rows", len(rows))
		}
	})
}

// Traces are retried for a while if the store is down, and then rejected. The number of waiting
// traces is bounded.
func TestStoreDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		client := s.Client()
		n, err := Open(t.Context(), client.Bucket(time.Now), Options{QueueTraces: 10})
		if err != nil {
			t.Fatal(err)
		}
		client.CutAfter(0)
		begin := time.Now()
		var group sync.WaitGroup
		group.Go(func() {
			_, err := n.Append(t.Context(), slices.Repeat([]store.Record{testRecord(1, "/a")}, 9))
			if !errors.Is(err, fakebucket.ErrCut) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(begin); took < 6*time.Second || took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
		})
		time.Sleep(time.Second)
		if _, err := n.Append(t.Context(), slices.Repeat([]store.Record{testRecord(2, "/a")}, 2)); !errors.Is(err,
			store.ErrBusy) {
			t.Errorf("got %v, want ErrBusy", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := n.Append(ctx, []store.Record{testRecord(3, "/a")}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		group.Wait()
		client.CutAfter(-1)
		time.Sleep(20 * time.Second)
		if _, err := n.Append(t.Context(), []store.Record{testRecord(4, "/a")}); err != nil {
			t.Errorf("when the store is back: %v", err)
		}
		if err := n.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := n.Append(t.Context(), []store.Record{testRecord(5, "/a")}); !errors.Is(err, store.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// The maximum wait while the store is down does not depend on how many segments wait to be stored
// first.
func TestStoreDownWithManyWaiting(t *testing.T) {
	for name, dir := range map[string]string{"spool": t.TempDir(), "no spool": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fakebucket.New(1).Client()
				n, err := Open(t.Context(), client.Bucket(time.Now), Options{Puts: 1, Flush: time.Millisecond,
					Spool: dir})
				if err != nil {
					t.Fatal(err)
				}
				client.CutAfter(0)
				most := n.opts.GiveUp
				if dir != "" {
					most = 2 * n.opts.SpoolAfter // waiting for a slot, and for the store
				}
				var group sync.WaitGroup
				for i := range 20 {
					time.Sleep(10 * time.Millisecond)
					group.Go(func() {
						begin := time.Now()
						res, err := n.Append(t.Context(), []store.Record{testRecord(byte(i), "/a")})
						spooled := res.Durability == store.Spool
						if spooled != (dir != "") || spooled == (err != nil) {
							t.Errorf("got %+v, %v", res, err)
						}
						if took := time.Since(begin); took > most+100*time.Millisecond {
							t.Errorf("it took %v", took)
						}
					})
				}
				group.Wait()
			})
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	n := openNode(t, fakebucket.New(1), Options{MaxPayload: 20, QueueBytes: 1 << 10})
	for _, c := range []struct {
		rec  store.Record
		want string
	}{
		{store.Record{Payload: []byte("x")}, "no page"},
		{testRecord(1, ""), "empty page"},
		{store.Record{Pages: []string{"/a"}, Payload: make([]byte, 21)}, "payload of 21 bytes"},
		{store.Record{Pages: slices.Repeat([]string{"/a"}, 50), Payload: make([]byte, 20)},
			"payload of 20 bytes for 50 pages"},
	} {
		_, err := n.Append(t.Context(), []store.Record{testRecord(2, "/a"), c.rec})
		if x, ok := errors.AsType[*store.RecordError](err); !ok || x.Index != 1 || !strings.Contains(x.Reason, c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if _, err := n.Append(t.Context(), slices.Repeat([]store.Record{testRecord(1, "/a")}, 100)); err == nil ||
		!strings.Contains(err.Error(), "than the queue can ever hold") {
		t.Errorf("got %v", err)
	}
}

// Open rejects a bucket that a newer release wrote, and a store that ignores conditions.
func TestOpenRefuses(t *testing.T) {
	s := fakebucket.New(1)
	s.Blind = true
	if _, err := Open(t.Context(), s.Client().Bucket(time.Now), Options{}); err == nil || !strings.Contains(err.Error(),
		"ignores conditions") {
		t.Errorf("got %v", err)
	}
	s.Blind = false
	b := s.Client().Bucket(time.Now)
	if _, err := OpenReader(t.Context(), b, Options{}); err == nil || !strings.Contains(err.Error(), "has no data") {
		t.Errorf("got %v", err)
	}
	for _, c := range []struct{ text, want string }{
		{`{"format":2,"shards":8}`, "use the newer release that wrote it"},
		{`{"format":1,"shards":0}`,
			`is damaged: "{\"format\":1,\"shards\":0}". Restore it from a copy, or write this line`},
		{`format 1`, `is damaged: "format 1". Restore it from a copy`},
	} {
		if _, err := b.Put(t.Context(), "FORMAT", []byte(c.text), objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), b, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.text, err)
		}
	}
	for _, o := range []Options{{Retention: time.Hour}, {Shards: 1000}, {Flush: -1}, {RollRows: -1}} {
		if _, err := Open(t.Context(), b, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
