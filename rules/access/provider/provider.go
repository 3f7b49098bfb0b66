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
	// patience bounds one request to a provider.
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

	mu    sync.Mutex
	known *oidc.Provider // nil until it has answered
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

// discovered returns what the provider says of itself.
func (p *Provider) discovered(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil {
		return p.known, nil
	}
	// Keys are asked for later with the client of this context, and not when it is done.
	known, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.s.Issuer)
	if err != nil {
		return nil, fmt.Errorf("ask the provider %s who it is: %w", p.s.Issuer, err)
	}
	p.known = known
	return known, nil
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

// Person is who logged in.
type Person struct {
	Name   string // an e-mail address that is verified, or else the id that the provider has, behind a name if there is one
	Groups []string
}

// RefusedError says why a provider, or what it said, lets nobody in.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// Finish returns who came back from the provider by a callback with these parameters. A [*RefusedError] is about the login, and any other error
// about the provider.
func (p *Provider) Finish(ctx context.Context, a Attempt, v url.Values) (*Person, error) {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(v.Get("state")), []byte(a.State)) != 1 {
		return nil, &RefusedError{"this login was not begun in this browser, or it was finished or begun again since then"}
	}
	if v.Get("error") != "" {
		return nil, &RefusedError{fmt.Sprintf("the provider says %.100q: %.300q", v.Get("error"), v.Get("error_description"))}
	}
	known, err := p.discovered(ctx)
	if err != nil {
		return nil, err
	}
	if iss := v.Get("iss"); iss != "" && iss != p.s.Issuer { // RFC 9207
		return nil, &RefusedError{fmt.Sprintf("the response is of the provider %.100q, and not of %s", iss, p.s.Issuer)}
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.config(known).Exchange(ctx, v.Get("code"), oauth2.VerifierOption(a.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response.StatusCode < http.StatusInternalServerError {
		return nil, &RefusedError{fmt.Sprintf("the provider does not take the code: %.100q", refused.ErrorCode)}
	}
	if err != nil {
		return nil, fmt.Errorf("exchange the code: %w", err)
	}
	return p.person(ctx, known, a, token)
}

// claims are what a token says of a person.
type claims struct {
	Verified  jsonText `json:"email_verified"` // true, or "true" of some
	Email     string   `json:"email"`
	Preferred string   `json:"preferred_username"`
	Party     string   `json:"azp"`
	Audience  audience `json:"aud"`
}

// audience is one text, or a list of them.
type audience []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *audience) UnmarshalJSON(text []byte) error {
	list, err := texts(text)
	*a = list
	return err
}

// person reads who a token is about.
func (p *Provider) person(ctx context.Context, known *oidc.Provider, a Attempt, token *oauth2.Token) (*Person, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the provider sent no id_token")
	}
	verifier := known.VerifierContext(ctx, &oidc.Config{ClientID: p.s.ClientID, Now: p.now})
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return nil, &RefusedError{"the token of the provider is not valid: " + err.Error()}
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1 {
		return nil, &RefusedError{"the token of the provider is that of another login"}
	}
	var said claims
	all := map[string]jsonText{}
	if err := errors.Join(id.Claims(&said), id.Claims(&all)); err != nil {
		return nil, &RefusedError{"the token of the provider can not be read: " + err.Error()}
	}
	if len(said.Audience) > 1 && said.Party != p.s.ClientID || said.Party != "" && said.Party != p.s.ClientID {
		return nil, &RefusedError{"the token of the provider was made for another client"}
	}
	if _, has := all[p.s.GroupsClaim]; !has && known.UserInfoEndpoint() != "" { // some say this there alone
		info, err := known.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil {
			return nil, fmt.Errorf("ask the provider for more: %w", err)
		}
		if info.Subject != id.Subject {
			return nil, &RefusedError{"the provider tells of somebody else than its token"}
		}
		more := map[string]jsonText{}
		if err := errors.Join(info.Claims(&said), info.Claims(&more)); err != nil {
			return nil, &RefusedError{"what the provider tells can not be read: " + err.Error()}
		}
		all = more
	}
	groups, err := texts(all[p.s.GroupsClaim])
	if err != nil {
		return nil, &RefusedError{fmt.Sprintf("claim %s: it is neither a text nor a list of texts", p.s.GroupsClaim)}
	}
	verified := string(said.Verified) == "true" || string(said.Verified) == `"true"`
	if p.s.GroupsClaim == "email" && !verified {
		return nil, &RefusedError{"the provider has not verified the e-mail address"}
	}
	out := &Person{Name: id.Subject, Groups: groups}
	switch {
	case verified && said.Email != "":
		out.Name = said.Email
	case said.Preferred != "": // which people may choose
		out.Name = said.Preferred + " (" + id.Subject + ")"
	}
	if len(out.Name) > maxText {
		return nil, &RefusedError{"the name is too long"}
	}
	return out, nil
}
