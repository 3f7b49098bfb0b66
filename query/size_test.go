package query

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// All answers in the making have so much memory together, of which large ones leave some to
// small ones.
func TestAnswersShareMemory(t *testing.T) {
	m := NewMemory(100 << 20)
	l := Local{Memory: m}
	large, other, small := l.room(), l.room(), l.room()
	if err := large.fits(70 << 20); err != nil {
		t.Fatal(err)
	}
	if err := large.fits(60 << 20); err != nil || m.Used() != 60<<20 { // what is flushed takes less
		t.Fatalf("%d bytes are used, %v", m.Used(), err)
	}
	_, crowded := errors.AsType[*CrowdedError](other.fits(17 << 20))
	if !crowded || m.Used() != 60<<20 {
		t.Errorf("a second large answer fits beside the first: %d bytes are used", m.Used())
	}
	if err := small.fits(16 << 20); err != nil {
		t.Errorf("a small answer does not fit: %v", err)
	}
	large.release()
	if err := other.fits(50 << 20); err != nil {
		t.Errorf("when the first is done the second does not fit: %v", err)
	}
	other.release()
	small.release()
	if m.Used() != 0 {
		t.Errorf("%d bytes are used by nobody", m.Used())
	}
}

// A question that finds no memory is answered 503, and gives back what it took.
func TestCrowded(t *testing.T) {
	l := newFixture(t).local()
	l.Memory = NewMemory(1000)
	w := httptest.NewRecorder()
	Handler(l, Options{Now: fixedNow}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/profile?", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "try again") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if n := l.Memory.Used(); n != 0 {
		t.Errorf("%d bytes are used by nobody", n)
	}
}

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
		l.MaxSize = 32<<20 + 3*whole.Profile.Size() // rows of sums, both parts of the merge, and the room they grow into
		if again, err := l.Profile(t.Context(), Selection{}, nil); err != nil || !again.Profile.Equal(whole.Profile) {
			t.Errorf("%s: with room enough: got %v, want the whole answer", name, err)
		}
	}
}
