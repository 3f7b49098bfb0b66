// Package provider has an OpenID provider say who somebody is: OpenID Connect Core 1.0, by the authorization code flow with PKCE
// (RFC 7636), a state and a nonce.
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

// Settings say which provider is asked, and as which client of it.
type Settings struct {
	Issuer   string // its URL, as it names itself
	ClientID string
	Secret   string // "" of a public client, which proves by PKCE alone that it has begun the login
	// URL is where browsers reach the private address of the daemon. The provider sends them back to URL + [CallbackPath].
	URL    string
	Scopes []string // to ask for beside openid
	// GroupsClaim is the claim that has the groups of a person, a list of texts or one text: groups, or email, hd, …
	GroupsClaim string
	Name        string // for people
}

// CallbackPath is where a provider sends browsers back to.
const CallbackPath = "/login/callback"

const (
	// patience bounds one request to a provider, and all requests of the end of a login together.
	patience = 10 * time.Second
	// maxResponse bounds a response of a provider, in bytes.
	maxResponse = 1 << 20
	// maxGroups and maxText bound what is taken from a token.
	maxGroups = 1000
	maxText   = 256 // bytes
)

// CheckURL returns what is wrong with a URL of a provider or a daemon. It is to have TLS, unless it is one of this machine.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%.100q is not a URL such as https://host", text)
	case u.Scheme == "https", u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()):
		return nil
	}
	return fmt.Errorf("%.100q does not begin with https://: who is on the way could log in as anybody", text)
}

// Provider is an OpenID provider. It is asked for its keys and addresses when somebody first logs in. It is safe for concurrent use.
type Provider struct {
	s      Settings
	client *http.Client
	now    func() time.Time

	mu   sync.Mutex
	last *discovery // nil: the provider was not asked yet
}

// New returns the provider that settings name. Their URLs are checked.
func New(s Settings) *Provider {
	u := &url.URL{Scheme: "https"}
	if at, err := url.Parse(s.Issuer); err == nil {
		u = at
	}
	return &Provider{s: s, now: time.Now, client: &http.Client{Timeout: patience, Transport: bounded{authorities.Transport(u)}}}
}

// Name returns the name of the provider for people.
func (p *Provider) Name() string { return p.s.Name }

// Secure reports whether browsers reach the daemon by TLS.
func (p *Provider) Secure() bool { return strings.HasPrefix(p.s.URL, "https://") }

// Root returns the path of the daemon's URL without a slash at its end, or /: that which browsers take for a cookie of what is right below.
func (p *Provider) Root() string {
	u, err := url.Parse(p.s.URL)
	if err != nil {
		return "/"
	}
	return "/" + strings.Trim(u.Path, "/")
}

// bounded bounds responses.
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
		RedirectURL: strings.TrimSuffix(p.s.URL, "/") + CallbackPath, Scopes: append([]string{oidc.ScopeOpenID}, p.s.Scopes...)}
}

// Attempt is a login that a browser has begun. It is a secret of the browser.
type Attempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Next     string `json:"p"` // the path to go to after it
}

// NewAttempt returns an attempt.
func NewAttempt(next string) Attempt {
	return Attempt{State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier(), Next: next}
}

// Begin returns the URL at the provider to which a browser goes to log in.
func (p *Provider) Begin(ctx context.Context, a Attempt) (string, error) {
	known, err := p.discovered(ctx)
	if err != nil {
		return "", err
	}
	return p.config(known).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// RefusedError is the reason why a login fails that is not a failure of the provider.
type RefusedError struct {
	Why   string // for the browser
	Cause error  // for the log; nil: there is no more to say
}

func (e *RefusedError) Error() string {
	if e.Cause == nil {
		return e.Why
	}
	return e.Why + ": " + e.Cause.Error()
}

func refuse(why string, cause error) error { return &RefusedError{why, cause} }

// Finish returns who came back from the provider by a callback with these parameters. A [*RefusedError] is about the login, and any other error
// about the provider.
func (p *Provider) Finish(ctx context.Context, a Attempt, v url.Values) (*Person, error) {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(v.Get("state")), []byte(a.State)) != 1 {
		return nil, refuse("this login was not begun in this browser, or it was finished or begun again since then", nil)
	}
	if v.Get("error") != "" {
		return nil, refuse("the provider refused the login", fmt.Errorf("%.100q: %.300q", v.Get("error"), v.Get("error_description")))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	known, err := p.discovered(ctx)
	if err != nil {
		return nil, err
	}
	if iss := v.Get("iss"); iss != "" && iss != p.s.Issuer { // RFC 9207
		return nil, refuse("the response is of another provider", fmt.Errorf("%.100q, and not %s", iss, p.s.Issuer))
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.config(known).Exchange(ctx, v.Get("code"), oauth2.VerifierOption(a.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response.StatusCode < http.StatusInternalServerError {
		return nil, refuse("the provider does not take the code", fmt.Errorf("%.100q", refused.ErrorCode))
	}
	if err != nil {
		return nil, fmt.Errorf("exchange the code: %w", err)
	}
	return p.person(ctx, known, a, token)
}
