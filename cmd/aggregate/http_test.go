package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
)

// browsing returns a function that fetches a path from aggregate --http with some arguments.
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
	if w := get("/api/v1/top", "localhost:1"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(),
		`"name":"draw"`) {
		t.Errorf("top: %d %s", w.Code, w.Body)
	}
	if w := get("/api/v1/top", "evil.example"); w.Code != http.StatusForbidden ||
		strings.Contains(w.Body.String(), "draw") {
		t.Errorf("another host: %d %s", w.Code, w.Body)
	}
	start, get = browsing(t, "--diff", before, after)
	if start != "file?compare_label=file%3Dbefore&label=file%3Dafter&title=after.folded" {
		t.Errorf("a difference begins at %s", start)
	}
	if w := get("/api/v1/tree?label=file=after&compare_label=file=before",
		"localhost"); !strings.Contains(w.Body.String(), `"base":`) {
		t.Errorf("a difference: %d %s", w.Code, w.Body)
	}
}

// Files with time order show it for each thread; other files report that they have none.
func TestHTTPOfFilesInTimeOrder(t *testing.T) {
	dir := t.TempDir()
	folded := filepath.Join(dir, "merged.folded")
	if err := os.WriteFile(folded, []byte("main;draw 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, get := browsing(t, folded)
	if body := get("/api/v1/views", "127.0.0.1:1").Body.String(); !strings.Contains(body, `"list":[]`) ||
		!strings.Contains(body, "cannot be shown in time order") {
		t.Errorf("of merged stacks: %s", body)
	}
	_, get = browsing(t, filepath.Join("..", "..", "testdata", "traces", "backbone.json.gz"))
	var views query.Views
	if err := json.Unmarshal(get("/api/v1/views", "127.0.0.1:1").Body.Bytes(), &views); err != nil ||
		len(views.List) != 1 {
		t.Fatalf("got %+v, %v", views, err)
	}
	var view query.View
	w := get("/api/v1/view?id="+views.List[0].ID, "127.0.0.1:1")
	if err := json.Unmarshal(w.Body.Bytes(), &view); err != nil || len(view.Calls.Start) == 0 || view.Start != 0 ||
		view.Time != views.List[0].Time {
		t.Errorf("got %.300s, %v", w.Body, err)
	}
	if w := get("/api/v1/view?id=0", "127.0.0.1:1"); w.Code != http.StatusNotFound {
		t.Errorf("an unknown thread: %d", w.Code)
	}
}

// A recording opens at its main thread, which its calls in time order also belong to. Page views
// have no threads.
func TestHTTPOfThreads(t *testing.T) {
	const host = "127.0.0.1:1"
	start, get := browsing(t, filepath.Join("..", "..", "testdata", "recordings", "chromium.trace.json.gz"))
	var threads output.Threads
	if err := json.Unmarshal(get("/api/v1/threads", host).Body.Bytes(), &threads); err != nil || len(threads) < 3 {
		t.Fatalf("got %+v, %v", threads, err)
	}
	main := threads[0]
	if !main.Main || main.Name != "CrRendererMain" || main.ProcessName != "Renderer" || len(threads.Shown()) != 1 ||
		!main.Shown {
		t.Errorf("got %+v", threads)
	}
	label := url.Values{"label": {"thread=" + main.Key}}.Encode()
	if want := "file?" + label + "&title=chromium.trace.json.gz"; start != want {
		t.Errorf("it begins at %s, want %s", start, want)
	}
	for _, thread := range threads {
		label := url.Values{"label": {"thread=" + thread.Key}}.Encode()
		var top query.Top
		if err := json.Unmarshal(get("/api/v1/top?limit=1&"+label, host).Body.Bytes(), &top); err != nil ||
			top.Self != thread.Work || top.Views != 0 {
			t.Errorf("%s: got %d of %d page views, %v, want %d", thread.Name, top.Self, top.Views, err, thread.Work)
		}
		var views query.Views
		if err := json.Unmarshal(get("/api/v1/views?"+label, host).Body.Bytes(), &views); err != nil ||
			len(views.List) != 1 || views.List[0].Page != (&output.Thread{Process: thread.Process, ID: thread.ID,
			Name: thread.Name}).Title() {
			t.Errorf("%s: got %+v, %v", thread.Name, views.List, err)
		}
	}
	two := []string{filepath.Join("..", "..", "testdata", "recordings", "node-main.cpuprofile.gz"), filepath.Join("..",
		"..", "testdata", "recordings", "node-worker.cpuprofile.gz")}
	if start, _ = browsing(t, two...); start != "file?title=node-main.cpuprofile.gz+and+1+more" {
		t.Errorf("two recordings begin at %s", start)
	}
	_, get = browsing(t, filepath.Join("..", "..", "testdata", "traces", "backbone.json.gz"))
	if body := get("/api/v1/threads", host).Body.String(); body != "[]\n" {
		t.Errorf("a page view has the threads %s", body)
	}
}
