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
	// StartPath is where a login by the OpenID provider begins.
	StartPath = "/login/start"
	// providerHeader names in a refusal the provider by which a browser can log in, see [StartPath].
	providerHeader = "Fieldtrie-Login"
	// attemptCookie is the name of the cookie of a login that is begun, and attemptFor how long that may take. With TLS it has a prefix, by which
	// browsers take it from no other host.
	attemptCookie, hostPrefix = "fieldtrie-attempt", "__Host-"
	attemptFor                = 10 * time.Minute
	// personFor is the duration of a login by the provider: then it is asked again, in which groups somebody is.
	personFor = 8 * time.Hour
	// maxNext bounds the path to go to after a login, and maxAttempt the cookie, in bytes.
	maxNext, maxAttempt = 1 << 10, 4 << 10
)

// newProviderWork bounds how many logins wait for the provider, as [workload] does for passwords.
func newProviderWork() *workload {
	return &workload{line: fair.New(fair.Options{Turns: 8, Waiting: mostOfAddress, Most: mostWaiting}), wait: 3 * time.Second}
}

// Start returns a handler that sends a browser to the OpenID provider to log in. The parameter next is the path to which it returns.
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

// Callback returns a handler that lets in who comes back from the OpenID provider, if a group in the rules may.
func (g *Guard) Callback() http.Handler {
	return g.inTurn(func(w http.ResponseWriter, r *http.Request, now *guarding) error {
		a := attemptIn(r, now.secure(r))
		http.SetCookie(w, attemptOf(now.secure(r), "", -time.Second)) // an attempt is good for one login
		person, err := now.provider.Finish(r.Context(), a, r.URL.Query())
		if err != nil {
			return err
		}
		who := now.rules.person(person.Name, person.Groups)
		if who == nil {
			return &provider.RefusedError{Why: fmt.Sprintf("%.100q is in no group that may log in; an operator can add one "+
				"to the file of --access", person.Name)}
		}
		setCookie(w, now.secure(r), now.provider.Root(), now.sessions.begin(who, personFor), personFor)
		http.Redirect(w, r, localPath(a.Next), http.StatusFound)
		return nil
	})
}

// inTurn returns a handler that calls one step of a login by the provider, when it is the turn of
// the browser's address.
func (g *Guard) inTurn(step func(http.ResponseWriter, *http.Request, *guarding) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		now := g.now.Load()
		if now.provider == nil {
			writeError(w, http.StatusNotFound, "nobody logs in by a provider here: the file of --access has no oidc")
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

// failed responds with a page that has one sentence and the id of the request. The details are for
// the log: anybody can ask for the page, and the provider's errors can have addresses of its
// network.
func (g *Guard) failed(w http.ResponseWriter, r *http.Request, err error) {
	status, reason := http.StatusBadGateway, ReasonProvider
	why := "the login provider does not respond as it should; try again later"
	refused, isRefused := errors.AsType[*provider.RefusedError](err)
	switch {
	case r.Context().Err() != nil: // the browser has left, or the daemon ends
		writeError(w, http.StatusServiceUnavailable, "the login was given up")
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

// localPath returns a path of this address, / if a text is none: browsers take //host and /\host for other addresses.
func localPath(text string) string {
	if len(text) > maxNext || !strings.HasPrefix(text, "/") || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' }) || strings.HasPrefix(text, "//") {
		return "/"
	}
	return text
}

// secure reports whether the cookies of a login by the provider are for TLS alone: also if a proxy does not say that it has it.
func (g *guarding) secure(r *http.Request) bool { return isSecure(r) || g.provider.Secure() }

// attemptName returns the name of the cookie of an attempt.
func attemptName(secure bool) string {
	if secure {
		return hostPrefix + attemptCookie
	}
	return attemptCookie
}

// attemptOf returns the cookie of an attempt. It is sent along when the provider sends the browser back, so it is not for requests of this
// address alone.
func attemptOf(secure bool, value string, age time.Duration) *http.Cookie {
	return &http.Cookie{Name: attemptName(secure), Value: value, Path: "/", MaxAge: int(age / time.Second), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure}
}

// attemptIn returns the attempt of a browser, the zero one if it has begun none.
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
