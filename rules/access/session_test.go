package access

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// withLogin is a guarded address with a login for browsers.
func withLogin(t *testing.T) (*Guard, http.Handler) {
	t.Helper()
	g := NewGuard(parse(t, sampleText(t)), ignore)
	mux := privateMux()
	for _, pattern := range []string{"GET /{$}", "GET /{page}", "GET /assets/"} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, pattern) })
	}
	mux.Handle("POST /login", g.Login())
	mux.Handle("POST /logout", g.Logout())
	return g, g.Handler(mux)
}

// browse sends a request like the script of a page, with a cookie unless it is nil.
func browse(h http.Handler, method, path, body string, cookie *http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Sec-Fetch-Dest", "empty")
	if cookie != nil {
		r.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// logIn posts body to /login, requires 204 and returns the only cookie of the response.
func logIn(t *testing.T, h http.Handler, body string) *http.Cookie {
	t.Helper()
	w := browse(h, http.MethodPost, "/login", body, nil)
	cookies := w.Result().Cookies()
	if w.Code != http.StatusNoContent || len(cookies) != 1 {
		t.Fatalf("login %s: %d %s, cookies %v", body, w.Code, w.Body, cookies)
	}
	return cookies[0]
}

func TestLogin(t *testing.T) {
	g, h := withLogin(t)
	for _, open := range []string{"/", "/pages", "/assets/main.js"} {
		if w := browse(h, http.MethodGet, open, "", nil); w.Code != http.StatusOK {
			t.Errorf("%s: %d", open, w.Code)
		}
	}
	const question = "/api/v1/profile"
	w := browse(h, http.MethodGet, question, "", nil)
	if schemes := w.Header().Values("WWW-Authenticate"); w.Code != http.StatusUnauthorized || len(schemes) != 1 ||
		!strings.HasPrefix(schemes[0], "Bearer") {
		t.Errorf("the browser would show its own form: %d, %q", w.Code, schemes)
	}
	ann := logIn(t, h, `{"user": "ann", "password": "secret"}`)
	if !ann.HttpOnly || ann.SameSite != http.SameSiteStrictMode || ann.Secure {
		t.Errorf("cookie %+v", ann)
	}
	metrics := logIn(t, h, `{"token": "p"}`)
	for _, test := range []struct {
		cookie *http.Cookie
		path   string
		status int
	}{
		{ann, question, 200}, {ann, "/metrics", 200}, {ann, "/v1/backup", 403}, {metrics, "/metrics", 200},
		{metrics, question, 403},
		{&http.Cookie{Name: ann.Name, Value: "another"}, question, 401}, {&http.Cookie{Name: ann.Name, Value: ""},
			question, 401},
	} {
		if w := browse(h, http.MethodGet, test.path, "", test.cookie); w.Code != test.status {
			t.Errorf("%s with %v: %d, want %d", test.path, test.cookie, w.Code, test.status)
		}
	}
	r := httptest.NewRequest(http.MethodGet, question, nil)
	r.AddCookie(ann)
	r.Header.Set("Authorization", "Bearer x")
	w = httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
		t.Errorf("a wrong token with a login: %d", w.Code)
	}
	if w := browse(h, http.MethodPost, "/logout", "", ann); w.Code != http.StatusNoContent ||
		w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %d, %v", w.Code, w.Result().Cookies())
	}
	if w := browse(h, http.MethodGet, question, "", ann); w.Code != http.StatusUnauthorized {
		t.Errorf("after the logout: %d", w.Code)
	}
	again := logIn(t, h, `{"user": "ann", "password": "secret"}`)
	g.SetRules(parse(t, sampleText(t)))
	if w := browse(h, http.MethodGet, question, "", again); w.Code != http.StatusUnauthorized {
		t.Errorf("after the rules were read again: %d", w.Code)
	}
}

// Behind a proxy with TLS the cookie requires TLS.
func TestLoginSecure(t *testing.T) {
	_, h := withLogin(t)
	for name, value := range map[string]string{"X-Forwarded-Proto": "https", "Origin": "https://profiles.example.com"} {
		for text, want := range map[string]bool{value: true, strings.Replace(value, "https", "http", 1): false} {
			r := httptest.NewRequest(http.MethodPost, "/login",
				strings.NewReader(`{"user": "ann", "password": "secret"}`))
			r.Host = "profiles.example.com"
			r.Header.Set(name, text)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if c := w.Result().Cookies(); len(c) != 1 || c[0].Secure != want {
				t.Errorf("%s: %s: %d %s, %v", name, text, w.Code, w.Body, c)
			}
		}
	}
}

func TestLoginRefused(t *testing.T) {
	_, h := withLogin(t)
	for body, status := range map[string]int{
		`{"user": "ann", "password": "Secret"}`: 401, `{"user": "eve", "password": "secret"}`: 401,
		`{"user": "ann"}`: 401, `{"token": "x"}`: 401,
		``: 400, `{}`: 400, `null`: 400, `[]`: 400, `{"user": "ann", "token": "g"}`: 400, `{"name": "ann"}`: 400,
		`{"user": "` + strings.Repeat("a", maxLogin) + `"}`: 400,
	} {
		w := browse(h, http.MethodPost, "/login", body, nil)
		if w.Code != status || len(w.Result().Cookies()) != 0 || !strings.Contains(w.Body.String(), `"error"`) {
			t.Errorf("%.60s: %d %s, want %d", body, w.Code, w.Body, status)
		}
	}
}

func TestSessionsEnd(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := newSessions(func() time.Time { return now })
	ann, bob := &Identity{Name: "ann"}, &Identity{Name: "bob"}
	first := s.begin(ann, sessionFor)
	if who := s.whose(first); who != ann {
		t.Errorf("got %v", who)
	}
	now = now.Add(sessionFor)
	if who := s.whose(first); who != nil || len(s.of) != 0 || len(s.old) != 0 {
		t.Error("the login is valid after its end")
	}
	others := s.begin(ann, sessionFor)
	oldest := s.begin(bob, sessionFor)
	for range mostSessions {
		s.begin(bob, sessionFor)
	}
	if who := s.whose(oldest); who != nil || s.old[" bob"].Len() != mostSessions {
		t.Errorf("%d logins are valid, the oldest: %v", s.old[" bob"].Len(), who)
	}
	if who := s.whose(others); who != ann {
		t.Errorf("logins of one user ended another user's: %v", who)
	}
}
