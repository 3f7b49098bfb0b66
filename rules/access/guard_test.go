package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fair"
)

// privateMux responds with the pattern of the request.
func privateMux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /metrics", "GET /v1/backup", "/v1/deletions", "/v1/deletions/{id}",
		"GET /healthz", "GET /readyz", "/v1/symbols/", "GET /v1/symbols", "/api/v1/", "/api/v1/views", "/api/v1/view",
		"/demo/", "/"} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, pattern) })
	}
	return mux
}

// ask sends a request to a raw path, with an Authorization header unless it is empty.
func ask(h http.Handler, method, path, authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func basic(name, password string) string {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.SetBasicAuth(name, password)
	return r.Header.Get("Authorization")
}

// ignore is a Refused that does nothing.
func ignore(*http.Request, Reason, error) {}

func TestGuard(t *testing.T) {
	var reason Reason
	h := NewGuard(parse(t, sampleText(t)), func(_ *http.Request, r Reason, _ error) {
		reason = r
	}).Handler(privateMux())
	who := map[string][]Scope{
		"":                           nil,
		"Bearer g":                   {ScopeQuery},
		"bearer  g ":                 {ScopeQuery},
		"Bearer p":                   {ScopeMetrics},
		"Bearer b":                   {ScopeQuery, ScopeMetrics},
		"Bearer n":                   {ScopeBackup},
		"Bearer s":                   {ScopeSymbols},
		"Bearer x":                   nil,
		"Bearer":                     nil,
		"Bearer ":                    nil,
		"g":                          nil,
		"Token g":                    nil,
		"Basic g":                    nil,
		"Bearer " + hashOf("g"):      nil,
		basic("ann", "secret"):       {ScopeQuery, ScopeMetrics},
		basic("ann", "Secret"):       nil,
		basic("ann", ""):             nil,
		basic("bob", "secret"):       nil,
		basic("bob", "pass:wörd"):    {ScopeQuery, ScopeMetrics, ScopeBackup},
		basic("eve", "secret"):       nil,
		basic("eve", "pass:wörd"):    nil,
		basic("", ""):                nil,
		basic("grafana", "g"):        nil,
		basic("ann", hashOf("g")):    nil,
		"Basic " + basic("a", "b"):   nil,
		basic("ann", "secret") + "x": nil,
	}
	needs := map[string]Scope{
		"/healthz": "", "/readyz": "", "/metrics": ScopeMetrics, "/v1/backup": ScopeBackup,
		"/v1/deletions": ScopeDelete, "/v1/deletions/7": ScopeDelete,
		"/api/v1/profile?page=/healthz": ScopeQuery, "/demo/": ScopeQuery, "/nowhere": ScopeQuery, "/": ScopeQuery,
		"/querier.v1.QuerierService/SelectSeries": ScopeQuery, "/metrics/": ScopeQuery, "/healthz/metrics": ScopeQuery,
		"/api/v1/views?page=/x": ScopeViews, "/api/v1/view": ScopeViews, "/api/v1/view/": ScopeQuery,
		"/v1/symbols": ScopeQuery, "/v1/symbols/uploads": ScopeSymbols, "/v1/symbols/0123": ScopeSymbols,
	}
	for range 2 { // the second time passwords are cached
		for authorization, granted := range who {
			for path, scope := range needs {
				want, why := http.StatusOK, Reason("")
				switch {
				case scope == "":
				case authorization == "":
					want, why = http.StatusUnauthorized, ReasonAnonymous
				case granted == nil:
					want, why = http.StatusUnauthorized, ReasonUnknown
				case !slices.Contains(granted, scope):
					want, why = http.StatusForbidden, ReasonScope
				}
				reason = ""
				w := ask(h, http.MethodGet, path, authorization)
				if w.Code != want {
					t.Errorf("%q for %s: got %d %s, want %d", authorization, path, w.Code, w.Body, want)
				}
				if reason != why {
					t.Errorf("%q for %s: the reason is %q, want %q", authorization, path, reason, why)
				}
				if want != http.StatusOK {
					checkRefusal(t, w, scope)
				}
				allowed := ""
				if want == http.StatusOK && scope != "" {
					allowed = strings.Join(names(granted), " ")
				}
				if got := w.Header().Get("Fieldtrie-Scopes"); got != allowed {
					t.Errorf("%q for %s: the scopes are %q, want %q", authorization, path, got, allowed)
				}
			}
		}
	}
}

// checkRefusal checks the response to a refused request.
func checkRefusal(t *testing.T, w *httptest.ResponseRecorder, scope Scope) {
	t.Helper()
	var body map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || len(body) != 1 {
		t.Errorf("body %q: %v", w.Body, err)
	}
	schemes := w.Header().Values("WWW-Authenticate")
	switch w.Code {
	case http.StatusUnauthorized:
		if len(schemes) != 2 || !strings.HasPrefix(schemes[0], "Bearer ") || !strings.HasPrefix(schemes[1], "Basic ") {
			t.Errorf("schemes are %q", schemes)
		}
	case http.StatusForbidden:
		if !strings.Contains(body["error"], "the scope "+string(scope)+" is missing") || schemes != nil {
			t.Errorf("error %q, schemes %q", body["error"], schemes)
		}
	}
}

// TestPaths checks that no spelling of a path avoids the scope of its target.
func TestPaths(t *testing.T) {
	mux := privateMux()
	h := NewGuard(parse(t, sampleText(t)), ignore).Handler(mux)
	for _, path := range []string{
		"/metrics", "//metrics", "/./metrics", "/api/../metrics", "/api/v1/../../metrics", "/healthz/../metrics",
		"//healthz//../metrics",
		"/%6detrics", "/m%65trics", "/%2e/metrics", "/healthz/%2e%2e/metrics", "/healthz%2f..%2fmetrics",
		"/healthz%2fmetrics", "/metrics%2f", "/metrics%00",
		"/metrics?x=/healthz", "/metrics;/healthz", "/METRICS", "/v1/backup", "/v1//backup", "/v1%2fbackup",
		"/v1/%62ackup", "/readyz/../v1/backup",
		"/v1/backup/../../healthz", "http://other.example/metrics", "http://other.example//v1/backup",
		"/v1/symbols", "/v1/symbols/", "/v1//symbols", "/v1/symbols/../backup", "/v1/symbols/..%2fbackup",
		"/v1/symbol%73", "/v1/symbols%2f", "/v1/symbols?/uploads",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
			http.MethodConnect} {
			for authorization, granted := range map[string]Scope{"": "", "Bearer g": ScopeQuery,
				"Bearer p": ScopeMetrics, "Bearer n": ScopeBackup, "Bearer s": ScopeSymbols} {
				w := ask(h, method, path, authorization)
				if w.Code != http.StatusOK {
					continue
				}
				served, _ := strings.CutPrefix(w.Body.String(), "GET ")
				needs := map[string]Scope{"/metrics": ScopeMetrics, "/v1/backup": ScopeBackup,
					"/v1/symbols/": ScopeSymbols, "/healthz": "", "/readyz": ""}
				need, special := needs[served]
				if !special {
					need = ScopeQuery
				}
				if need != "" && need != granted {
					t.Errorf("%s %s with %q is served %q", method, path, authorization, served)
				}
			}
		}
	}
	for path, want := range map[string]int{"/%6detrics": 200, "//metrics": 307, "/api/../metrics": 307} {
		if w := ask(h, http.MethodGet, path, "Bearer p"); w.Code != want && w.Code != 301 {
			t.Errorf("%s: got %d, want %d", path, w.Code, want)
		}
		if w := ask(h, http.MethodGet, path, "Bearer g"); w.Code != http.StatusForbidden {
			t.Errorf("%s without the scope: got %d", path, w.Code)
		}
	}
}

func TestTwoHeaders(t *testing.T) {
	h := NewGuard(parse(t, sampleText(t)), ignore).Handler(privateMux())
	r := httptest.NewRequest(http.MethodGet, "/api/v1/x", nil)
	r.Header["Authorization"] = []string{"Bearer g", "Bearer x"}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("got %d", w.Code)
	}
}

func TestSetRules(t *testing.T) {
	g := NewGuard(parse(t, sampleText(t)), ignore)
	h := g.Handler(privateMux())
	get := func(authorization string) int {
		return ask(h, http.MethodGet, "/api/v1/x", authorization).Code
	}
	if get("Bearer g") != 200 || get(basic("ann", "secret")) != 200 {
		t.Fatal("the rules are not applied")
	}
	if n := len(g.now.Load().passwords.right); n != 1 {
		t.Errorf("%d passwords are remembered", n)
	}
	g.SetRules(parse(t, "users:\n  - name: ann\n    bcrypt: "+bcryptOf(t, "new")))
	if get("Bearer g") != 401 || get(basic("ann", "secret")) != 401 || get(basic("ann", "new")) != 200 {
		t.Error("the new rules are not applied")
	}
	for i := range 100 {
		get(basic("ann", fmt.Sprint("wrong", i)))
		get(basic(fmt.Sprint("nobody", i), "new"))
	}
	if n := len(g.now.Load().passwords.right); n != 1 {
		t.Errorf("%d passwords are remembered", n)
	}
	// Without users no password is hashed.
	g.SetRules(parse(t, "tokens:\n  - name: a\n    sha256: "+hashOf("a")))
	g.work.line = nil
	if get(basic("ann", "new")) != 401 || get("Bearer a") != 200 {
		t.Error("the rules without users are not applied")
	}
}

// TestWorkload checks that unknown passwords wait for a turn, that other requests proceed, and that
// a request is refused if it waits too long or too many wait.
func TestWorkload(t *testing.T) {
	g := NewGuard(parse(t, sampleText(t)), ignore)
	g.work = &workload{line: fair.New(fair.Options{Turns: 1, Waiting: 1, Most: 2}), wait: time.Millisecond}
	h := g.Handler(privateMux())
	get := func(authorization string) *httptest.ResponseRecorder {
		return ask(h, http.MethodGet, "/api/v1/x", authorization)
	}
	if w := get(basic("ann", "secret")); w.Code != 200 {
		t.Fatalf("got %d", w.Code)
	}
	done, err := g.work.line.Take(t.Context(), "another") // one check is running
	if err != nil {
		t.Fatal(err)
	}
	for _, authorization := range []string{basic("ann", "wrong"), basic("bob", "pass:wörd"), basic("eve", "x")} {
		if w := get(authorization); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: got %d", authorization, w.Code)
		}
	}
	for _, authorization := range []string{basic("ann", "secret"), "Bearer g"} {
		if w := get(authorization); w.Code != 200 {
			t.Errorf("%s: got %d", authorization, w.Code)
		}
	}
	g.work.wait = time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	waiters := make(chan error)
	for i := range 2 {
		go func() {
			_, err := g.work.line.Take(ctx, fmt.Sprint(i))
			waiters <- err
		}()
	}
	for waiting := 0; waiting < 2; _, waiting = g.work.line.Taken() {
		time.Sleep(time.Millisecond)
	}
	if w := get(basic("eve", "x")); w.Code != http.StatusTooManyRequests {
		t.Errorf("with too many waiting: got %d", w.Code)
	}
	gone := errors.New("gone")
	cancel(gone)
	for range 2 {
		if err := <-waiters; err != gone {
			t.Errorf("a disconnected client: %v", err)
		}
	}
	if _, err := g.work.begin(ctx, "x"); err != gone {
		t.Errorf("a disconnected client: %v", err)
	}
	done()
	if w := get(basic("bob", "pass:wörd")); w.Code != 200 {
		t.Errorf("with a turn: got %d", w.Code)
	}
	if taken, waiting := g.work.line.Taken(); taken != 0 || waiting != 0 {
		t.Errorf("%d have a turn, %d wait", taken, waiting)
	}
}

func TestConcurrent(t *testing.T) {
	text := sampleText(t)
	g := NewGuard(parse(t, text), ignore)
	h := g.Handler(privateMux())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				name, want := "ann", 200
				if (i+j)%3 == 0 {
					name, want = "eve", 401
				}
				if w := ask(h, http.MethodGet, "/api/v1/x", basic(name, "secret")); w.Code != want {
					t.Errorf("%s: got %d %s", name, w.Code, w.Body)
				}
				if i == 0 {
					g.SetRules(parse(t, text))
				}
			}
		})
	}
	wg.Wait()
}

// Setting the state of a change needs its own scope, and reading it the scope query; other
// spellings of the path need the same.
func TestChangesScope(t *testing.T) {
	mux := privateMux()
	for _, pattern := range []string{"GET /api/v1/changes/{id}", "POST /api/v1/changes/{id}"} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, pattern) })
	}
	const id = "/api/v1/changes/94b7ca47cc2dee8a"
	for _, x := range []struct {
		method, path string
		want         Scope
	}{{"GET", id, ScopeQuery}, {"HEAD", id, ScopeQuery}, {"POST", id, ScopeChanges},
		{"POST", "/api/v1//changes/94b7ca47cc2dee8a", ScopeChanges}, {"POST", id + "/", ScopeQuery}} {
		_, pattern := mux.Handler(httptest.NewRequest(x.method, x.path, nil))
		if got := scopeOf(pattern); got != x.want {
			t.Errorf("%s %s, %q: %q, want %q", x.method, x.path, pattern, got, x.want)
		}
		if pattern == "POST /api/v1/changes/{id}" && x.want != ScopeChanges {
			t.Errorf("%s is accepted", x.path)
		}
	}
}
