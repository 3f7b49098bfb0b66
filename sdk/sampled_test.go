package sdk

import (
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// page is a site with one page, which exposes the decision.
var page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Decided", serverTiming(Decided(r)))
	_, _ = w.Write([]byte("page"))
})

func TestSampled(t *testing.T) {
	for _, c := range []struct {
		share, draw float64
		timing      string
		chosen      bool
	}{
		{0.05, 0.04, "fieldtrie;dur=0.05", true},
		{0.05, 0.05, "fieldtrie;dur=0", false},
		{0.05, 0.99, "fieldtrie;dur=0", false},
		{0.0000001, 0, "fieldtrie;dur=0.0000001", true},
		{1.0 / 3, 0, "fieldtrie;dur=0.3333333333333333", true},
		{1, 0.9999999999999999, "fieldtrie;dur=1", true},
		{7, 0.5, "fieldtrie;dur=1", true},
		{math.Inf(1), 0.5, "fieldtrie;dur=1", true},
		{0, 0, "fieldtrie;dur=0", false},
		{math.Copysign(0, -1), 0, "fieldtrie;dur=0", false},
		{-1, 0, "fieldtrie;dur=0", false},
		{math.NaN(), 0, "fieldtrie;dur=0", false},
	} {
		h := &sampler{page, func(*http.Request) float64 { return c.share }, func() float64 { return c.draw }}
		w := get(h, "GET", "/feed", "Sec-Fetch-Dest", "document")
		if got := w.Header().Values("Server-Timing"); !slices.Equal(got, []string{c.timing}) {
			t.Errorf("%v, %v: Server-Timing is %q, want %q", c.share, c.draw, got, c.timing)
		}
		if got := w.Header().Get("Decided"); got != c.timing {
			t.Errorf("%v, %v: the document has %q, want %q", c.share, c.draw, got, c.timing)
		}
		want := []string{"js-profiling=?0"}
		if c.chosen {
			want = []string{"js-profiling, js-profiling-mode=lazy"}
		}
		if got := w.Header().Values("Document-Policy"); !slices.Equal(got, want) {
			t.Errorf("%v, %v: Document-Policy is %q, want %q", c.share, c.draw, got, want)
		}
		if w.Body.String() != "page" || w.Header().Get("Vary") != "" || w.Header().Get("Cache-Control") != "" {
			t.Errorf("%v, %v: got %q %v", c.share, c.draw, w.Body, w.Header())
		}
	}
}

func TestSampledRequests(t *testing.T) {
	const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, c := range []struct {
		method, dest, accept string
		want                 bool
	}{
		{"GET", "document", accept, true},
		{"GET", "document", "", true},
		{"HEAD", "document", accept, true},
		{"GET", "", accept, true},
		{"HEAD", "", "application/json, Text/HTML;q=0.1", true},
		{"GET", "iframe", accept, false},
		{"GET", "frame", accept, false},
		{"GET", "empty", accept, false},
		{"GET", "script", "*/*", false},
		{"GET", "", "*/*", false},
		{"GET", "", "", false},
		{"GET", "", "text/htmlx", false},
		{"POST", "document", accept, false},
		{"POST", "", accept, false},
	} {
		asked := 0
		h := Sampled(page, func(*http.Request) float64 { asked++; return 1 })
		var headers []string
		if c.dest != "" {
			headers = append(headers, "Sec-Fetch-Dest", c.dest)
		}
		if c.accept != "" {
			headers = append(headers, "Accept", c.accept)
		}
		w := get(h, c.method, "/", headers...)
		timing, policy := w.Header().Get("Server-Timing"), w.Header().Get("Document-Policy")
		if (asked == 1) != c.want || (timing == "fieldtrie;dur=1") != c.want || (policy != "") != c.want || !c.want &&
			timing != "" {
			t.Errorf("%+v: share called %d times, Server-Timing is %q, Document-Policy %q", c, asked, timing, policy)
		}
		if w.Body.String() != "page" {
			t.Errorf("%+v: got %q", c, w.Body)
		}
	}
}

// TestSampledAdds checks that headers of outer handlers are kept.
func TestSampledAdds(t *testing.T) {
	inner := Sampled(page, func(*http.Request) float64 { return 1 })
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Document-Policy", "document-write=?0")
		w.Header().Set("Server-Timing", "db;dur=12")
		inner.ServeHTTP(w, r)
	})
	got := get(h, "GET", "/", "Sec-Fetch-Dest", "document").Header()
	if want := []string{"document-write=?0", "js-profiling, js-profiling-mode=lazy"}; !slices.Equal(
		got["Document-Policy"], want) {
		t.Errorf("Document-Policy is %q, want %q", got["Document-Policy"], want)
	}
	if want := []string{"db;dur=12", "fieldtrie;dur=1"}; !slices.Equal(got["Server-Timing"], want) {
		t.Errorf("Server-Timing is %q, want %q", got["Server-Timing"], want)
	}
}

// TestSampledShare draws often and checks the share of selected page views.
func TestSampledShare(t *testing.T) {
	h := Sampled(page, func(r *http.Request) float64 {
		if r.URL.Path == "/never" {
			return 0
		}
		return 0.25
	})
	const n = 4000
	for path, want := range map[string]float64{"/": 0.25 * n, "/never": 0} {
		chosen := 0.0
		for range n {
			r := httptest.NewRequest("GET", path, nil)
			r.Header.Set("Sec-Fetch-Dest", "document")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Header().Get("Document-Policy") == policy {
				chosen++
			}
		}
		if math.Abs(chosen-want) > 6*math.Sqrt(n*0.25*0.75) && want > 0 || want == 0 && chosen > 0 {
			t.Errorf("%s: %v of %d are selected, want about %v", path, chosen, n, want)
		}
	}
}
