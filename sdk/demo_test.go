package sdk

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
)

func TestDemo(t *testing.T) {
	const collector = "http://127.0.0.1:8418"
	h := newDemo(fstest.MapFS{
		"demo/index.html": {Data: []byte(
			`<script src="{{collector}}/sdk.js"></script><script src="{{collector}}/demo/third-party.js"></script>`)},
		"demo/demo.js":        {Data: []byte("demo()")},
		"demo/style.css":      {Data: []byte("p {}")},
		"demo/third-party.js": {Data: []byte("third()")},
	}, collector)
	const document = `<script src="` + collector + `/sdk.js"></script><script src="` + collector +
		`/demo/third-party.js"></script>`
	for _, c := range []struct {
		request string
		status  int
		body    string
		media   string
		chosen  bool
	}{
		{"GET /demo/", 200, document, "text/html; charset=utf-8", true},
		{"GET /demo/feed", 200, document, "text/html; charset=utf-8", true},
		{"GET /demo/search/x?q=a", 200, document, "text/html; charset=utf-8", true},
		{"GET /demo/index.html", 200, document, "text/html; charset=utf-8", true},
		{"GET /demo/feed?header=off", 200, document, "text/html; charset=utf-8", false},
		{"GET /demo/demo.js", 200, "demo()", "text/javascript; charset=utf-8", false},
		{"GET /demo/style.css", 200, "p {}", "text/css; charset=utf-8", false},
		{"GET /demo/none.js", 404, "the demo has no file none.js\n", "text/plain; charset=utf-8", false},
		{"GET /demo/a/demo.js", 404, "the demo has no file a/demo.js\n", "text/plain; charset=utf-8", false},
		{"GET /demo/a%2f..%2fdemo.js", 404, "the demo has no file a/../demo.js\n", "text/plain; charset=utf-8", false},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		w := get(h, method, path)
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s: got %d %q, want %d %q", c.request, w.Code, w.Body, c.status, c.body)
		}
		var csp, policy, timing string
		if c.body == document {
			csp = "default-src 'none'; script-src 'self' http://127.0.0.1:8418; connect-src http://127.0.0.1:8418; " +
				"style-src 'self'; " +
				"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
		}
		if c.chosen {
			policy, timing = "js-profiling, js-profiling-mode=lazy", "fieldtrie;dur=1"
		}
		for k, v := range map[string]string{
			"Content-Type": c.media, "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": csp, "Document-Policy": policy, "Server-Timing": timing,
		} {
			if got := w.Header().Get(k); got != v {
				t.Errorf("%s: %s is %q, want %q", c.request, k, got, v)
			}
		}
	}
	if w := get(h, "POST", "/demo/"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d", w.Code)
	}
	if w := get(h, "GET", "/"); w.Code != http.StatusNotFound {
		t.Errorf("/: got %d", w.Code)
	}
}

// TestDemoBuild checks the demo in the package.
func TestDemoBuild(t *testing.T) {
	const collector = "http://collector.example:8418"
	h := Demo(collector)
	w := get(h, "GET", "/demo/")
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, collector) || strings.Contains(body, "{{") {
		t.Errorf("got %d %s", w.Code, body)
	}
	for _, file := range []string{"demo.js", "style.css", "third-party.js"} {
		if w := get(h, "GET", "/demo/"+file); w.Code != 200 || w.Body.Len() == 0 {
			t.Errorf("%s: got %d %s", file, w.Code, w.Body)
		}
	}
	w = get(DemoThirdParty(), "GET", "/demo/third-party.js")
	if w.Code != 200 || w.Body.Len() == 0 || len(w.Header()) != 1 ||
		w.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("third party: got %d %v %s", w.Code, w.Header(), w.Body)
	}
}
