package access

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSameOrigin(t *testing.T) {
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /api/v1/profile", "GET /v1/backup", "POST /querier.v1.QuerierService/",
		"GET /healthz"} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	}
	refusals := 0
	h := SameOrigin(mux, mux, func(_ *http.Request, why Reason, _ error) {
		if refusals++; why != ReasonForeign {
			t.Errorf("refused for %q", why)
		}
	})
	const (
		page  = "Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: script"
		image = "Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: image"
		link  = "Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document"
		frame = "Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: iframe"
		cross = "Sec-Fetch-Site: cross-site, "
		same  = "Sec-Fetch-Site: same-origin, "
	)
	for _, tt := range []struct {
		name, method, path, headers string
		want                        int
	}{
		{"another program", "GET", "/api/v1/profile", "", 200},
		{"another program posts", "POST", "/querier.v1.QuerierService/X", "", 200},
		{"curl with a token requests a backup", "GET", "/v1/backup", "Authorization: Bearer x", 200},
		{"typed", "GET", "/api/v1/profile", "Sec-Fetch-Site: none, " + link, 200},
		{"backup typed into the address bar", "GET", "/v1/backup", "Sec-Fetch-Site: none, " + link, 200},
		{"the dashboard's script", "GET", "/api/v1/profile", same + page, 200},
		{"the dashboard's POST", "POST", "/querier.v1.QuerierService/X", same + "Origin: http://here:8419", 200},
		{"a link elsewhere", "GET", "/api/v1/profile", cross + link, 200},
		{"a link to a backup elsewhere", "GET", "/v1/backup", cross + link, 403},
		{"a link to a backup, spelled differently", "GET", "/v1//backup", cross + link, 403},
		{"included as a script", "GET", "/api/v1/profile", cross + page, 403},
		{"of the same site on another port", "GET", "/api/v1/profile", "Sec-Fetch-Site: same-site, " + page, 403},
		{"included as an image", "GET", "/api/v1/profile", cross + image, 403},
		{"in a frame", "GET", "/api/v1/profile", cross + frame, 403},
		{"fetched", "GET", "/api/v1/profile", cross + "Sec-Fetch-Mode: cors, Origin: http://evil.test", 403},
		{"fetched backup", "GET", "/v1/backup", cross + "Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: empty", 403},
		{"fetched by an old browser", "GET", "/api/v1/profile", "Origin: http://evil.test", 403},
		{"fetched by an old browser from a file", "GET", "/api/v1/profile", "Origin: null", 403},
		{"the dashboard in an old browser", "GET", "/api/v1/profile", "Origin: http://HERE:8419", 200},
		{"posted", "POST", "/querier.v1.QuerierService/X", cross + "Sec-Fetch-Mode: no-cors", 403},
		{"posted by an old browser", "POST", "/querier.v1.QuerierService/X", "Origin: http://evil.test", 403},
		{"a form", "POST", "/querier.v1.QuerierService/X", cross + link, 403},
		{"an unknown Sec-Fetch-Site", "GET", "/api/v1/profile", "Sec-Fetch-Site: sideways", 403},
		{"probed by a page", "GET", "/healthz", cross + image, 403},
	} {
		r := httptest.NewRequest(tt.method, "http://here:8419"+tt.path, nil)
		for header := range strings.SplitSeq(tt.headers, ", ") {
			if name, value, ok := strings.Cut(header, ": "); ok {
				r.Header.Set(name, value)
			}
		}
		before, rec := refusals, httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != tt.want || (refusals > before) != (tt.want == 403) {
			t.Errorf("%s: got %d, want %d, %d refusals counted; %s", tt.name, rec.Code, tt.want,
				refusals-before, rec.Body)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Content-Security-Policy":      "frame-ancestors 'self'"} {
			if v := rec.Header().Get(name); v != want {
				t.Errorf("%s: header %s is %q", tt.name, name, v)
			}
		}
	}
}
