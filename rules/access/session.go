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
	// sessionCookie names the cookie that a browser has after a login.
	sessionCookie = "fieldtrie-session"
	// sessionFor is how long a login holds.
	sessionFor = 12 * time.Hour
	// mostSessions bounds the logins that hold: the oldest ends when there is one more.
	mostSessions = 10_000
	// maxLogin bounds what is sent to log in, in bytes.
	maxLogin = 4 << 10
)

// sessions are the logins of browsers. They end with the rules by which they were granted, and with
// the process.
type sessions struct {
	now func() time.Time

	mu  sync.Mutex
	of  map[[sha256.Size]byte]*list.Element // by hash of the cookie, so that looking one up tells nothing of others
	old *list.List                          // of *session, the oldest first
}

type session struct {
	key  [sha256.Size]byte
	who  *Identity
	ends time.Time
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, of: map[[sha256.Size]byte]*list.Element{}, old: list.New()}
}

// begin returns the text of a new cookie.
func (s *sessions) begin(who *Identity) string {
	text := rand.Text()
	x := &session{sha256.Sum256([]byte(text)), who, s.now().Add(sessionFor)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[x.key] = s.old.PushBack(x)
	for s.old.Len() > mostSessions {
		s.drop(s.old.Front())
	}
	return text
}

// whose returns who has the login of a cookie, nil if there is none.
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

// end ends the login of a cookie, if there is one.
func (s *sessions) end(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.of[sha256.Sum256([]byte(text))]; e != nil {
		s.drop(e)
	}
}

func (s *sessions) drop(e *list.Element) {
	delete(s.of, e.Value.(*session).key)
	s.old.Remove(e)
}

// cookieOf returns what a browser has of a login, "" if it has none.
func cookieOf(r *http.Request) string {
	if c, err := r.Cookie(sessionCookie); err == nil {
		return c.Value
	}
	return ""
}

// Credentials returns what a request says about who sent it, so that those of different people can
// be told apart. It is a secret.
func Credentials(r *http.Request) string {
	return r.Header.Get("Authorization") + " " + cookieOf(r)
}

// login is what is sent to log in: a user and a password, or a token.
type login struct {
	User     string `json:"user"`
	Password string `json:"password"`
	Token    string `json:"token"`
}

// Login returns a handler that takes a user and a password, or a token, as JSON, and gives the
// browser a cookie for it: 204, 400 for what is no login, 401 for one that is not known, 429 if too
// many passwords are being checked. The cookie is for this address alone, no script reads it, and no
// page of another site makes a browser send it. The login holds for twelve hours, until the rules
// are read again, or until [Guard.Logout].
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
			g.refused(r, ReasonBusy)
			w.Header().Set("Retry-After", "5")
			writeError(w, http.StatusTooManyRequests, err.Error())
		case err != nil:
			writeError(w, http.StatusServiceUnavailable, err.Error())
		case who == nil:
			g.refused(r, ReasonUnknown)
			writeError(w, http.StatusUnauthorized, "there is no such user, or the password or token is another one")
		default:
			setCookie(w, r, now.sessions.begin(who), int(sessionFor/time.Second))
			w.WriteHeader(http.StatusNoContent)
		}
	})
}

// Logout returns a handler that ends a login.
func (g *Guard) Logout() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.now.Load().sessions.end(cookieOf(r))
		setCookie(w, r, "", -1)
		w.WriteHeader(http.StatusNoContent)
	})
}

func setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: value, MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: isSecure(r),
	})
}

// isSecure reports whether a browser came by TLS: to the daemon itself, or to a proxy before it. Anybody may say so: the
// cookie is his own, and a browser that came without TLS does not keep it then.
func isSecure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") || strings.HasPrefix(r.Header.Get("Origin"), "https://")
}
