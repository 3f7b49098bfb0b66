package access

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fair"
	"github.com/fieldtrie/fieldtrie/internal/requests"
	"github.com/fieldtrie/fieldtrie/rules/access/provider"
)

const (
	// StartPath is the path at which a login with the OpenID provider starts.
	StartPath = "/login/start"
	// providerHeader is the header of a refusal with the name of the provider, see [StartPath].
	providerHeader = "Fieldtrie-Login"
	// attemptCookie is the name of the cookie of a started login. With TLS it gets a prefix, so
	// that browsers accept it only from this host.
	attemptCookie, hostPrefix = "fieldtrie-attempt", "__Host-"
	attemptFor                = 10 * time.Minute
	// personFor is the duration of a login with the provider. After it, groups are checked again.
	personFor = 8 * time.Hour
	// maxNext is the maximum length of the path to open after a login, and maxAttempt of the
	// cookie, in bytes.
	maxNext, maxAttempt = 1 << 10, 4 << 10
)

// newProviderWork bounds how many logins wait for the provider, like [workload] for passwords.
func newProviderWork() *workload {
	return &workload{line: fair.New(fair.Options{Turns: 8, Waiting: mostOfAddress, Most: mostWaiting}),
		wait: 3 * time.Second}
}

// Start returns a handler that redirects a browser to the OpenID provider. The parameter next is
// the path to open after the login.
func (g *Guard) Start() http.Handler {
	return g.inTurn(func(w http.ResponseWriter, r *http.Request, now *guarding) error {
		a := provider.NewAttempt(localPath(r.URL.Query().Get("next")))
		to, err := now.provider.Begin(r.Context(), a)
		if err != nil {
			return err
		}
		text, err := json.Marshal(a)
		if err != nil {
			return fmt.Errorf("write the cookie: %w", err)
		}
		http.SetCookie(w, attemptOf(now.secure(r), base64.RawURLEncoding.EncodeToString(text), attemptFor))
		http.Redirect(w, r, to, http.StatusFound)
		return nil
	})
}

// Callback returns a handler for browsers that come back from the OpenID provider. It logs the
// person in if one of their groups is in the rules.
func (g *Guard) Callback() http.Handler {
	return g.inTurn(func(w http.ResponseWriter, r *http.Request, now *guarding) error {
		a := attemptIn(r, now.secure(r))
		http.SetCookie(w, attemptOf(now.secure(r), "", -time.Second)) // an attempt is valid for one login
		person, err := now.provider.Finish(r.Context(), a, r.URL.Query())
		if err != nil {
			return err
		}
		who := now.rules.person(person.Name, person.Groups)
		if who == nil {
			return &provider.RefusedError{Why: fmt.Sprintf(
				"%.100q is in no group that may log in; an operator can add one "+
					"to the file of --access", person.Name)}
		}
		setCookie(w, now.secure(r), now.provider.Root(), now.sessions.begin(who, personFor), personFor)
		http.Redirect(w, r, localPath(a.Next), http.StatusFound)
		return nil
	})
}

// inTurn returns a handler that calls one step of a login with the provider, when the browser's
// address has its turn.
func (g *Guard) inTurn(step func(http.ResponseWriter, *http.Request, *guarding) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		now := g.now.Load()
		if now.provider == nil {
			writeError(w, http.StatusNotFound,
				"login with a provider is not configured: the file of --access has no oidc")
			return
		}
		done, err := g.logins.begin(r.Context(), AddressOf(r))
		if err == nil {
			defer done()
			err = step(w, r, now)
		}
		if err != nil {
			g.failed(w, r, err)
		}
	})
}

// failed responds with a page that contains one sentence and the id of the request. The details go
// to the log: any client can request the page, and the provider's errors may contain internal
// addresses.
func (g *Guard) failed(w http.ResponseWriter, r *http.Request, err error) {
	status, reason := http.StatusBadGateway, ReasonProvider
	why := "the login provider does not respond as it should; try again later"
	refused, isRefused := errors.AsType[*provider.RefusedError](err)
	switch {
	case r.Context().Err() != nil: // the browser is gone, or the daemon shuts down
		writeError(w, http.StatusServiceUnavailable, "the login was cancelled")
		return
	case errors.Is(err, errBusy):
		status, reason, err = http.StatusTooManyRequests, ReasonBusy, nil
		why = "too many logins are waiting; try again in some seconds"
		w.Header().Set("Retry-After", "5")
	case isRefused:
		status, reason, why = http.StatusForbidden, ReasonUnknown, refused.Why
	}
	g.refused(r, reason, err)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html><meta charset=utf-8><title>Not logged in</title><h1>Not logged in</h1>"+
		"<p>%s<p>Request %s<p><a href=\"/\">Back</a>\n",
		html.EscapeString(why), html.EscapeString(requests.ID(r)))
}

// localPath returns a path on this address, or / if text is not one: browsers treat //host and
// /\host as other hosts.
func localPath(text string) string {
	if len(text) > maxNext || !strings.HasPrefix(text, "/") || strings.ContainsFunc(text, func(c rune) bool {
		return c < ' ' || c == 0x7f || c == '\\'
	}) || strings.HasPrefix(text, "//") {
		return "/"
	}
	return text
}

// secure reports whether cookies of a login with the provider require TLS, even if a proxy does not
// report that it uses TLS.
func (g *guarding) secure(r *http.Request) bool { return isSecure(r) || g.provider.Secure() }

// attemptName returns the name of the cookie of an attempt, with [hostPrefix] if it requires TLS.
func attemptName(secure bool) string {
	if secure {
		return hostPrefix + attemptCookie
	}
	return attemptCookie
}

// attemptOf returns the cookie of an attempt. The browser must send it when the provider redirects
// it back, so it is not SameSite=Strict.
func attemptOf(secure bool, value string, age time.Duration) *http.Cookie {
	return &http.Cookie{Name: attemptName(secure), Value: value, Path: "/", MaxAge: int(age / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure}
}

// attemptIn returns the attempt of a browser, or the zero Attempt.
func attemptIn(r *http.Request, secure bool) (a provider.Attempt) {
	c, err := r.Cookie(attemptName(secure))
	if err != nil || len(c.Value) > maxAttempt {
		return a
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || json.Unmarshal(text, &a) != nil {
		return provider.Attempt{}
	}
	return a
}
