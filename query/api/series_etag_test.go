package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/fixture"
)

// The response of a series without since changes with time, and so does its ETag.
func TestSeriesETag(t *testing.T) {
	f := fixture.New(t)
	now := fixture.Noon.Add(2 * time.Hour)
	h := Handler(localOf(f), Options{Now: func() time.Time { return now }})
	ask := func(target, tag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Header.Set("If-None-Match", tag)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, target := range []string{"/api/v1/series", "/api/v1/series?step=1h", "/api/v1/series?since=2026-11-20"} {
		now = fixture.Noon.Add(2 * time.Hour)
		before := ask(target, "")
		tag := before.Header().Get("ETag")
		if w := ask(target, tag); tag == "" || w.Code != http.StatusNotModified {
			t.Errorf("%s: ETag %q, then %d", target, tag, w.Code)
		}
		now = fixture.Noon.Add(20 * 24 * time.Hour)
		if w := ask(target, tag); w.Code != http.StatusOK || w.Body.String() == before.Body.String() {
			t.Errorf("%s: later it is %d, %s", target, w.Code, w.Body)
		}
	}
	// Explicit parameters with the default values return the same response.
	now = fixture.Noon.Add(2 * time.Hour)
	if got, want := ask("/api/v1/series", "").Body.String(), ask("/api/v1/series?since=24h&step=1h",
		"").Body.String(); got != want || !strings.Contains(got, `"step_seconds":3600`) {
		t.Errorf("got %s, want %s", got, want)
	}
}
