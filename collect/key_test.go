package collect

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	bodies := map[string]string{"/v1/traces": traceJSON("f", ""), "/v1/views": `{"outcome":"error"}`}
	for _, c := range []struct {
		keys    string
		query   string
		allowed bool
		want    string
	}{
		{"", "", true, ""},
		{"", "?key=x", true, ""},
		{"one two", "?key=one", true, ""},
		{"one two", "?a=b&key=two", true, ""},
		{"one two", "", false, "parameter key: it is missing; send to "},
		{"one two", "?key=", false, "parameter key: it is missing"},
		{"one two", "?Key=one", false, "parameter key: it is missing"},
		{"one two", "?key=three", false, `parameter key: "three" is not one of this site's keys`},
		{"one two", "?key=ONE", false, `"ONE" is not`},
		{"one two", "?key=one%20two", false, `"one two" is not`},
	} {
		for path, body := range bodies {
			col, s := newCollector(Options{Keys: strings.Fields(c.keys)})
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, path+c.query, strings.NewReader(body))
			r.Header.Set("Origin", "https://www.example.com")
			col.ServeHTTP(w, r)
			want := map[string]int{"/v1/traces": 202, "/v1/views": 204}[path]
			if !c.allowed {
				want = http.StatusUnauthorized
			}
			if w.Code != want || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\"`, `"`), c.want) {
				t.Errorf("keys %q: %s%s: got %d %s, want %d with %q", c.keys, path, c.query, w.Code, w.Body, want, c.want)
			}
			if n := len(s.records) + len(s.views(t)); (n == 1) != c.allowed {
				t.Errorf("keys %q: %s%s: %d stored or counted", c.keys, path, c.query, n)
			}
			// A page may read why.
			if w.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("keys %q: %s%s: headers %v", c.keys, path, c.query, w.Header())
			}
			if n := s.metric(t, "refused_total", "key"); (n == 1) == c.allowed {
				t.Errorf("keys %q: %s%s: %v are refused for their key", c.keys, path, c.query, n)
			}
		}
	}
	// An empty key in the list lets nobody in.
	col, _ := newCollector(Options{Keys: []string{""}})
	if got := post(t, col, traceJSON("f", "")); got.status != http.StatusUnauthorized {
		t.Errorf("empty key: got %d", got.status)
	}
	// Browsers ask before they send, and the answer to that can not be read.
	w := httptest.NewRecorder()
	col, _ = newCollector(Options{Keys: []string{"one"}})
	col.ServeHTTP(w, httptest.NewRequest(http.MethodOptions, "/v1/traces?key=old", nil))
	if w.Code != http.StatusNoContent {
		t.Errorf("preflight: got %d", w.Code)
	}
}
