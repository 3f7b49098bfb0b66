package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/sdk"
	"github.com/fieldtrie/fieldtrie/trie"
)

// shop is a page whose script is busy on load and again after a click. Its policies forbid other
// scripts to run, send or profile.
const shop = `<!doctype html><title>shop</title><button>more</button><script nonce=a>
function busy(ms) { const end = performance.now() + ms; while (performance.now() < end); }
function renderShop() { busy(200); }
function showMore() { busy(150); }
renderShop();
document.querySelector('button').onclick = () => showMore();
</script>`

// collector is a server that keeps the traces it receives.
type collector struct {
	mu     sync.Mutex
	traces []*trie.Trace
	keys   []string
	status int
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	key, sent := strings.CutPrefix(r.URL.Path, "/t/")
	if err != nil || !sent {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, key)
	if c.status != 0 {
		http.Error(w, `{"error":"parameter key: it is missing"}`, c.status)
		return
	}
	doc, err := encode.DecodeBinary(body, encode.FileLimits())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.traces = append(c.traces, doc.Trace)
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprint(w, `{"accepted":1}`)
}

// TestRecord records visits to a page and looks for the functions that it ran, both in the traces
// that the daemon received and in the profiles of DevTools.
func TestRecord(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-a'; connect-src 'none'")
		fmt.Fprint(w, shop)
	}))
	defer page.Close()
	var got collector
	daemon := httptest.NewServer(&got)
	defer daemon.Close()
	var visits []Visit
	err := Record(t.Context(), Options{URL: page.URL + "/products", Runs: 2, CPU: 1,
		Actions:   "document.querySelector('button').click(); await new Promise((done) => setTimeout(done, 300));",
		Collector: daemon.URL, Key: "k", Release: "r1", Script: sdk.Source("sdk-all.js"),
		Settle: 100 * time.Millisecond,
		Done:   func(v Visit) error { visits = append(visits, v); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if len(visits) != 2 || visits[1].Number != 2 || len(got.traces) < 2 || got.keys[0] != "k" {
		t.Fatalf("%d visits, %d traces, keys %q", len(visits), len(got.traces), got.keys)
	}
	views := map[string]bool{}
	for _, tr := range got.traces {
		x := tr.Context
		views[x.ViewID] = true
		if x.Page != "/products" || x.Environment != Environment || x.Release != "r1" ||
			x.Labels.Value("source") != "lab" {
			t.Errorf("a trace of %s, %s, %s, %v", x.Page, x.Environment, x.Release, x.Labels)
		}
	}
	if len(views) != 2 {
		t.Errorf("%d page views", len(views))
	}
	seen := map[string]bool{}
	for _, tr := range got.traces {
		for n := range tr.Nodes {
			seen[tr.Frame(trie.NodeID(n)).Name] = true
		}
	}
	var devtools struct {
		Nodes []struct{ CallFrame struct{ FunctionName string } }
	}
	if err := json.Unmarshal(visits[0].Profile, &devtools); err != nil {
		t.Fatal(err)
	}
	inDevTools := map[string]bool{}
	for _, n := range devtools.Nodes {
		inDevTools[n.CallFrame.FunctionName] = true
	}
	for _, name := range []string{"renderShop", "showMore", "busy"} {
		if !seen[name] || !inDevTools[name] {
			t.Errorf("%s: in traces %t, in DevTools %t", name, seen[name], inDevTools[name])
		}
	}
}

// A page with dialogs is recorded. A page that navigates away, or never finishes loading, is an
// error with that reason. No browser keeps running.
func TestHostilePages(t *testing.T) {
	pages := map[string]string{
		"/dialogs": `<script>alert(1); confirm(2); prompt(3); onbeforeunload = (e) => e.preventDefault()</script>` +
			shop,
		"/leaves":  `<script>setTimeout(() => { location = 'http://127.0.0.1:1/' })</script>`,
		"/endless": `<script>for (;;);</script>`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, pages[r.URL.Path])
	}))
	defer server.Close()
	var got collector
	daemon := httptest.NewServer(&got)
	defer daemon.Close()
	for path, says := range map[string]string{"/dialogs": "", "/leaves": "the tab shows a document of chrome-error://",
		"/endless": "runs JavaScript endlessly"} {
		o := Options{URL: server.URL + path, Runs: 1, Collector: daemon.URL, Script: sdk.Source("sdk-all.js"),
			Settle: 300 * time.Millisecond, Done: func(Visit) error {
				return nil
			}}
		if path == "/endless" {
			o.Limit = 5 * time.Second
		}
		if err := Record(t.Context(), o); says == "" && err != nil || says != "" &&
			(err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: got %v, want %q", path, err, says)
		}
	}
}

// TestMistakes checks that mistakes are errors with advice and that no browser keeps running.
func TestMistakes(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, shop)
	}))
	defer page.Close()
	refusing := httptest.NewServer(&collector{status: http.StatusUnauthorized})
	defer refusing.Close()
	o := Options{URL: page.URL, Runs: 1, Collector: refusing.URL, Script: sdk.Source("sdk-all.js"),
		Done: func(Visit) error {
			return nil
		}}
	for _, c := range []struct {
		change func(*Options)
		says   string
	}{
		{func(o *Options) { o.Chromium = filepath.Join(t.TempDir(), "nothing") }, "no Chromium found"},
		{func(o *Options) {}, "returned 401 Unauthorized"},
		{func(o *Options) { o.Collector = "http://127.0.0.1:1" }, "connection refused"},
		{func(o *Options) { o.Actions = "nothing.there()" }, "nothing is not defined"},
		{func(o *Options) { o.URL = "http://127.0.0.1:1/" }, "open http://127.0.0.1:1/"},
	} {
		changed := o
		c.change(&changed)
		if err := Record(t.Context(), changed); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v, want %s", err, c.says)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	changed := o
	changed.Actions = "await new Promise(() => {})"
	time.AfterFunc(2*time.Second, cancel)
	if err := Record(ctx, changed); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
