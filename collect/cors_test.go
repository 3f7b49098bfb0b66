package collect

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOrigins(t *testing.T) {
	lists := map[string][]string{
		"any":  nil,
		"star": {"*"},
		"some": {"https://www.example.com", "https://*.example.org", "http://localhost:3000",
			"https://*.example.net:8443"},
		"odd": {"*.example.com", "https://*", "https://*example.com", "https://a.*.example.com", "example.com"},
	}
	for _, c := range []struct {
		list, origin string
		allowed      bool
	}{
		{"any", "https://anything.example", true},
		{"any", "null", true},
		{"star", "https://anything.example", true},

		{"some", "https://www.example.com", true},
		{"some", "HTTPS://WWW.Example.COM", true},
		{"some", "http://localhost:3000", true},
		{"some", "https://a.example.org", true},
		{"some", "https://a.b.Example.org", true},
		{"some", "https://a-b_1.example.org", true},
		{"some", "https://a.example.net:8443", true},

		{"some", "null", false},
		{"some", "http://www.example.com", false},
		{"some", "https://www.example.com:8443", false},
		{"some", "https://www.example.com.evil.com", false},
		{"some", "https://www.example.comevil.com", false},
		{"some", "https://evilwww.example.com", false},
		{"some", "https://example.org", false},
		{"some", "https://.example.org", false},
		{"some", "https://a..example.org", false},
		{"some", "https://evilexample.org", false},
		{"some", "https://evil.com/.example.org", false},
		{"some", "https://evil.com?.example.org", false},
		{"some", "https://evil.com#.example.org", false},
		{"some", "https://evil.com:1.example.org", false},
		{"some", "https://evil.com@a.example.org", false},
		{"some", "https://evil.com\\.example.org", false},
		{"some", "https://evil.com .example.org", false},
		{"some", "https://evil.com%2f.example.org", false},
		{"some", "https://a.example.org.evil.com", false},
		{"some", "https://a.example.org:8443", false},
		{"some", "http://a.example.org", false},
		{"some", "https://a.example.net", false},

		{"odd", "https://a.example.com", false},
		{"odd", "https://evil.com", false},
		{"odd", "https://evilexample.com", false},
		{"odd", "https://a.b.example.com", false},
	} {
		col, s := newCollector(Options{Origins: lists[c.list]})
		got := post(t, col, traceJSON("f", ""), "Origin", c.origin)
		want := map[bool]int{true: http.StatusAccepted, false: http.StatusForbidden}[c.allowed]
		if got.status != want {
			t.Errorf("%s: %s: got %d (%s), want %d", c.list, c.origin, got.status, got.Error, want)
		}
		if len(s.records) != got.Accepted || c.allowed != (got.Accepted == 1) {
			t.Errorf("%s: %s: %d accepted, %d stored", c.list, c.origin, got.Accepted, len(s.records))
		}
		allow := got.header.Get("Access-Control-Allow-Origin")
		if c.allowed && allow != c.origin && !(c.list == "any" && allow == "*") || !c.allowed && allow != "" {
			t.Errorf("%s: %s: Access-Control-Allow-Origin is %q", c.list, c.origin, allow)
		}
		if !c.allowed && !strings.Contains(got.Error, "header Origin: ") {
			t.Errorf("%s: %s: message %q", c.list, c.origin, got.Error)
		}
		if v := got.header.Get("Vary"); v != "Origin" {
			t.Errorf("%s: %s: Vary is %q", c.list, c.origin, v)
		}
		if v := got.header.Get("Access-Control-Allow-Credentials"); v != "" {
			t.Errorf("%s: %s: credentials are %q", c.list, c.origin, v)
		}
	}
}

func TestPreflight(t *testing.T) {
	col, _ := newCollector(Options{Origins: []string{"https://www.example.com"}})
	for origin, want := range map[string]int{"https://www.example.com": 204, "https://evil.example": 403} {
		r := httptest.NewRequest(http.MethodOptions, "/v1/traces", nil)
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "POST")
		w := httptest.NewRecorder()
		col.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", origin, w.Code, want)
		}
		for k, v := range map[string]string{
			"Access-Control-Allow-Origin":  origin,
			"Access-Control-Allow-Methods": "POST",
			"Access-Control-Allow-Headers": "Content-Type, Content-Encoding",
			"Access-Control-Max-Age":       "86400",
		} {
			if want == 403 {
				v = ""
			}
			if got := w.Header().Get(k); got != v {
				t.Errorf("%s: %s is %q, want %q", origin, k, got, v)
			}
		}
		if got := w.Header().Get("Vary"); got != "Origin" {
			t.Errorf("%s: Vary is %q", origin, got)
		}
	}
}

func TestOtherMethods(t *testing.T) {
	col, _ := newCollector(Options{})
	for target, want := range map[string]int{"GET /v1/traces": 405, "PUT /v1/traces": 405, "POST /": 404,
		"POST /v1/traces/x": 404} {
		method, path, _ := strings.Cut(target, " ")
		w := httptest.NewRecorder()
		col.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", target, w.Code, want)
		}
	}
}
