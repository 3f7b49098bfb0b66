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
	// mostSessions bounds the current logins of one user or token: another login ends the oldest of these, and none of others.
	mostSessions = 200
	// maxLogin bounds the body of a login, in bytes.
	maxLogin = 4 << 10
)

// sessions are the logins of browsers. They end with their rules, and with the process.
type sessions struct {
	now func() time.Time

	mu  sync.Mutex
	of  map[[sha256.Size]byte]*list.Element // by hash of the cookie, so that looking one up tells nothing of others
	old map[string]*list.List               // of *session, the oldest first, by kind and name of whose they are
}

type session struct {
	key  [sha256.Size]byte
	who  *Identity
	ends time.Time
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, of: map[[sha256.Size]byte]*list.Element{}, old: map[string]*list.List{}}
}

// owner names whose login it is.
func (x *session) owner() string { return x.who.Kind + " " + x.who.Name }

// begin returns the text of a new cookie, for a login of some time.
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

// whose returns the identity of a cookie's login, or nil.
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

// end ends the login of a cookie, if any.
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

// Credentials returns the credentials of a request, so that different senders can be told apart. It
// is a secret.
func Credentials(r *http.Request) string {
	return r.Header.Get("Authorization") + " " + cookieOf(r)
}

// login is the body of a login: a user and a password, or a token.
type login struct {
	User     string `json:"user"`
	Password string `json:"password"`
	Token    string `json:"token"`
}

// Login returns a handler that accepts a user and a password, or a token, as JSON, and gives the
// browser a cookie: 204, 400 for a malformed login, 401 for an unknown one, 429 if too many
// passwords are being checked. The cookie is only for this address; scripts cannot read it, and
// pages of other sites cannot make a browser send it. The login holds for twelve hours, until the
// rules are read again, or until [Guard.Logout].
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
			writeError(w, http.StatusUnauthorized, "there is no such user, or the password or token is another one")
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
		w.Header().Set("Clear-Site-Data", `"cache"`) // what was answered stays in no cache of the browser
		w.WriteHeader(http.StatusNoContent)
	})
}

// setCookie gives a browser the cookie of a login for all below a path; without one, for all beside what was asked for.
func setCookie(w http.ResponseWriter, secure bool, path, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Path: path, Value: value, MaxAge: int(age / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	})
}

// isSecure reports whether a browser uses TLS, to the daemon itself or to a proxy in front of it.
// The header of the proxy can be forged without harm: a browser without TLS then rejects its own
// cookie.
func isSecure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") || strings.HasPrefix(r.Header.Get("Origin"), "https://")
}
