package access

import (
	"container/list"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// sessionCookie is the name of the cookie of a login.
	sessionCookie = "fieldtrie-session"
	// sessionFor is the duration of a login.
	sessionFor = 12 * time.Hour
	// mostSessions is the maximum number of logins of one user or token: a further login ends the
	// oldest login of the same user or token.
	mostSessions = 200
	// maxLogin is the maximum size of the body of a login, in bytes.
	maxLogin = 4 << 10
)

// sessions are the logins of browsers. They end when the rules are replaced and when the process
// ends.
type sessions struct {
	now func() time.Time

	mu  sync.Mutex
	of  map[[sha256.Size]byte]*list.Element // by hash of the cookie, so that lookup time reveals nothing
	old map[string]*list.List               // of *session, oldest first, by kind and name of the owner
}

type session struct {
	key  [sha256.Size]byte
	who  *Identity
	ends time.Time
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, of: map[[sha256.Size]byte]*list.Element{}, old: map[string]*list.List{}}
}

// owner returns a key of the identity that logged in.
func (x *session) owner() string { return x.who.Kind + " " + x.who.Name }

// begin starts a login and returns the value of its cookie.
func (s *sessions) begin(who *Identity, lasts time.Duration) string {
	text := rand.Text()
	x := &session{sha256.Sum256([]byte(text)), who, s.now().Add(lasts)}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.old[x.owner()]
	if old == nil {
		old = list.New()
		s.old[x.owner()] = old
	}
	s.of[x.key] = old.PushBack(x)
	for old.Len() > mostSessions {
		s.drop(old.Front())
	}
	return text
}

// whose returns the identity of the login with this cookie, or nil.
func (s *sessions) whose(text string) *Identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.of[sha256.Sum256([]byte(text))]
	if e == nil {
		return nil
	}
	x := e.Value.(*session)
	if !s.now().Before(x.ends) {
		s.drop(e)
		return nil
	}
	return x.who
}

// end ends the login with this cookie, if any.
func (s *sessions) end(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.of[sha256.Sum256([]byte(text))]; e != nil {
		s.drop(e)
	}
}

func (s *sessions) drop(e *list.Element) {
	x := e.Value.(*session)
	delete(s.of, x.key)
	if old := s.old[x.owner()]; old.Remove(e) != nil && old.Len() == 0 {
		delete(s.old, x.owner())
	}
}

// cookieOf returns the login cookie of a request, or "".
func cookieOf(r *http.Request) string {
	if c, err := r.Cookie(sessionCookie); err == nil {
		return c.Value
	}
	return ""
}

// Credentials returns the credentials of a request, to distinguish senders. The result is secret.
func Credentials(r *http.Request) string {
	return r.Header.Get("Authorization") + " " + cookieOf(r)
}

// login is the body of a login: a user and a password, or a token.
type login struct {
	User     string `json:"user"`
	Password string `json:"password"`
	Token    string `json:"token"`
}

// Login returns a handler that accepts a user and a password, or a token, as JSON, and sets a
// cookie: 204, 400 for a malformed login, 401 for an unknown one, 429 if too many passwords are
// being checked. Browsers send the cookie only to this address; scripts cannot read it, and pages
// of other sites cannot make a browser send it. A login is valid for twelve hours, until the rules
// are reloaded, or until [Guard.Logout].
func (g *Guard) Login() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var l login
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxLogin))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil || l.Token == "" == (l.User == "") {
			writeError(w, http.StatusBadRequest, `body: send {"user": …, "password": …} or {"token": …}`)
			return
		}
		now := g.now.Load()
		var who *Identity
		var err error
		if l.Token != "" {
			who = now.rules.token(l.Token)
		} else {
			who, err = now.passwords.check(r.Context(), g.work, AddressOf(r), l.User, l.Password)
		}
		switch {
		case errors.Is(err, errBusy):
			g.refused(r, ReasonBusy, nil)
			w.Header().Set("Retry-After", "5")
			writeError(w, http.StatusTooManyRequests, err.Error())
		case err != nil:
			writeError(w, http.StatusServiceUnavailable, err.Error())
		case who == nil:
			g.refused(r, ReasonUnknown, nil)
			writeError(w, http.StatusUnauthorized, "unknown user, or wrong password or token")
		default:
			setCookie(w, isSecure(r), "", now.sessions.begin(who, sessionFor), sessionFor)
			w.WriteHeader(http.StatusNoContent)
		}
	})
}

// Logout returns a handler that ends a login.
func (g *Guard) Logout() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.now.Load().sessions.end(cookieOf(r))
		setCookie(w, isSecure(r), "", "", -time.Second)
		w.Header().Set("Clear-Site-Data", `"cache"`) // removes responses from the browser's cache
		w.WriteHeader(http.StatusNoContent)
	})
}

// setCookie sets the login cookie for everything below a path. Without a path, the cookie applies
// to the directory of the request.
func setCookie(w http.ResponseWriter, secure bool, path, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Path: path, Value: value, MaxAge: int(age / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	})
}

// isSecure reports whether the browser uses TLS, to the daemon or to a proxy in front of it.
// Forging the header of the proxy does no harm: a browser without TLS then rejects its own cookie.
func isSecure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") ||
		strings.HasPrefix(r.Header.Get("Origin"), "https://")
}
