package main

import (
	"context"
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
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// lagReader records the largest lag of all queries.
type lagReader struct {
	store.Reader
	asked *time.Duration
}

func (r lagReader) Select(ctx context.Context, q store.Query, want store.Wanted, trace func(store.Record) error,
	rolled func(store.Rolled) error) (store.ScanStats, error) {
	*r.asked = max(*r.asked, want.Lag)
	return r.Reader.Select(ctx, q, want, trace, rolled)
}

// TestAnswersLag checks that every query, Grafana's too, may be answered from slightly older sums,
// unless it asks for a fresh response.
func TestAnswersLag(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)
	s, end := storetest.OpenDirectory(t, t.TempDir(), func() time.Time { return noon })
	defer end()
	appendPage(t, s, "/page", 3)
	s.RollUp(t.Context())
	private := http.NewServeMux()
	var asked time.Duration
	answers{query.Local{Reader: lagReader{s.Reader, &asked}}, api.NewGate(api.GateOptions{}), nil, "shop",
		&audit{slog.New(slog.DiscardHandler)}, nil, nil, ""}.add(private)
	const samples = "wall:samples:count:wall:nanoseconds"
	for _, c := range []struct {
		name, path, header string
		lags               bool
	}{
		{"API", "/api/v1/top?page=/page", "", true},
		{"API now", "/api/v1/top?page=/page", "no-cache", false},
		{"Pyroscope", "/pyroscope/render?from=1&until=now&query=" + samples + "{page=%22/page%22}", "", true},
	} {
		asked = 0
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Header.Set("Cache-Control", c.header)
		private.ServeHTTP(w, r)
		var a struct {
			Traces      int64
			Flamebearer struct{ NumTicks int64 }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: got %d %s, want a response: %v", c.name, w.Code, w.Body, err)
		}
		if got := a.Traces + a.Flamebearer.NumTicks; got != 3 {
			t.Errorf("%s: got %d traces, want 3", c.name, got)
		}
		if got := asked > 0; got != c.lags || asked > answersLag { // the response cache uses part of the lag
			t.Errorf("%s: the reader was queried with a lag of %v, want a lag: %t, at most %v", c.name, asked, c.lags,
				answersLag)
		}
	}
}

// appendPage stores n traces of a page with one sample each.
func appendPage(t *testing.T, s store.Writer, page string, n int) {
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
		copy(r.ID.View[:], fmt.Sprintf("%s%08d", page, i))
		recs = append(recs, r)
	}
	if _, err := s.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
}

// After a restart, names that occurred in two hours of the last day have a place in the name quota.
func TestEstablishedNames(t *testing.T) {
	start := time.Now()
	now := start.Add(-3 * time.Hour)
	s, end := storetest.OpenDirectory(t, t.TempDir(), func() time.Time { return now })
	defer end()
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
	s.RollUp(t.Context())
	_, got := storedNames(t.Context(), s)
	if want := map[string][]string{"page": {"/old"}, "release": {"r1"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
