package access

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fair"
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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		now := g.now.Load()
		if now.provider == nil {
			writeError(w, http.StatusNotFound, "nobody logs in by a provider here: the file of --access has no oidc")
			return
		}
		a := provider.NewAttempt(localPath(r.URL.Query().Get("next")))
		to, err := now.provider.Begin(r.Context(), a)
		if err != nil {
			g.failed(w, r, err)
			return
		}
		text, err := json.Marshal(a)
		if err != nil {
			writeError(w, http.StatusInternalServerError, err.Error())
			return
		}
		http.SetCookie(w, attemptOf(now.secure(r), base64.RawURLEncoding.EncodeToString(text), attemptFor))
		http.Redirect(w, r, to, http.StatusFound)
	})
}

// Callback returns a handler that lets in who comes back from the OpenID provider, if a group in the rules may.
func (g *Guard) Callback() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		now := g.now.Load()
		if now.provider == nil {
			writeError(w, http.StatusNotFound, "nobody logs in by a provider here: the file of --access has no oidc")
			return
		}
		a := attemptIn(r, now.secure(r))
		http.SetCookie(w, attemptOf(now.secure(r), "", -time.Second)) // an attempt is good for one login
		done, err := g.logins.begin(r.Context(), AddressOf(r))
		if err != nil {
			g.failed(w, r, err)
			return
		}
		defer done()
		person, err := now.provider.Finish(r.Context(), a, r.URL.Query())
		if err != nil {
			g.failed(w, r, err)
			return
		}
		who := now.rules.person(person.Name, person.Groups)
		if who == nil {
			g.failed(w, r, &provider.RefusedError{Why: fmt.Sprintf("%.100q is in no group that may in. Whoever runs the daemon can add one to the file of --access.", person.Name)})
			return
		}
		setCookie(w, now.secure(r), now.provider.Root(), now.sessions.begin(who, personFor), personFor)
		http.Redirect(w, r, localPath(a.Next), http.StatusFound)
	})
}

// failed says as a page why somebody does not get in.
func (g *Guard) failed(w http.ResponseWriter, r *http.Request, err error) {
	status, reason := http.StatusBadGateway, ReasonProvider
	if errors.Is(err, errBusy) || errors.Is(err, context.DeadlineExceeded) {
		status, reason = http.StatusTooManyRequests, ReasonBusy
		w.Header().Set("Retry-After", "5")
	}
	if _, refused := errors.AsType[*provider.RefusedError](err); refused {
		status, reason = http.StatusForbidden, ReasonUnknown
	}
	g.refused(r, reason, nil)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html><meta charset=utf-8><title>Not logged in</title><h1>Not logged in</h1><p>%s<p><a href=\"/\">Back</a>\n", html.EscapeString(err.Error()))
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
