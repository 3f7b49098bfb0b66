// Package provider logs people in through an OpenID provider: OpenID Connect Core 1.0 with the
// authorization code flow, PKCE (RFC 7636), state and nonce.
package provider

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/fieldtrie/fieldtrie/internal/authorities"
)

// Settings configures an OpenID provider and this daemon as its client.
type Settings struct {
	Issuer   string // URL of the provider, exactly as in its tokens
	ClientID string
	Secret   string // "" for a public client, which relies on PKCE alone
	// URL is the URL at which browsers reach the private address of the daemon. The provider
	// redirects browsers to URL + [CallbackPath].
	URL    string
	Scopes []string // to request in addition to openid
	// GroupsClaim is the claim with the groups of a person, a text or a list: groups, or email, hd,
	// …
	GroupsClaim string
	Name        string // display name
}

// CallbackPath is the path to which a provider redirects browsers.
const CallbackPath = "/login/callback"

const (
	// patience is the timeout of one request to a provider, and of all requests of a callback.
	patience = 10 * time.Second
	// maxResponse is the maximum size of a response of a provider, in bytes.
	maxResponse = 1 << 20
	// maxGroups and maxText bound the values that are read from a token.
	maxGroups = 1000
	maxText   = 256 // bytes
)

// CheckURL checks the URL of a provider or a daemon. It must use TLS, unless it is on this machine.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%.100q is not a URL such as https://host", text)
	case u.Scheme == "https", u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"},
		u.Hostname()):
		return nil
	}
	return fmt.Errorf("%.100q does not begin with https://; without TLS an attacker on the network could log in as "+
		"any user", text)
}

// Provider is an OpenID provider. Its keys and endpoints are requested at the first login. It is
// safe for concurrent use by multiple goroutines.
type Provider struct {
	s      Settings
	client *http.Client
	now    func() time.Time

	mu   sync.Mutex
	last *discovery // nil: before the first request
}

// New returns a provider. The URLs in s must have passed [CheckURL].
func New(s Settings) *Provider {
	u := &url.URL{Scheme: "https"}
	if at, err := url.Parse(s.Issuer); err == nil {
		u = at
	}
	return &Provider{s: s, now: time.Now, client: &http.Client{Timeout: patience,
		Transport: bounded{authorities.Transport(u)}}}
}

// Name returns the display name of the provider.
func (p *Provider) Name() string { return p.s.Name }

// Secure reports whether browsers reach the daemon over TLS.
func (p *Provider) Secure() bool { return strings.HasPrefix(p.s.URL, "https://") }

// Root returns the path of the daemon's URL without a trailing slash, or /. It is the path of
// cookies.
func (p *Provider) Root() string {
	u, err := url.Parse(p.s.URL)
	if err != nil {
		return "/"
	}
	return "/" + strings.Trim(u.Path, "/")
}

// bounded limits the size of responses.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxResponse), res.Body}
	}
	return res, err
}

func (p *Provider) config(known *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: p.s.ClientID, ClientSecret: p.s.Secret, Endpoint: known.Endpoint(),
		RedirectURL: strings.TrimSuffix(p.s.URL, "/") + CallbackPath, Scopes: append([]string{oidc.ScopeOpenID},
			p.s.Scopes...)}
}

// Attempt is a login that a browser has started. Only this browser knows it.
type Attempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Next     string `json:"p"` // path to open afterwards
}

// NewAttempt returns an attempt with random values.
func NewAttempt(next string) Attempt {
	return Attempt{State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(),
		Verifier: oauth2.GenerateVerifier(), Next: next}
}

// Begin returns the URL of the provider to which the browser is redirected to log in.
func (p *Provider) Begin(ctx context.Context, a Attempt) (string, error) {
	known, err := p.discovered(ctx)
	if err != nil {
		return "", err
	}
	return p.config(known).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// RefusedError is the reason for a failed login that is not a failure of the provider.
type RefusedError struct {
	Why   string // shown in the browser
	Cause error  // for the log; may be nil
}

func (e *RefusedError) Error() string {
	if e.Cause == nil {
		return e.Why
	}
	return e.Why + ": " + e.Cause.Error()
}

func refuse(why string, cause error) error { return &RefusedError{why, cause} }

// Finish completes a login with the parameters of the callback and returns the person. A
// [*RefusedError] concerns the login, any other error the provider.
func (p *Provider) Finish(ctx context.Context, a Attempt, v url.Values) (*Person, error) {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(v.Get("state")), []byte(a.State)) != 1 {
		return nil, refuse("this login was not started in this browser, or it was finished or restarted since", nil)
	}
	if v.Get("error") != "" {
		return nil, refuse("the provider refused the login", fmt.Errorf("%.100q: %.300q", v.Get("error"),
			v.Get("error_description")))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	known, err := p.discovered(ctx)
	if err != nil {
		return nil, err
	}
	if iss := v.Get("iss"); iss != "" && iss != p.s.Issuer { // RFC 9207
		return nil, refuse("the response is from another provider", fmt.Errorf("got %.100q, want %s", iss, p.s.Issuer))
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.config(known).Exchange(ctx, v.Get("code"), oauth2.VerifierOption(a.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok &&
		refused.Response.StatusCode < http.StatusInternalServerError {
		return nil, refuse("the provider rejected the code", fmt.Errorf("%.100q", refused.ErrorCode))
	}
	if err != nil {
		return nil, fmt.Errorf("exchange the code: %w", err)
	}
	return p.person(ctx, known, a, token)
}
