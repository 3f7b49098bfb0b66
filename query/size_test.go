package query

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An answer that would take too much memory is refused while it is made, whether it is merged
// of traces or of sums.
func TestAnswerSize(t *testing.T) {
	traces := newFixture(t).local()
	sums, _ := rolledField(t, 600)
	for name, l := range map[string]Local{"traces": traces, "sums": sums} {
		whole, err := l.Profile(t.Context(), Selection{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.MaxSize = whole.Profile.Size() / 2
		h := Handler(l, Options{Now: fixedNow})
		for _, target := range []string{
			"/api/v1/profile?", "/api/v1/profile?group_by=page,release", "/api/v1/top?", "/api/v1/tree?", "/api/v1/callers?name=main",
			"/api/v1/compare?release=r2&compare_label=release=~.*&method=sums", "/pprof/profile?",
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "ask for one page or feature, less time, or fewer labels") {
				t.Errorf("%s: %s: got %d %.200s, want 422 and what to ask for", name, target, w.Code, w.Body)
			}
		}
		_, err = l.Profile(t.Context(), Selection{}, nil)
		if x, ok := errors.AsType[*TooLargeError](err); !ok || x.Most != l.MaxSize {
			t.Errorf("%s: got %v, want a TooLargeError of %d", name, err, l.MaxSize)
		}
		if _, err := l.Labels(t.Context(), Selection{}); err != nil {
			t.Errorf("%s: labels: got %v, want an answer, which has no stacks", name, err)
		}
		l.MaxSize = 3 * whole.Profile.Size() // both parts of the merge, and the room they grow into
		if again, err := l.Profile(t.Context(), Selection{}, nil); err != nil || !again.Profile.Equal(whole.Profile) {
			t.Errorf("%s: with room enough: got %v, want the whole answer", name, err)
		}
	}
}
