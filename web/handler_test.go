package web

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestProfileFile(t *testing.T) {
	if _, err := profileFile(fstest.MapFS{".gitkeep": {}}); !errors.Is(err, ErrNotBuilt) ||
		!strings.Contains(err.Error(), `run "make web"`) {
		t.Errorf("not built: %v", err)
	}
	got, err := profileFile(fstest.MapFS{"profile-file.html": {Data: []byte("<!doctype html>")}})
	if err != nil || string(got) != "<!doctype html>" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestServe(t *testing.T) {
	all, err := read(fstest.MapFS{
		".gitkeep": {}, "index.html": {Data: []byte("<!doctype html>page")}, "licenses.txt": {Data: []byte("MIT")},
		"assets/main.ABC.js": {Data: []byte("let a;")}, "assets/main.ABC.css": {Data: []byte("a{}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, accept string
		status       int
		media, body  string
		caching      string
	}{
		{"/", "text/html,*/*", 200, "text/html", "<!doctype html>page", "no-cache"},
		{"/pages", "text/html", 200, "text/html", "<!doctype html>page", "no-cache"},
		{"/page?page=/feed", "text/html", 200, "text/html", "<!doctype html>page", "no-cache"},
		{"/licenses", "*/*", 200, "text/plain", "MIT", "no-cache"},
		{"/assets/main.ABC.js", "*/*", 200, "text/javascript", "let a;", "immutable"},
		{"/assets/main.ABC.css", "*/*", 200, "text/css", "a{}", "immutable"},
		{"/assets/main.OLD.js", "text/html", 404, "", "", ""},
		{"/assets/", "text/html", 404, "", "", ""},
		{"/pages", "application/json", 404, "", "", ""},                   // a script that mistyped a path gets no page
		{"/", "*/*", 200, "text/html", "<!doctype html>page", "no-cache"}, // as curl asks
		{"/changes?id=1", "", 200, "text/html", "<!doctype html>page", "no-cache"},
		{"/nope", "*/*", 404, "", "", ""},
		{"/a/b", "text/html", 404, "", "", ""},
		{"/favicon.ico", "image/avif,*/*", 204, "", "", ""},
		{"/.gitkeep", "text/html", 404, "", "", ""},
		{"/index.html", "text/html", 404, "", "", ""},
	} {
		for _, zipped := range []bool{false, true} {
			r := httptest.NewRequest(http.MethodGet, test.path, nil)
			r.Header.Set("Accept", test.accept)
			if zipped {
				r.Header.Set("Accept-Encoding", "gzip, br")
			}
			w := httptest.NewRecorder()
			serve(w, r, all)
			h := w.Header()
			if w.Code != test.status {
				t.Errorf("%s: status %d, want %d", test.path, w.Code, test.status)
			}
			if test.status != http.StatusOK {
				continue
			}
			body := io.Reader(w.Body)
			if zipped {
				if body, err = gzip.NewReader(body); err != nil || h.Get("Content-Encoding") != "gzip" {
					t.Fatalf("%s: %v, %v", test.path, err, h)
				}
			}
			got, err := io.ReadAll(body)
			if err != nil || string(got) != test.body || !strings.HasPrefix(h.Get("Content-Type"), test.media) ||
				!strings.Contains(h.Get("Cache-Control"), test.caching) || h.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: %q, %v, %v", test.path, got, err, h)
			}
			if p := h.Get("Content-Security-Policy"); strings.Contains(p, "unsafe") ||
				!strings.Contains(p, "frame-ancestors 'none'") {
				t.Errorf("%s: policy %q", test.path, p)
			}
		}
	}
}

// The paths that are served are those that the dashboard knows.
func TestRoutes(t *testing.T) {
	source, err := os.ReadFile("src/routes.tsx")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, found := range regexp.MustCompile(`(?m)^    case '(.*)':$`).FindAllStringSubmatch(string(source), -1) {
		known = append(known, found[1])
	}
	if len(known) < 10 || !slices.Equal(known, routes()) {
		t.Errorf("src/routes.tsx has %q, and %q are served", known, routes())
	}
}

func TestServeWithout(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept", "text/html")
	serve(w, r, nil)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "make web") {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: got %d, %v", w.Code, w.Header())
	}
}
