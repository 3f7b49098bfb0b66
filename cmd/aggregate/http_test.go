package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// browsing returns what a browser gets of aggregate --http with some arguments.
func browsing(t *testing.T, args ...string) (start string, get func(target, host string) *httptest.ResponseRecorder) {
	t.Helper()
	c := command{stdin: strings.NewReader(""), stdout: &strings.Builder{}, stderr: &strings.Builder{}, now: time.Now()}
	fs := pflag.NewFlagSet("aggregate", pflag.ContinueOnError)
	c.flags(fs)
	if err := fs.Parse(append([]string{"--http", ":0"}, args...)); err != nil {
		t.Fatal(err)
	}
	c.files = fs.Args()
	if err := c.check(fs); err != nil {
		t.Fatal(err)
	}
	src, start, done, err := c.shown(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	})
	h := pagesOf(src, start)
	return start, func(target, host string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
}

func TestHTTPOfFiles(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before.folded"), filepath.Join(dir, "after.folded")
	for name, text := range map[string]string{before: "main;draw 3\n", after: "main;draw 5\nmain 1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start, get := browsing(t, after)
	if start != "file?title=after.folded" {
		t.Errorf("it begins at %s", start)
	}
	if w := get("/", "127.0.0.1:1"); w.Code != http.StatusFound || w.Header().Get("Location") != "/"+start {
		t.Errorf("/: %d, %v", w.Code, w.Header())
	}
	if w := get("/api/v1/top", "localhost:1"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"name":"draw"`) {
		t.Errorf("top: %d %s", w.Code, w.Body)
	}
	if w := get("/api/v1/top", "evil.example"); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "draw") {
		t.Errorf("another host: %d %s", w.Code, w.Body)
	}
	start, get = browsing(t, "--diff", before, after)
	if start != "file?compare_label=file%3Dbefore&label=file%3Dafter&title=after.folded" {
		t.Errorf("a difference begins at %s", start)
	}
	if w := get("/api/v1/tree?label=file=after&compare_label=file=before", "localhost"); !strings.Contains(w.Body.String(), `"base":`) {
		t.Errorf("a difference: %d %s", w.Code, w.Body)
	}
}
