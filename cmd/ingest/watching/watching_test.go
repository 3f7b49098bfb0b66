package watching

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/notify"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// document is a [store.Document] in memory.
type document struct {
	mu   sync.Mutex
	text []byte
	n    int
}

func (d *document) version() string {
	if d.n == 0 {
		return ""
	}
	return strings.Repeat("v", d.n)
}

func (d *document) Load(context.Context) ([]byte, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text, d.version(), nil
}

func (d *document) Save(_ context.Context, text []byte, over string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if over != d.version() {
		return "", store.ErrReplaced
	}
	d.text, d.n = text, d.n+1
	return d.version(), nil
}

func (d *document) Quarantine(context.Context, string) (string, error) { return "aside", nil }

// receiver counts webhook requests and responds with a given status.
type receiver struct {
	mu     sync.Mutex
	status int
	ids    []string
	titles []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, _ := io.ReadAll(req.Body)
	var m struct {
		Data struct {
			Title string `json:"title"`
		} `json:"data"`
	}
	_ = json.Unmarshal(body, &m)
	if r.status == http.StatusOK {
		r.ids, r.titles = append(r.ids, req.Header.Get("webhook-id")), append(r.titles, m.Data.Title)
	}
	w.WriteHeader(r.status)
}

// found returns the document that an evaluation stores after it detected a change on a page.
func found(t *testing.T, page, id string) *document {
	t.Helper()
	r := changes.NewRegister()
	now := time.Now()
	e := compare.Estimate{Value: 160, Low: new(112.0), High: new(208.0)}
	r.Apply(watch.Evaluation{Found: []watch.Change{{ID: id, Direction: watch.Slower, Detector: watch.ByRelease,
		Release: "b", CompareRelease: "a", Begin: now.Add(-time.Hour),
		What: watch.What{Kind: watch.OfFunction, Metric: "self", Function: &compare.Place{Name: "formatPrice",
			Resource: "src/money.ts", Line: 7, Column: 1}},
		Pages: []watch.PageChange{{Page: page, Value: compare.Pair{A: 20, B: 180}, Change: e, Level: 0.95}}}}}, now,
		now)
	text, err := r.Encode(now)
	if err != nil {
		t.Fatal(err)
	}
	return &document{text: text, n: 1}
}

// channelsOf parses a channels file with its secrets.
func channelsOf(t *testing.T, file string) *notify.File {
	t.Helper()
	f, err := notify.Parse(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.ReadSecrets(os.ReadFile, os.Getenv); err != nil {
		t.Fatal(err)
	}
	return f
}

func watcherOf(t *testing.T, doc store.Document, file string, now func() time.Time) *Watcher {
	t.Helper()
	return New(Options{Now: now, Document: doc, Source: query.Local{Reader: storetest.Open(t,
		storetest.Options{Now: time.Now})}, Notify: channelsOf(t, file), Metrics: prometheus.NewRegistry(),
		Log: slog.New(slog.DiscardHandler)})
}

// A detected change is sent once to each matching channel, with one id. If the receiver rejects it,
// it is sent again, possibly by another node.
func TestTell(t *testing.T) {
	rec := &receiver{status: http.StatusServiceUnavailable}
	srv := httptest.NewServer(rec)
	defer srv.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := "dashboard: https://d.example\nchannels:\n" +
		"  - {name: all, kind: webhook, target: \"" + srv.URL + "\", secret_file: " + secret +
		", allow_private: true}\n" +
		"  - {name: others, kind: webhook, target: \"" + srv.URL + "\", secret_file: " + secret +
		", allow_private: true, pages: [/other]}\n"
	doc := found(t, "/products", "94b7ca47cc2dee8a")
	now := time.Now()
	clock := func() time.Time { return now }
	first := watcherOf(t, doc, file, clock)
	if err := first.tellOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(rec.ids) != 0 {
		t.Fatalf("%q arrived although the receiver rejected it", rec.ids)
	}
	rec.status = http.StatusOK
	second := watcherOf(t, doc, file, clock) // another node, or this one after a restart
	for range 4 {
		now = now.Add(time.Hour)
		if err := second.tellOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(rec.ids) != 1 || len(rec.ids[0]) != 16 ||
		rec.titles[0] != "formatPrice became slower by 160 ms (+112 to +208) on /products" {
		t.Fatalf("%q %q", rec.ids, rec.titles)
	}
	r, err := second.board.Register(t.Context())
	if err != nil || len(r.Outbox) != 0 {
		t.Errorf("%+v, %v", r.Outbox, err)
	}
	if _, err := second.board.Handle(t.Context(), "94b7ca47cc2dee8a", changes.Handling{State: watch.Resolved},
		"ann"); err != nil {
		t.Fatal(err)
	}
	if err := second.tellOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(rec.ids) != 2 || rec.ids[1] == rec.ids[0] || !strings.HasPrefix(rec.titles[1], "Resolved: formatPrice") {
		t.Errorf("%q %q", rec.ids, rec.titles)
	}
}

// A message describes what happened, where and since when, and filters match its labels.
func TestMessage(t *testing.T) {
	doc := found(t, "/products", "94b7ca47cc2dee8a")
	w := watcherOf(t, doc, "channels:\n  - {name: a, kind: alertmanager, target: \"http://127.0.0.1:9\"}\n", nil)
	r, err := w.board.Register(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	item, ok := w.View(query.Pages{}).Item(r, "94b7ca47cc2dee8a")
	if !ok {
		t.Fatal("the change is missing")
	}
	m := messageOf(r.Outbox[0], &item, naming.History{Commit: "0123abc", RepositoryURL: "https://git.example/shop"},
		"https://d.example/")
	if m.Link != "https://d.example/changes?id=94b7ca47cc2dee8a" || m.Labels["function"] != "formatPrice" ||
		m.Labels["direction"] != "slower" || m.Labels["release"] != "b" ||
		*m.Milliseconds != 160 || m.Commit != "0123abc" || m.Repository != "https://git.example/shop" ||
		m.Event != notify.Found || len(m.Pages) != 1 || !strings.HasPrefix(m.Lines[0],
		"Since: with release b (before: a), since ") {
		t.Errorf("%+v", m)
	}
	if _, ok := w.View(query.Pages{Key: "none", Takes: func(string) bool {
		return false
	}}).Item(r, "94b7ca47cc2dee8a"); ok {
		t.Error("a user without access to the page can see the change")
	}
}
