package shared

import (
	"context"
	"encoding/hex"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// unreadable is the number of later requests for the manifest that fail.
const unreadable = 5

// flaky loses the response to the first PUT of a manifest that follows the PUT of a run, and the
// responses to the next requests for the manifest, like a network that is down for a second.
type flaky struct {
	of    *fakebucket.Client
	state atomic.Int32 // 0 off, 1 waits for a run, 2 for a manifest, 3 and more: requests for the manifest fail
}

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	isManifest := strings.HasSuffix(r.URL.Path, "/MANIFEST")
	switch s := f.state.Load(); {
	case s == 1 && r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, ".run"):
		f.state.Store(2)
	case s == 2 && r.Method == http.MethodPut && isManifest:
		f.state.Store(3)
		if res, err := f.of.RoundTrip(r); err == nil {
			_ = res.Body.Close()
		}
		return nil, fakebucket.ErrCut // it is stored, but the response is lost
	case s >= 3 && r.Method == http.MethodGet && isManifest:
		if s++; s < 3+unreadable {
			f.state.Store(s)
		} else {
			f.state.Store(0)
		}
		return nil, fakebucket.ErrCut
	}
	return f.of.RoundTrip(r)
}

// The new manifest of a deletion of one page view is stored, but its response is lost. The other
// traces of the hour must be kept, and the page view must be deleted.
func TestDeletionLosesAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		f := &flaky{of: s.Client()}
		b, err := bucket.Open(t.Context(), bucket.Location{Bucket: fakebucket.Name, Prefix: "p/",
			Endpoint: "http://store.test", Region: "r"},
			bucket.Options{Transport: f, Now: time.Now, Attempts: 3, Pause: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		n, err := Open(t.Context(), b, Options{Flush: time.Millisecond, Shards: 1})
		if err != nil {
			t.Fatal(err)
		}
		var recs []store.Record
		for i := range 5 {
			recs = append(recs, testRecord(byte(i+1), "/a"))
		}
		if _, err := n.Append(t.Context(), recs); err != nil {
			t.Fatal(err)
		}
		settleNode(t.Context(), n, 2)
		f.state.Store(1)
		if _, err := n.Delete(t.Context(), deletion.Selection{Views: []string{hex.EncodeToString(recs[0].ID.View[:])}},
			"test", false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for range 4 {
			n.round(context.Background(), roll.Work{Close: true})
			time.Sleep(15 * time.Second)
		}
		if f.state.Load() != 0 {
			t.Fatalf("the fault is in state %d, so it did not occur", f.state.Load())
		}
		found := 0
		st, err := n.Scan(t.Context(), store.Query{}, func(store.Record) error { found++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range st.Unreadable {
			t.Logf("unreadable: %s: %v", u.Partition, u.Err)
		}
		if found != 4 {
			t.Errorf("got %d traces, want the 4 other traces", found)
		}
	})
}
