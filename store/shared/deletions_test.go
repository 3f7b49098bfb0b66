package shared

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// Dry runs have a separate limit, and are deleted ten minutes after they finish.
func TestDryRunsTakeNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := openNode(t, fakebucket.New(1), Options{Shards: 1})
		var many *deletion.TooManyError
		for i := 0; many == nil; i++ {
			_, err := n.Delete(t.Context(), deletion.Selection{Page: fmt.Sprint("/nothing/", i)}, "test", true)
			if err != nil && !errors.As(err, &many) || i > 100 {
				t.Fatalf("dry run %d: got %v, want a bound of 100", i, err)
			}
		}
		req, err := n.Delete(t.Context(), deletion.Selection{Page: "/a"}, "test", false)
		if err != nil {
			t.Fatalf("a deletion with the maximum number of dry runs: got %v", err)
		}
		settleNode(t.Context(), n, 2)
		time.Sleep(many.RetryAfter + time.Minute)
		settleNode(t.Context(), n, 2)
		all, err := n.Deletions(t.Context(), 1000)
		if err != nil || len(all) != 1 || all[0].ID != req.ID || all[0].Done.IsZero() {
			t.Errorf("got %d requests, %v, want only the deletion, done", len(all), err)
		}
		if _, err := n.Delete(t.Context(), deletion.Selection{Page: "/b"}, "test", true); err != nil {
			t.Errorf("another dry run: %v", err)
		}
		m, _, err := n.b.Manifest(t.Context(), 0, 0)
		if err != nil || len(m.Deletions) != 1 {
			t.Errorf("a manifest has %d requests, %v, want 1", len(m.Deletions), err)
		}
	})
}

// One request deletes several page views, and no others.
func TestDeleteViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := openNode(t, fakebucket.New(1), Options{Flush: time.Millisecond})
		var recs []store.Record
		for i := range 6 {
			recs = append(recs, testRecord(byte(i+1), fmt.Sprint("/", i%3)))
		}
		if _, err := n.Append(t.Context(), recs); err != nil {
			t.Fatal(err)
		}
		s := deletion.Selection{}
		for _, rec := range recs[1:4] {
			s.Views = append(s.Views, hex.EncodeToString(rec.ID.View[:]))
		}
		req, err := n.Delete(t.Context(), s, "test", false)
		if err != nil {
			t.Fatal(err)
		}
		settleNode(t.Context(), n, 2)
		if req, err = n.Deletion(t.Context(), req.ID); err != nil || req.Counts.Traces != 3 {
			t.Errorf("deleted %+v, %v, want 3 traces", req, err)
		}
		ids := idsIn(t, n.Reader)
		for i, rec := range recs {
			if gone := i >= 1 && i < 4; ids[rec.ID] == gone {
				t.Errorf("trace %d is gone: got %t, want %t", i, !ids[rec.ID], gone)
			}
		}
	})
}

// A full disk accepts deletions, since they free space, but no traces.
func TestDeleteOnFullDisk(t *testing.T) {
	d, err := directory.Open(t.TempDir(), directory.Options{MinFree: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(t.Context(), d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close(t.Context()) }()
	if _, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a")}); !errors.Is(err, objects.ErrNoSpace) {
		t.Errorf("traces: got %v, want %v", err, objects.ErrNoSpace)
	}
	if _, err := n.Delete(t.Context(), deletion.Selection{Page: "/a"}, "test", false); err != nil {
		t.Errorf("a deletion: %v", err)
	}
}

// Each node is notified once of each deletion of pages, even if another node accepted it. It is not
// notified of dry runs and deletions of single traces.
func TestOnDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		var got [2][]string
		var nodes []*Node
		for i := range got {
			n := openNode(t, s, Options{Shards: 1})
			n.OnDelete(func(gone func(page string) bool) {
				for _, page := range []string{"/a", "/b", "shop:/c"} {
					if gone(page) {
						got[i] = append(got[i], page)
					}
				}
			})
			nodes = append(nodes, n)
		}
		for _, x := range []struct {
			s      deletion.Selection
			dryRun bool
		}{
			{deletion.Selection{Page: "/a"}, false},
			{deletion.Selection{Page: "/b"}, true},
			{deletion.Selection{Page: "/b", Views: []string{"5f0c1d0000000000000000000000feed"}}, false},
			{deletion.Selection{Site: "shop", Until: time.Now()}, false},
		} {
			if _, err := nodes[0].Delete(t.Context(), x.s, "test", x.dryRun); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		for range 3 {
			for _, n := range nodes {
				settleNode(t.Context(), n, 1)
			}
		}
		for i := range got {
			if want := []string{"/a", "shop:/c"}; !slices.Equal(got[i], want) {
				t.Errorf("node %d is notified of %q, want %q", i, got[i], want)
			}
		}
	})
}

// A forged request does not write or delete other objects, and does not block other requests.
func TestPoisonedDeletions(t *testing.T) {
	for what, text := range map[string]string{
		"id of another key": `{"version":1,"id":"../../shard/000/MANIFEST","at":"2000-01-01T00:00:00Z",` +
			`"selection":{"page":"/a"}}`,
		"marked as done": `{"version":1,"id":"POISON","at":"2000-01-01T00:00:00Z","selection":{"page":"/a"},` +
			`"done":"2000-01-01T00:00:00Z"}`,
		"everything": `{"version":1,"id":"POISON","at":"2000-01-01T00:00:00Z","selection":{}}`,
		"no JSON":    `{`,
	} {
		synctest.Test(t, func(t *testing.T) {
			n := openNode(t, fakebucket.New(1), Options{Flush: time.Millisecond, Shards: 1})
			if _, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a"), testRecord(2, "/b")}); err != nil {
				t.Fatal(err)
			}
			n.RollUp(t.Context())
			body, err := n.b.EncodeDeletion("POISON", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.b.Put(t.Context(), layout.OpenDeletions+"POISON", body, objects.Absent); err != nil {
				t.Fatal(err)
			}
			if what == "marked as done" { // it is applied
				if r, err := n.Deletion(t.Context(), "POISON"); err != nil || !r.Done.IsZero() {
					t.Errorf("%s: got %+v, %v, want a request that is not done", what, r, err)
				}
			}
			req, err := n.Delete(t.Context(), deletion.Selection{Page: "/b"}, "test", false)
			if err != nil {
				t.Fatal(err)
			}
			settleNode(t.Context(), n, 3)
			time.Sleep(25 * time.Hour)
			settleNode(t.Context(), n, 3)
			if r, err := n.Deletion(t.Context(), req.ID); err != nil || r.Done.IsZero() || r.Counts.Traces != 1 {
				t.Errorf("%s: the next request: got %+v, %v", what, r, err)
			}
			if _, _, err := n.b.Manifest(t.Context(), 0, 0); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			for _, key := range keysUnder(t, n, layout.Deletions) {
				if !deletion.IsID(key[strings.LastIndexByte(key, '/')+1:]) || strings.Count(key, "/") != 2 {
					t.Errorf("%s: object %s was written", what, key)
				}
			}
		})
	}
}
