package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestAnswersLag checks that everybody who asks gets what was summed up a moment ago, Grafana
// too, unless a question is for an answer of now.
func TestAnswersLag(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)
	s, err := local.Open(t.TempDir(), local.Options{MemTableSize: 8 << 20, MinFree: -1, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	private := http.NewServeMux()
	answers{query.Local{Reader: s.Reader}, api.NewGate(api.GateOptions{}), nil, "shop", &audit{slog.New(slog.DiscardHandler)}, nil}.add(private)
	const samples = "wall:samples:count:wall:nanoseconds"
	for i, c := range []struct{ name, path string }{
		{"API", "/api/v1/top?page=%s"},
		{"Pyroscope", "/pyroscope/render?from=1&until=now&query=" + samples + "{page=%%22%s%%22}"},
	} {
		page := fmt.Sprint("/page", i)
		ask := func(header string) (traces int64) {
			t.Helper()
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, fmt.Sprintf(c.path, page), nil)
			r.Header.Set("Cache-Control", header)
			private.ServeHTTP(w, r)
			var a struct {
				Traces      int64
				Flamebearer struct{ NumTicks int64 }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s: got %d %s, want an answer; %v", c.name, w.Code, w.Body, err)
			}
			return a.Traces + a.Flamebearer.NumTicks
		}
		appendPage(t, s, page, 0, 200) // more than are read one by one
		if got := ask(""); got != 200 {
			t.Errorf("%s: got %d traces, want 200", c.name, got)
		}
		appendPage(t, s, page, 200, 1)
		if got := ask(""); got != 200 {
			t.Errorf("%s: got %d traces a moment later, want the 200 that were summed up", c.name, got)
		}
		if got := ask("no-cache"); i == 0 && got != 201 {
			t.Errorf("%s: got %d traces now, want 201", c.name, got)
		}
	}
}

// appendPage stores n traces of a page with one sample each.
func appendPage(t *testing.T, s *local.Store, page string, first, n int) {
	t.Helper()
	var recs []store.Record
	for i := range n {
		tr := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Page: page, Interval: 10_000}}
		tr.Samples = []trie.Sample{{Node: tr.Insert(trie.Frame{Name: "f"})}, {Time: 10_000}}
		payload, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		r := store.Record{Pages: []string{page}, Payload: payload}
		copy(r.ID.View[:], fmt.Sprintf("%s%08d", page, first+i))
		recs = append(recs, r)
	}
	if _, err := s.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
}

// What the last day had in two hours has its places after a start.
func TestEstablishedNames(t *testing.T) {
	start := time.Now()
	now := start.Add(-3 * time.Hour)
	s, err := local.Open(t.TempDir(), local.Options{MemTableSize: 8 << 20, MinFree: -1, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	put := func(n int, page string, tags ...store.Tag) {
		r := store.Record{Pages: []string{page}, Tags: tags, Payload: []byte("x")}
		copy(r.ID.View[:], fmt.Sprintf("%s%d", page, n))
		if _, err := s.Append(t.Context(), []store.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	release := store.Tag{Key: "release", Value: "r1"}
	put(1, "/old", release, store.Tag{Key: "feature", Value: "once"})
	now = start
	put(2, "/old", release)
	put(3, "/new", store.Tag{Key: "release", Value: "r2"})
	_, got := storedNames(t.Context(), s)
	if want := map[string][]string{"page": {"/old"}, "release": {"r1"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
