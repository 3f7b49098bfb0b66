package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/query/file"
	"github.com/fieldtrie/fieldtrie/rules/access"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/web"
)

// checkHTTP rejects flags that conflict with --http.
func (c *command) checkHTTP(not refusing) error {
	if c.http == "" {
		return not("another output than --http", "no-browser")
	}
	host, _, err := net.SplitHostPort(c.http)
	if err != nil {
		return fmt.Errorf("--http %s: must be HOST:PORT or :PORT, such as :0 for a free port", c.http)
	}
	if ip := net.ParseIP(host); host != "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--http %s: the host must be local, because there is no authentication; use ingest with "+
			"--access to serve other machines", c.http)
	}
	if len(c.files) == 0 {
		if err := not("--http of a store, where pages have a choice of it", "by", "only", "raw", "wasm",
			"diff"); err != nil {
			return err
		}
	}
	return not("--http", append([]string{"format", "output", "rows", "list", "stats", "budgets", "timed"},
		selectionFlags[:]...)...)
}

// serveHTTP shows files, or a store, in a browser until it is interrupted.
func (c *command) serveHTTP(ctx context.Context) (err error) {
	if !web.Built() {
		return fmt.Errorf("--http: %w", web.ErrNotBuilt)
	}
	src, start, done, err := c.shown(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	addr := c.http
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("--http: %w", err)
	}
	srv := http.Server{Handler: pagesOf(src, start), ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stopped()
	place := fmt.Sprintf("http://%s/%s", ln.Addr(), start)
	fmt.Fprintf(c.stderr, "aggregate: serving %s; stop with Ctrl-C\n", place)
	if !c.noBrowser {
		openBrowser(place)
	}
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return context.Cause(ctx)
}

// shown returns the source to show and its start page.
func (c *command) shown(ctx context.Context) (src query.Source, start string, done func() error, err error) {
	if len(c.files) == 0 {
		src, done, err = c.source()
		return src, c.startOfStore(), done, err
	}
	base, err := c.base(ctx)
	if err != nil {
		return nil, "", nil, err
	}
	merged, err := c.mergeFiles(ctx, c.inputs())
	if err != nil {
		return nil, "", nil, err
	}
	shown := c.shownOf(merged)
	if c.empty(shown.Result) {
		return nil, "", nil, c.nothingInFiles()
	}
	title := url.Values{"title": {c.title()}}
	if base.Result.Profile == nil && !slices.Contains(c.files, "-") {
		merged.Lines = c.linesOnce()
	}
	if base.Result.Profile != nil {
		merged = shown
		merged.Result.Profile = file.Versus(base.Result.Profile, shown.Result.Profile)
		title.Set("label", "file="+file.After)
		title.Set("compare_label", "file="+file.Before)
	} else if keys := shown.Threads.Shown(); len(keys) < len(merged.Threads) && merged.Result.Profile.Views == 0 {
		title.Set("label", labelOf(keys))
	}
	merged.Threads = shown.Threads
	return merged, "file?" + title.Encode(), func() error { return nil }, nil
}

// labelOf returns the condition on labels that selects these threads.
func labelOf(threads output.Threads) string {
	var keys []string
	for _, t := range threads {
		keys = append(keys, t.Key)
	}
	if len(keys) == 1 {
		return output.LabelThread + "=" + keys[0]
	}
	return output.LabelThread + "=~" + strings.Join(keys, "|")
}

// linesOnce returns a function that reads the calls of the files in time order on
// its first call.
func (c *command) linesOnce() func(context.Context) ([]*trie.Timeline, error) {
	var mu sync.Mutex
	var lines []*trie.Timeline
	var failed error
	return func(ctx context.Context) ([]*trie.Timeline, error) {
		mu.Lock()
		defer mu.Unlock()
		if lines == nil && failed == nil {
			read, _, err := file.Timelines(ctx, c.inputs(), c.pick, func(file.Progress) {})
			if ctx.Err() != nil {
				return nil, ctx.Err() // the client disconnected; the next request reads again
			}
			if failed = err; err == nil {
				lines = read
			}
		}
		return lines, failed
	}
}

// startOfStore returns the page of the dashboard for the selection.
func (c *command) startOfStore() string {
	v := url.Values{"since": {c.since}}
	for key, value := range map[string]string{"until": c.until, "page": c.page, "feature": c.feature,
		"release": c.release} {
		if value != "" {
			v.Set(key, value)
		}
	}
	for _, l := range c.labels {
		v.Add("label", l)
	}
	switch {
	case c.page != "":
		return "page?" + v.Encode()
	case c.feature != "":
		return "feature?" + v.Encode()
	}
	return "?" + v.Encode()
}

// pagesOf serves the dashboard for a source to local browsers, with start as its
// first page.
func pagesOf(src query.Source, start string) http.Handler {
	mux := http.NewServeMux()
	answers := api.Handler(src, api.Options{ProfileFile: web.ProfileFile})
	if files, ok := src.(file.Merged); ok {
		mux.HandleFunc("GET /api/v1/threads", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			// fails only if the client disconnected
			_ = json.NewEncoder(w).Encode(append(output.Threads{}, files.Threads...))
		})
	}
	mux.Handle("/api/", answers)
	mux.Handle("GET /api/v1/answers", api.Together(answers))
	mux.Handle("/pprof/", answers)
	mux.Handle("/", web.Handler())
	if strings.HasPrefix(start, "file?") { // there is no overview of files
		mux.Handle("GET /{$}", http.RedirectHandler(start, http.StatusFound))
	}
	return access.SameOrigin(mux, access.LocalHosts(mux), func(*http.Request, access.Reason, error) {})
}

// openBrowser opens a URL if there is a browser. Errors are ignored, since the terminal shows the
// URL.
func openBrowser(place string) {
	name, args := "xdg-open", []string{place}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", place}
	}
	if cmd := exec.Command(name, args...); cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}
