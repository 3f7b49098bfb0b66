package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/rules/access/provider"
)

// Guard passes the requests that the rules allow. It is safe for concurrent use by multiple
// goroutines.
type Guard struct {
	now     atomic.Pointer[guarding]
	work    *workload // of checking passwords
	logins  *workload // of logins through the provider
	refused Refused
}

// Refused is called for each refused request, concurrently. detail is only for the log, and nil if
// the reason is sufficient. It may contain text from the client or a provider, of any length.
type Refused func(r *http.Request, why Reason, detail error)

// Reason is the reason why a request was refused.
type Reason string

const (
	ReasonAnonymous Reason = "anonymous" // no header Authorization; browsers send such a request first
	ReasonUnknown   Reason = "unknown"   // no known token or password
	ReasonScope     Reason = "scope"     // the sender lacks a scope
	ReasonBusy      Reason = "busy"      // too many passwords are being checked
	ReasonProvider  Reason = "provider"  // the OpenID provider does not respond, or responds incorrectly
	ReasonForeign   Reason = "foreign"   // a browser sent the request for a page of another origin
)

// Reasons returns all reasons, so that a counter of each can start at 0.
func Reasons() []Reason {
	return []Reason{ReasonAnonymous, ReasonUnknown, ReasonScope, ReasonBusy, ReasonProvider, ReasonForeign}
}

// guarding is the current state of a Guard.
type guarding struct {
	rules     *Rules
	passwords *passwords
	sessions  *sessions
	provider  *provider.Provider // nil: none
}

// NewGuard returns a Guard for r. refused is called for each refused request.
func NewGuard(r *Rules, refused Refused) *Guard {
	g := &Guard{work: newWorkload(), logins: newProviderWork(), refused: refused}
	g.SetRules(r)
	return g
}

// SetRules replaces the rules. It may be called while requests are served. It clears cached
// passwords and ends all logins.
func (g *Guard) SetRules(r *Rules) {
	now := &guarding{r, newPasswords(r.users), newSessions(time.Now), nil}
	if r.provider != nil {
		now.provider = provider.New(*r.provider)
	}
	g.now.Store(now)
}

// Handler returns a handler that passes allowed requests to mux. The required scope depends on the
// pattern that mux selects for a request, not on the path, which has many spellings. Refusals are
// JSON objects with one key, error: 401 for an unknown identity, 403 for a missing scope, 429 if
// too many passwords are being checked.
func (g *Guard) Handler(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		needs := scopeOf(pattern)
		if needs == "" {
			mux.ServeHTTP(w, r)
		} else if who := g.admit(w, r, needs, pattern); who != nil {
			mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), identityKey{}, who)))
		}
	})
}

// identityKey is the context key of the Identity.
type identityKey struct{}

// From returns the identity of a request that a [Guard] passed. It returns nil if the request
// needed no identity or did not pass a Guard.
func From(ctx context.Context) *Identity {
	who, _ := ctx.Value(identityKey{}).(*Identity)
	return who
}

// scopeOf returns the scope that a pattern of a mux requires, or "" for none. Unknown patterns, and
// paths without a pattern, require a scope.
func scopeOf(pattern string) Scope {
	method, path, ok := strings.Cut(pattern, " ")
	if ok {
		pattern = path
	}
	switch pattern {
	case "/healthz", "/readyz":
		return ""
	// no data
	case "/{$}", "/{page}", "/assets/", "/login", StartPath, provider.CallbackPath, "/logout", "/docs", "/docs/":
		return ""
	case "/metrics":
		return ScopeMetrics
	case "/v1/backup":
		return ScopeBackup
	case "/v1/deletions", "/v1/deletions/{id}":
		return ScopeDelete
	case "/v1/symbols/": // GET /v1/symbols only checks for existence
		return ScopeSymbols
	case "/api/v1/views", "/api/v1/view":
		return ScopeViews
	case "/api/v1/changes/{id}":
		if method == "POST" {
			return ScopeChanges
		}
	}
	return ScopeQuery
}

// scopesHeader is the response header with all scopes of the identity, separated by spaces. The
// dashboard uses it to hide links that would be refused.
const scopesHeader = "Fieldtrie-Scopes"

func names(scopes []Scope) []string {
	out := make([]string, len(scopes))
	for i, s := range scopes {
		out[i] = string(s)
	}
	return out
}

// admit returns the identity of a request that requires a scope. If the identity lacks it, admit
// writes the response and returns nil.
func (g *Guard) admit(w http.ResponseWriter, r *http.Request, needs Scope, pattern string) *Identity {
	who, err := g.identify(r)
	header, _ := errors.AsType[*headerError](err)
	switch {
	case err != nil && header == nil:
		g.refused(r, ReasonBusy, nil)
		w.Header().Set("Retry-After", "5")
		writeError(w, http.StatusTooManyRequests, err.Error())
	case who == nil:
		reason := ReasonUnknown
		if err == nil && len(r.Header["Authorization"]) == 0 && cookieOf(r) == "" {
			reason = ReasonAnonymous
		}
		g.refused(r, reason, err)
		if p := g.now.Load().provider; p != nil {
			w.Header().Set(providerHeader, url.PathEscape(p.Name()))
		}
		w.Header().Add("WWW-Authenticate", `Bearer realm="fieldtrie"`)
		if r.Header.Get("Sec-Fetch-Dest") != "empty" { // the dashboard has its own login form
			w.Header().Add("WWW-Authenticate", `Basic realm="fieldtrie", charset="UTF-8"`)
		}
		writeError(w, http.StatusUnauthorized,
			"header Authorization: unknown token or password; send Bearer TOKEN, or a user and a password as Basic "+
				"(aggregate: --token-file)")
	case !slices.Contains(who.Scopes, needs):
		g.refused(r, ReasonScope, nil)
		writeError(w, http.StatusForbidden,
			fmt.Sprintf("the scope %s is missing; add it to the scopes of this token or user in the file of --access",
				needs))
	case who.Limited() && aboutAll(pattern):
		g.refused(r, ReasonScope, nil)
		writeError(w, http.StatusForbidden,
			"this needs access to all sites and pages, but the file of --access restricts this token or user to some")
	default:
		w.Header().Set(scopesHeader, strings.Join(names(who.Scopes), " "))
		return who
	}
	return nil
}

// aboutAll reports whether a pattern serves data of all sites that cannot be separated.
func aboutAll(pattern string) bool { return strings.HasSuffix(pattern, "/v1/symbols") }

// identify returns the identity of a request, or nil if it is unknown.
func (g *Guard) identify(r *http.Request) (*Identity, error) {
	now := g.now.Load()
	if who, ok, err := now.rules.proxied(r); ok && len(r.Header["Authorization"]) == 0 {
		return who, err
	}
	switch cookie := cookieOf(r); {
	case len(r.Header["Authorization"]) == 0 && cookie != "":
		return now.sessions.whose(cookie), nil
	case len(r.Header["Authorization"]) != 1:
		return nil, nil
	}
	if name, password, ok := r.BasicAuth(); ok {
		return now.passwords.check(r.Context(), g.work, AddressOf(r), name, password)
	}
	scheme, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, nil
	}
	return now.rules.token(strings.TrimSpace(sent)), nil
}

// AddressOf returns the address of the client, without its port.
func AddressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func writeError(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text}) // the client may be gone
}
