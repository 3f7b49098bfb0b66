package shared

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// A lost or damaged manifest is restored from its copies and from runs that they do not name.
// Afterwards each trace is stored once, rollups equal the sum of the traces, and the running node
// continues.
func TestRestore(t *testing.T) {
	for _, c := range []struct {
		name    string
		deleted bool
		minutes int // minute of the last hour
		olds    int // number of damaged copies
	}{{"lost", true, 7, 0}, {"damaged", false, 7, 0}, {"an hour was just closed", true, 70, 0},
		{"some copies are damaged", true, 58, 5}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakebucket.New(1)
				n := openNode(t, s, Options{Flush: time.Millisecond, Shards: 1})
				sent := byte(0)
				minutes := func(count int) {
					for range count {
						sent++
						appendTo(t, n, sent)
						n.round(t.Context(), roll.Work{Close: true})
						time.Sleep(time.Minute)
					}
				}
				minutes(65)
				time.Sleep(time.Hour)
				minutes(c.minutes)
				keys := keysUnder(t, n, "shard/000/OLD-")
				if len(keys) < 6 || len(keys) > 8 {
					t.Fatalf("got %d copies of manifests", len(keys))
				}
				for i := range c.olds {
					damage(t, n, keys[len(keys)-1-i], i%2 == 0)
				}
				damage(t, n, layout.ManifestKey(0), c.deleted)
				sent++
				appendTo(t, n, sent)
				n.round(t.Context(), roll.Work{Close: true, Sweep: true})
				if err := n.Unready(); err == nil || !strings.Contains(err.Error(), "--verify --repair") {
					t.Errorf("unready: %v", err)
				}
				errand := openNode(t, s, Options{})
				v := verified(t, errand)
				if len(v.Findings) != 1 || !v.Findings[0].Mends || v.Findings[0].Object != layout.ManifestKey(0) {
					t.Fatalf("%+v", v.Findings)
				}
				if mended, err := errand.Repair(t.Context(), v); err != nil || mended != 1 {
					t.Fatalf("%d findings were repaired, %v", mended, err)
				}
				for i := range c.olds { // as Verify recommends
					damage(t, errand, keys[len(keys)-1-i], true)
				}
				minutes(20)
				time.Sleep(2 * time.Hour)
				minutes(2)
				if v := verified(t, n); len(v.Findings) > 0 || n.Unready() != nil {
					t.Errorf("after that: %+v, %v", v.Findings, n.Unready())
				}
				got := countOf(t, n)
				for i := range sent {
					if got[i+1] != 1 {
						t.Errorf("got trace %d %d times, want once", i+1, got[i+1])
					}
				}
			})
		})
	}
}

// After an older manifest was restored, unnamed runs are found and adopted.
func TestAdopt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond, Shards: 1})
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 4)
		got, err := n.b.Get(t.Context(), layout.ManifestKey(0), 1<<20, "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range byte(4) {
			time.Sleep(time.Hour)
			appendTo(t, n, 2+i)
			settleNode(t.Context(), n, 4)
		}
		time.Sleep(2 * time.Hour)
		if _, err := n.b.Put(t.Context(), layout.ManifestKey(0), got.Body, objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		errand := openNode(t, s, Options{})
		v := verified(t, errand)
		// Expected are the manifest, which is older than a copy; the first hour's run, which was
		// packed since, and its rollups; unnamed runs, one of them also packed.
		if len(v.Findings) != 9 {
			t.Errorf("%+v", v.Findings)
		}
		if _, err := errand.Repair(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		if v := verified(t, errand); len(v.Findings) > 0 {
			t.Errorf("after that: %+v", v.Findings)
		}
		if got := fmt.Sprint(countOf(t, errand)); got != "map[1:1 2:1 3:1 4:1 5:1]" {
			t.Error(got)
		}
	})
}

// A lost FORMAT is not written again, because the original may have had other values.
func TestLostFormat(t *testing.T) {
	s := fakebucket.New(1)
	n := openNode(t, s, Options{Shards: 3})
	n.RollUp(t.Context())
	got, err := n.b.Get(t.Context(), "FORMAT", 100, "")
	if err != nil {
		t.Fatal(err)
	}
	open := func() error {
		_, err := Open(t.Context(), s.Client().Bucket(time.Now), Options{})
		_, rerr := OpenReader(t.Context(), s.Client().Bucket(time.Now), Options{})
		if (err == nil) != (rerr == nil) {
			t.Errorf("%v, %v", err, rerr)
		}
		return err
	}
	for _, bad := range []string{"", strings.Replace(string(got.Body), ":3", ":2", 1)} {
		if bad == "" {
			damage(t, n, "FORMAT", true)
		} else if _, err := n.b.Put(t.Context(), "FORMAT", []byte(bad), objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		if err := open(); err == nil || !strings.Contains(err.Error(), "FORMAT is") {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := n.b.Put(t.Context(), "FORMAT", []byte(`{"format":1,"shards":3}`),
			objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		if err := open(); err != nil {
			t.Error(err)
		}
	}
}
