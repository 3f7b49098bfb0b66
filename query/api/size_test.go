package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/memory"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
)

// A query without enough memory gets 503 and releases the memory that it reserved.
func TestCrowded(t *testing.T) {
	l := localOf(fixture.New(t))
	l.Memory = memory.NewBound(1000)
	w := httptest.NewRecorder()
	Handler(l, Options{Now: fixture.Now}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/profile?", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
		!strings.Contains(w.Body.String(), "try again") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if n := l.Memory.Used(); n != 0 {
		t.Errorf("%d bytes were not released", n)
	}
}

// A response that would take too much memory is refused while it is merged, from traces or from
// rollups.
func TestAnswerSize(t *testing.T) {
	traces := localOf(fixture.New(t))
	sums, _ := rolledField(t, 600)
	for name, l := range map[string]query.Local{"traces": traces, "sums": sums} {
		whole, err := l.Profile(t.Context(), selection.Selection{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.MaxSize = whole.Profile.Size() / 2
		h := Handler(l, Options{Now: fixture.Now})
		for _, target := range []string{
			"/api/v1/profile?", "/api/v1/profile?group_by=page,release", "/api/v1/top?", "/api/v1/tree?",
			"/api/v1/callers?name=main",
			"/api/v1/compare?release=r2&compare_label=release=~.*&method=sums", "/pprof/profile?",
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(),
				"ask for one page or feature, less time, or fewer labels") {
				t.Errorf("%s: %s: got %d %.200s, want 422 and a hint", name, target, w.Code, w.Body)
			}
		}
		_, err = l.Profile(t.Context(), selection.Selection{}, nil)
		if x, ok := errors.AsType[*memory.TooLargeError](err); !ok || x.Most != l.MaxSize {
			t.Errorf("%s: got %v, want a TooLargeError of %d", name, err, l.MaxSize)
		}
		if _, err := l.Labels(t.Context(), selection.Selection{}); err != nil {
			t.Errorf("%s: labels: got %v, want a response, because labels need no stacks", name, err)
		}
		// rows of sums, both parts of the merge, and the room they grow into
		l.MaxSize = 32<<20 + 3*whole.Profile.Size()
		if again, err := l.Profile(t.Context(), selection.Selection{}, nil); err != nil ||
			!again.Profile.Equal(whole.Profile) {
			t.Errorf("%s: with enough memory: got %v, want the complete response", name, err)
		}
	}
}
