package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/internal/fair"
	"github.com/fieldtrie/fieldtrie/internal/requests"
	"github.com/fieldtrie/fieldtrie/rules/access/provider"
)

// After a login a browser goes to a page of this address, whatever the login link contains.
func TestNext(t *testing.T) {
	for text, want := range map[string]string{
		"/feed?page=%2Fx": "/feed?page=%2Fx", "/": "/", "": "/", "feed": "/", "//evil.example": "/",
		"/\\evil.example": "/", "\\\\evil.example": "/", "https://evil.example": "/",
		"/\t/evil.example": "/", "/\r\nSet-Cookie: a=b": "/", "javascript:alert(1)": "/", " /feed": "/",
		"/" + strings.Repeat("a", 2000): "/", "/x\\y": "/",
	} {
		if got := localPath(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Without a provider, login with one is refused; with one, refusals name it.
func TestStart(t *testing.T) {
	for text, want := range map[string]int{sampleText(t): http.StatusNotFound,
		people + "oidc: {issuer: http://127.0.0.1:1, client_id: f, name: 'Ex ample', url: " +
			"https://d.example}\n": http.StatusBadGateway} {
		refused := map[Reason]int{}
		g := NewGuard(parse(t, text), func(_ *http.Request, why Reason, _ error) { refused[why]++ })
		mux := privateMux()
		mux.Handle("GET "+StartPath, g.Start())
		mux.Handle("GET "+provider.CallbackPath, g.Callback())
		h := g.Handler(mux)
		if w := browse(h, http.MethodGet, StartPath+"?next=/feed", "", nil); w.Code != want ||
			len(w.Result().Cookies()) > 0 || strings.Contains(w.Body.String(), "<script") {
			t.Errorf("start: %d %s", w.Code, w.Body)
		}
		w := browse(h, http.MethodGet, provider.CallbackPath+"?state=&code=x&error=%3Cscript%3E", "", nil)
		if want == http.StatusBadGateway {
			want = http.StatusForbidden // no login was started
		}
		if w.Code != want || strings.Contains(w.Body.String(), "<script") ||
			fmt.Sprint(w.Header()["Cache-Control"]) != "[no-store]" {
			t.Errorf("callback: %d %s %v", w.Code, w.Body, w.Header())
		}
		named := browse(h, http.MethodGet, "/api/v1/profile", "", nil).Header().Get("Fieldtrie-Login")
		if (want == http.StatusForbidden) != (named == "Ex%20ample") {
			t.Errorf("the refusal names %q", named)
		}
	}
}

// The page of a failed login has one sentence and the id of the request. Errors of the provider go
// to the log.
func TestFailedLogin(t *testing.T) {
	var why Reason
	var detail error
	g := NewGuard(parse(t, sampleText(t)), func(_ *http.Request, reason Reason, err error) {
		why, detail = reason, err
	})
	for _, c := range []struct {
		err    error
		status int
		why    Reason
		shows  string
		logs   string
	}{
		{fmt.Errorf("ask: %w", context.DeadlineExceeded), http.StatusBadGateway, ReasonProvider,
			"does not respond as it should", "ask: context deadline exceeded"},
		{errors.New("dial tcp 10.1.2.3:443: " + strings.Repeat("INTERNAL ", 1<<20)), http.StatusBadGateway,
			ReasonProvider, "does not respond as it should", "10.1.2.3"},
		{&provider.RefusedError{Why: "the <token> is not valid", Cause: errors.New("INTERNAL")}, http.StatusForbidden,
			ReasonUnknown, "the &lt;token&gt; is not valid", "not valid: INTERNAL"},
		{errBusy, http.StatusTooManyRequests, ReasonBusy, "too many logins are waiting", ""},
	} {
		h := requests.WithIDs(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.failed(w, r, c.err) }))
		w := browse(h, http.MethodGet, StartPath, "", nil)
		body := w.Body.String()
		if w.Code != c.status || why != c.why || (detail != nil) != (c.logs != "") || detail != nil &&
			!strings.Contains(detail.Error(), c.logs) {
			t.Errorf("got %d, %s, %.200v, want %d, %s, %q", w.Code, why, detail, c.status, c.why, c.logs)
		}
		if !strings.Contains(body, c.shows) || !strings.Contains(body, "Request "+w.Header().Get(requests.Header)) ||
			strings.Contains(body, "INTERNAL") || strings.Contains(body, "10.1.2.3") {
			t.Errorf("the page is %.500s", body)
		}
	}
}

// Both steps of a login wait for a turn.
func TestLoginsTakeTurns(t *testing.T) {
	g := NewGuard(parse(t, people+"oidc: {issuer: http://127.0.0.1:1, client_id: f, url: https://d.example}\n"), ignore)
	g.logins = &workload{line: fair.New(fair.Options{Turns: 1}), wait: 0}
	done, err := g.logins.line.Take(t.Context(), "another address")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for name, h := range map[string]http.Handler{StartPath: g.Start(), provider.CallbackPath: g.Callback()} {
			if w := browse(h, http.MethodGet, name, "", nil); (w.Code == http.StatusTooManyRequests) != (done != nil) {
				t.Errorf("%s: got %d, want 429 only while another address has the turn", name, w.Code)
			}
		}
		if done != nil {
			done()
			done = nil
		}
	}
}

// A browser that disconnects while it waits is neither a failure of the provider nor a refusal.
func TestBrowserLeaves(t *testing.T) {
	g := NewGuard(parse(t, people+"oidc: {issuer: http://127.0.0.1:1, client_id: f, url: https://d.example}\n"),
		func(_ *http.Request, reason Reason, err error) { t.Errorf("refused: %s, %v", reason, err) })
	ctx, leave := context.WithCancel(t.Context())
	leave()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.Start().ServeHTTP(w, r.WithContext(ctx)) })
	if w := browse(h, http.MethodGet, StartPath, "", nil); w.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// Where browsers use TLS, the cookie of a started login requires TLS and has a name that no other
// host can set.
func TestAttemptCookie(t *testing.T) {
	for url, want := range map[string]string{"https://d.example/x": "__Host-fieldtrie-attempt",
		"http://127.0.0.1:8419": "fieldtrie-attempt"} {
		p := provider.New(provider.Settings{URL: url})
		c := attemptOf((&guarding{provider: p}).secure(httptest.NewRequest(http.MethodGet, "/login/start", nil)), "x",
			attemptFor)
		if c.Name != want || c.Secure != p.Secure() || !c.HttpOnly || c.Path != "/" || c.Domain != "" ||
			c.SameSite != http.SameSiteLaxMode || p.Secure() != strings.HasPrefix(want, "__Host-") {
			t.Errorf("%s: %+v", url, c)
		}
	}
	for url, want := range map[string]string{"https://d.example/x": "/x", "https://d.example/x/": "/x",
		"https://d.example": "/", "https://d.example/": "/"} {
		if got := provider.New(provider.Settings{URL: url}).Root(); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}
