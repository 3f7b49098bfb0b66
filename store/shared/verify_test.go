package shared

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/check"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

func idOf(rnd *rand.Rand) (id store.ID) {
	binary.BigEndian.PutUint64(id.View[:], rnd.Uint64())
	return id
}

// keysUnder returns the keys of objects with a prefix.
func keysUnder(t testing.TB, n *Node, prefix string) (keys []string) {
	t.Helper()
	for e, err := range n.b.List(t.Context(), prefix, "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, e.Key)
	}
	return keys
}

// damage flips a bit in the first block of an object, or deletes the object.
func damage(t testing.TB, n *Node, k string, deleted bool) {
	t.Helper()
	if deleted {
		if err := n.b.Delete(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := n.b.Get(t.Context(), k, 1<<30, "")
	if err != nil {
		t.Fatal(err)
	}
	got.Body[3] ^= 1 // in the first block
	if _, err := n.b.Put(t.Context(), k, got.Body, objects.Condition{}); err != nil {
		t.Fatal(err)
	}
}

func verified(t testing.TB, n *Node) check.Verified {
	t.Helper()
	v, err := n.Verify(t.Context(), quietly)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func quietly(int, int, uint64) {}

// aged is a bucket with the data of several days. Of the first day only the daily rollups are left,
// of the second day the hourly rollups, and of the third day the traces.
type aged struct {
	t      testing.TB
	server *fakebucket.Server
	now    time.Time
	rnd    *rand.Rand
}

// newAged returns a bucket that was created some days ago.
func newAged(t testing.TB, seed uint64) *aged {
	t.Helper()
	a := &aged{t: t, server: fakebucket.New(seed), now: time.Date(2026, 11, 18, 10, 10, 0, 0, time.UTC),
		rnd: rand.New(rand.NewPCG(seed, 2))}
	a.server.Now = func() time.Time { return a.now }
	n := a.open(Options{Retention: 12 * time.Hour, HourRetention: 30 * time.Hour})
	settle := func() {
		for range 2 {
			a.now = a.now.Add(time.Minute)
			n.round(t.Context(), roll.Work{Close: true, Sweep: true})
		}
	}
	for _, d := range []time.Duration{0, 0, time.Hour, 22*time.Hour + 30*time.Minute, time.Hour,
		13*time.Hour + 20*time.Minute, 0, 7 * time.Hour, time.Hour} {
		a.now = a.now.Add(d)
		settle()
		if _, err := n.Append(t.Context(), a.records(10+a.rnd.IntN(20))); err != nil {
			t.Fatal(err)
		}
		n.CountViews("/cart", "unsampled", int64(1+a.rnd.IntN(9)))
	}
	settle()
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.roller.Release()
	return a
}

// open returns a node on the bucket.
func (a *aged) open(o Options) *Node {
	a.t.Helper()
	o.Shards, o.Flush = 3, time.Millisecond
	n, err := Open(a.t.Context(), a.server.Client().Bucket(a.server.Now), o)
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// records returns n traces.
func (a *aged) records(n int) (out []store.Record) {
	for range n {
		out = append(out, recordOf(idOf(a.rnd), a.rnd))
	}
	return out
}

// TestVerifyBucket damages and deletes objects of each kind. Verify finds all of them, and Repair
// rebuilds what it can.
func TestVerifyBucket(t *testing.T) {
	a := newAged(t, 7)
	n := a.open(Options{})
	for range 2 {
		a.now = a.now.Add(20 * time.Hour)
		n.round(t.Context(), roll.Work{Close: true})
	}
	if _, err := n.Append(t.Context(), a.records(20)); err != nil {
		t.Fatal(err)
	}
	v := verified(t, n)
	if len(v.Findings) > 0 || v.Objects == 0 || v.Hours == 0 || v.Traces == 0 {
		t.Fatalf("an undamaged bucket has findings: %+v", v)
	}
	n.round(t.Context(), roll.Work{})
	if v = verified(t, n); len(v.Findings) > 0 {
		t.Fatalf("an undamaged bucket has findings: %+v", v)
	}
	b := &both{t: t, now: a.now, node: n, coarse: time.Minute}
	profile := func() string {
		out, err := b.answers(t.Context(), query.Local{Reader: n.Reader}, selection.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		return out[0] + out[3]
	}
	want := profile()
	withRaw := keysUnder(t, n, "raw/")
	kinds := map[string]bool{}
	for _, kind := range []string{"raw/", "hours/", "days/"} {
		for i, k := range keysUnder(t, n, kind) {
			if i%2 > 0 {
				continue
			}
			before, err := n.b.Get(t.Context(), k, 1<<30, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, deleted := range []bool{false, true} {
				damage(t, n, k, deleted)
				v := verified(t, n)
				part := strings.Split(k, "/")
				hasRaw := slices.ContainsFunc(withRaw, func(r string) bool {
					return strings.HasPrefix(r, "raw/"+part[1]+"/"+part[2])
				})
				mends := kind == "days/" && part[2] != "20261118" || kind == "hours/" && hasRaw
				kinds[fmt.Sprint(kind, mends)] = true
				what := fmt.Sprintf("%s, deleted: %v: %+v", k, deleted, v.Findings)
				if len(v.Findings) != 1 || v.Findings[0].Object != k || v.Findings[0].Mends != mends ||
					v.Findings[0].Do == "" {
					t.Fatal(what)
				}
				mended, err := n.Repair(t.Context(), v)
				if err != nil || (mended > 0) != mends {
					t.Fatalf("%s: %d findings were repaired, %v", what, mended, err)
				}
				if !mends || !deleted { // replaced objects may be left
					if _, err := n.b.Put(t.Context(), k, before.Body, objects.Condition{}); err != nil {
						t.Fatal(err)
					}
				}
				if v := verified(t, n); len(v.Findings) > 0 {
					t.Fatalf("%s: findings after the repair: %+v", what, v.Findings)
				}
				if got := profile(); got != want {
					t.Fatalf("%s: the responses differ:\n%s\nwant\n%s", what, around(got, want), around(want, got))
				}
				if mends {
					break // another object has replaced it
				}
			}
		}
	}
	if len(kinds) != 5 {
		t.Errorf("not all kinds of objects occurred, both with and without their sources: %v", kinds)
	}
}

// TestVerifySums replaces rollups by other valid ones.
func TestVerifySums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	b := newBoth(t)
	n := b.node
	for range 2 {
		b.append(recordOf(idOf(rnd), rnd), recordOf(idOf(rnd), rnd))
		b.settle()
	}
	keys := keysUnder(t, n, "hours/")
	for _, k := range keys {
		for _, other := range keys {
			if other == k {
				continue
			}
			was, err := n.b.Get(t.Context(), k, 1<<30, "")
			if err != nil {
				t.Fatal(err)
			}
			is, err := n.b.Get(t.Context(), other, 1<<30, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.b.Put(t.Context(), k, is.Body, objects.Condition{}); err != nil {
				t.Fatal(err)
			}
			v := verified(t, n)
			if len(v.Findings) != 1 || !v.Findings[0].Mends {
				t.Errorf("%s replaced by %s: %+v", other, k, v.Findings)
			}
			if _, err := n.b.Put(t.Context(), k, was.Body, objects.Condition{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestVerifyManifest deletes and damages a manifest.
func TestVerifyManifest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	for _, deleted := range []bool{true, false} {
		b := newBoth(t)
		for range 9 {
			b.append(recordOf(idOf(rnd), rnd))
		}
		b.settle()
		k := keysUnder(t, b.node, "shard/")[0]
		damage(t, b.node, k, deleted)
		s, err := OpenReader(t.Context(), b.node.b.Store, Options{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Verify(t.Context(), quietly)
		if err != nil || len(v.Findings) != 1 || v.Findings[0].Object != k || !v.Findings[0].Mends {
			t.Errorf("deleted: %v: %+v, %v", deleted, v.Findings, err)
		}
	}
}
