package provider

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// issuer is a configurable provider, which may also misbehave.
type issuer struct {
	*httptest.Server
	t     *testing.T
	key   *rsa.PrivateKey
	code  string         // valid once
	at    url.Values     // parameters of the last request for a code
	token func() string  // the id_token that it sends
	info  map[string]any // claims in UserInfo; nil: none
	use   string         // of its key
	hang  string         // path that never responds
	deny  func(w http.ResponseWriter) bool
}

const clientID, secret = "fieldtrie", "s3cret"

func newIssuer(t *testing.T) *issuer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &issuer{t: t, key: key, use: "sig"}
	mux := http.NewServeMux()
	respond := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		if p.deny != nil && p.deny(w) {
			return
		}
		d := map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL +
			"/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}}
		if p.info != nil {
			d["userinfo_endpoint"] = p.URL + "/info"
		}
		respond(w, d)
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &p.key.PublicKey, KeyID: "1", Algorithm: "RS256",
			Use: p.use}}})
	})
	mux.HandleFunc("GET /info", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer access" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		respond(w, p.info)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		code := p.code
		p.code = "" // it is valid once
		if user != clientID || password != secret || code == "" || r.FormValue("code") != code ||
			p.at.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) ||
			p.at.Get("code_challenge_method") != "S256" ||
			r.FormValue("redirect_uri") != p.at.Get("redirect_uri") {
			w.WriteHeader(http.StatusBadRequest)
			respond(w, map[string]string{"error": "invalid_grant"})
			return
		}
		respond(w, map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": 60,
			"id_token": p.token()})
	})
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == p.hang {
			_, _ = io.Copy(io.Discard, r.Body) // so that the server notices that the client disconnects
			<-r.Context().Done()
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, claims map[string]any) string {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return signText(t, alg, key, text)
}

func signText(t *testing.T, alg jose.SignatureAlgorithm, key any, text []byte) string {
	t.Helper()
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := s.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// begin starts a login like a browser, and returns from the provider with a code.
func (p *issuer) begin(of *Provider) (Attempt, url.Values) {
	p.t.Helper()
	a := NewAttempt("/feed")
	to, err := of.Begin(p.t.Context(), a)
	if err != nil {
		p.t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		p.t.Fatal(err)
	}
	p.at, p.code = u.Query(), rand.Text()
	if p.at.Get("client_id") != clientID || p.at.Get("redirect_uri") != "https://d.example/login/callback" ||
		p.at.Get("response_type") != "code" || p.at.Get("scope") != "openid email" {
		p.t.Errorf("the request for a code has %v", p.at)
	}
	return a, url.Values{"state": {p.at.Get("state")}, "code": {p.code}}
}

func (p *issuer) settings() Settings {
	return Settings{Issuer: p.URL, ClientID: clientID, Secret: secret, URL: "https://d.example/",
		Scopes: []string{"email"}, GroupsClaim: "groups"}
}

// good are the claims of a valid token.
func (p *issuer) good(a Attempt) map[string]any {
	return map[string]any{"iss": p.URL, "aud": clientID, "sub": "7", "nonce": a.Nonce, "iat": time.Now().Unix(),
		"exp":   time.Now().Add(time.Minute).Unix(),
		"email": "ann@example.com", "email_verified": true, "groups": []string{"web-perf", "all"}}
}

// Invalid tokens, responses and parameters are refused; valid ones are accepted.
func TestFinish(t *testing.T) {
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	change := func(key string, value any) func(map[string]any) {
		return func(c map[string]any) {
			if c[key] = value; value == nil {
				delete(c, key)
			}
		}
	}
	for name, c := range map[string]struct {
		claims func(map[string]any)
		sign   func(p *issuer, claims map[string]any) string
		params func(v url.Values, a *Attempt)
		info   map[string]any
		use    string // of the provider's key; "": sig
		want   string // in the refusal; "": none
		failed string // in an error that is not a refusal
		groups []string
	}{
		"right":               {groups: []string{"web-perf", "all"}},
		"one group as a text": {claims: change("groups", "web-perf"), groups: []string{"web-perf"}},
		"groups from UserInfo": {claims: change("groups", nil), info: map[string]any{"sub": "7",
			"groups": []string{"x"}}, groups: []string{"x"}},
		"no groups": {claims: change("groups", nil)},
		"two audiences, for this": {claims: func(c map[string]any) {
			c["aud"], c["azp"] = []string{"x", clientID}, clientID
		}, groups: []string{"web-perf", "all"}},
		"another provider's key": {sign: func(_ *issuer, c map[string]any) string {
			return sign(t, jose.RS256, other, c)
		}, want: "not valid"},
		"no signature": {sign: func(_ *issuer, c map[string]any) string {
			return unsigned(c)
		}, want: "not valid"},
		"signed with the secret": {sign: func(_ *issuer, c map[string]any) string {
			return sign(t, jose.HS256, []byte(strings.Repeat(secret, 6)), c)
		}, want: "not valid"},
		"changed after it was signed": {sign: forged(t), want: "not valid"},
		"no token":                    {sign: func(*issuer, map[string]any) string { return "" }, want: "not valid"},
		"expired": {claims: change("exp", time.Now().Add(-time.Minute).Unix()),
			want: "not valid"},
		"never expires":       {claims: change("exp", nil), want: "not valid"},
		"not valid yet":       {claims: change("nbf", time.Now().Add(time.Hour).Unix()), want: "not valid"},
		"for another client":  {claims: change("aud", "other"), want: "not valid"},
		"without an audience": {claims: change("aud", nil), want: "not valid"},
		"two audiences":       {claims: change("aud", []string{clientID, "other"}), want: "another client"},
		"two audiences, made for another": {claims: func(c map[string]any) {
			c["aud"], c["azp"] = []string{clientID, "other"}, "other"
		}, want: "another client"},
		"made for another":    {claims: change("azp", "other"), want: "another client"},
		"of another provider": {claims: change("iss", "https://evil.example"), want: "not valid"},
		"without an id":       {claims: change("sub", nil), want: "lacks a claim: sub"},
		"with an empty id":    {claims: change("sub", ""), want: "empty claim: sub"},
		"a null id": {claims: func(c map[string]any) {
			c["sub"] = (*string)(nil)
		}, want: "empty claim: sub"},
		"AUD and aud": {claims: change("aud", "x"), sign: also(t, "AUD", clientID),
			want: "differ only in case"},
		"a Kelvin sign next to k": {sign: also(t, "\u212aey", 1, "key", 1), want: "differ only in case"},
		"NONCE and nonce": {claims: func(c map[string]any) {
			c["NONCE"], c["nonce"] = c["nonce"], "x"
		}, want: "another login"},
		"EXP and exp": {claims: change("exp", 1), sign: also(t, "EXP",
			time.Now().Add(time.Hour).Unix()), want: "differ only in case"},
		"only EXP": {claims: func(c map[string]any) {
			c["EXP"] = c["exp"]
			delete(c, "exp")
		}, want: "lacks a claim: exp"},
		"only AUD": {claims: func(c map[string]any) {
			c["AUD"] = c["aud"]
			delete(c, "aud")
		}, want: "lacks a claim: aud"},
		"only SUB in UserInfo": {claims: change("groups", nil), info: map[string]any{"SUB": "7",
			"groups": []string{"x"}}, want: "about another person"},
		"Groups and groups": {claims: change("groups", nil), info: map[string]any{"sub": "7", "groups": "x",
			"Groups": "y"}, want: "differ only in case"},
		"a key for encryption": {use: "enc", failed: "no key for signatures"},
		"of another login":     {claims: change("nonce", "abc"), want: "another login"},
		"without a login":      {claims: change("nonce", nil), want: "another login"},
		"another person in UserInfo": {claims: change("groups", nil), info: map[string]any{"sub": "8",
			"groups": []string{"x"}}, want: "about another person"},
		"groups are numbers": {claims: change("groups", []int{1}), want: "neither a text nor a list"},
		"another state": {params: func(v url.Values, _ *Attempt) {
			v.Set("state", "abc")
		}, want: "not started in this browser"},
		"no state": {params: func(v url.Values, _ *Attempt) {
			v.Del("state")
		}, want: "not started in this browser"},
		"no attempt": {params: func(v url.Values, a *Attempt) {
			v.Del("state")
			*a = Attempt{}
		}, want: "not started in this browser"},
		"another browser's attempt": {params: func(_ url.Values, a *Attempt) {
			*a = NewAttempt("/")
		}, want: "not started in this browser"},
		"another verifier": {params: func(_ url.Values, a *Attempt) {
			a.Verifier = NewAttempt("/").Verifier
		}, want: "rejected the code"},
		"another code": {params: func(v url.Values, _ *Attempt) {
			v.Set("code", "abc")
		}, want: "rejected the code"},
		"no code": {params: func(v url.Values, _ *Attempt) {
			v.Del("code")
		}, want: "rejected the code"},
		"another issuer": {params: func(v url.Values, _ *Attempt) {
			v.Set("iss", "https://evil.example")
		}, want: "from another provider: got \"https://evil.example\""},
		"denied": {params: func(v url.Values, _ *Attempt) {
			v.Set("error", "access_denied")
		}, want: "access_denied"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newIssuer(t)
			p.info, p.use = c.info, cmp.Or(c.use, p.use)
			of := New(p.settings())
			a, params := p.begin(of)
			claims := p.good(a)
			if c.claims != nil {
				c.claims(claims)
			}
			p.token = func() string {
				if c.sign != nil {
					return c.sign(p, claims)
				}
				return sign(t, jose.RS256, p.key, claims)
			}
			if c.params != nil {
				c.params(params, &a)
			}
			who, err := of.Finish(t.Context(), a, params)
			_, refused := errors.AsType[*RefusedError](err)
			if c.failed != "" {
				if err == nil || refused || !strings.Contains(err.Error(), c.failed) {
					t.Errorf("got %+v, %v, want an error of the provider with %q", who, err, c.failed)
				}
				return
			}
			if c.want == "" {
				if err != nil || who.Name != "ann@example.com" || !slices.Equal(who.Groups, c.groups) {
					t.Fatalf("got %+v, %v", who, err)
				}
				if who, err := of.Finish(t.Context(), a, params); err == nil {
					t.Errorf("the code is accepted twice: %+v", who)
				}
				return
			}
			if !refused || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %+v, %v, want a refusal with %q", who, err, c.want)
			}
		})
	}
}

// also returns a signer of tokens with additional claims at the end, given as names and values.
func also(t *testing.T, more ...any) func(p *issuer, claims map[string]any) string {
	return func(p *issuer, claims map[string]any) string {
		text, _ := json.Marshal(claims)
		text = text[:len(text)-1]
		for i := 0; i < len(more); i += 2 {
			name, _ := json.Marshal(more[i])
			value, _ := json.Marshal(more[i+1])
			text = append(text, ","+string(name)+":"+string(value)...)
		}
		return signText(t, jose.RS256, p.key, append(text, '}'))
	}
}

// unsigned returns a token with the algorithm none.
func unsigned(claims map[string]any) string {
	text, _ := json.Marshal(claims)
	head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"1"}`))
	return head + "." + base64.RawURLEncoding.EncodeToString(text) + "."
}

// forged returns a signer that changes the token after signing it.
func forged(t *testing.T) func(p *issuer, claims map[string]any) string {
	return func(p *issuer, claims map[string]any) string {
		signed := strings.Split(sign(t, jose.RS256, p.key, claims), ".")
		more := maps.Clone(claims)
		more["groups"] = []string{"admins"}
		return signed[0] + "." + strings.Split(unsigned(more), ".")[1] + "." + signed[2]
	}
}

// TestNames checks the names of people: an unverified e-mail address is never used.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		verified any
		claim    string
		want     string // "": refused
	}{{true, "groups", "ann@example.com"}, {"true", "groups", "ann@example.com"}, {false, "groups", "ann (7)"},
		{"no", "groups", "ann (7)"}, {nil, "groups", "ann (7)"},
		{true, "email", "ann@example.com"}, {false, "email", ""}, {nil, "email", ""}} {
		p := newIssuer(t)
		s := p.settings()
		s.GroupsClaim = c.claim
		of := New(s)
		a, params := p.begin(of)
		claims := p.good(a)
		claims["email_verified"], claims["preferred_username"] = c.verified, "ann"
		p.token = func() string { return sign(t, jose.RS256, p.key, claims) }
		who, err := of.Finish(t.Context(), a, params)
		if c.want == "" && err == nil || c.want != "" && (err != nil || who.Name != c.want) {
			t.Errorf("%+v: got %+v, %v", c, who, err)
		}
	}
}

// An address and its verification must come from the same document.
func TestNamesOfTwoDocuments(t *testing.T) {
	for _, c := range []struct {
		token, info map[string]any
		claim, want string // the name; "": refused
	}{
		{map[string]any{"email_verified": true}, map[string]any{"email": "eve@example.com"}, "groups", "7"},
		{map[string]any{"email_verified": true}, map[string]any{"email": "eve@example.com"}, "email", ""},
		{map[string]any{}, map[string]any{"email": "ann@example.com", "email_verified": true}, "email",
			"ann@example.com"},
		{map[string]any{"email": "eve@example.com"}, map[string]any{"email_verified": true}, "groups", "7"},
		{map[string]any{"email": "ann@example.com", "email_verified": true}, map[string]any{"email": "eve@example.com"},
			"groups", "ann@example.com"},
		{map[string]any{"Email_Verified": true, "email": "eve@example.com"}, nil, "groups", "7"},
	} {
		p := newIssuer(t)
		p.info = map[string]any{"sub": "7"}
		maps.Copy(p.info, c.info)
		s := p.settings()
		s.GroupsClaim = c.claim
		of := New(s)
		a, params := p.begin(of)
		claims := p.good(a)
		for _, name := range []string{"email", "email_verified", "groups"} {
			delete(claims, name)
		}
		maps.Copy(claims, c.token)
		p.token = func() string { return sign(t, jose.RS256, p.key, claims) }
		who, err := of.Finish(t.Context(), a, params)
		if c.want == "" && err == nil || c.want != "" && (err != nil || who.Name != c.want) {
			t.Errorf("%+v: got %+v, %v", c, who, err)
		}
	}
}

// A provider that stops responding is an error, not a refusal of the person.
func TestProviderHangs(t *testing.T) {
	for _, path := range []string{"/token", "/keys", "/info"} {
		p := newIssuer(t)
		p.info = map[string]any{"sub": "7"}
		of := New(p.settings())
		a, params := p.begin(of)
		claims := p.good(a)
		delete(claims, "groups")
		p.token = func() string { return sign(t, jose.RS256, p.key, claims) }
		p.hang, of.client.Timeout = path, 100*time.Millisecond
		who, err := of.Finish(t.Context(), a, params)
		if _, refused := errors.AsType[*RefusedError](err); err == nil || refused {
			t.Errorf("%s: got %+v, %v, want an error that is not a refusal", path, who, err)
		}
	}
}

// A provider that does not respond is an error, not a refusal, and the next login asks it again.
func TestProviderFails(t *testing.T) {
	p := newIssuer(t)
	of := New(p.settings())
	now := time.Now()
	of.now = func() time.Time { return now }
	for name, deny := range map[string]func(http.ResponseWriter) bool{
		"an error": func(w http.ResponseWriter) bool {
			http.Error(w, "no", http.StatusInternalServerError)
			return true
		},
		"not JSON": func(w http.ResponseWriter) bool { fmt.Fprint(w, "<html>"); return true },
		"another provider": func(w http.ResponseWriter) bool {
			fmt.Fprint(w, `{"issuer":"https://evil.example"}`)
			return true
		},
		"endless": func(w http.ResponseWriter) bool {
			_, _ = io.Copy(w, io.LimitReader(zeros{}, 64<<20))
			return true
		},
	} {
		p.deny = deny
		to, err := of.Begin(t.Context(), NewAttempt("/"))
		if _, refused := errors.AsType[*RefusedError](err); err == nil || refused {
			t.Errorf("%s: got %s, %v", name, to, err)
		}
		now = now.Add(retryAfter)
	}
	p.deny = nil
	if _, err := of.Begin(t.Context(), NewAttempt("/")); err != nil {
		t.Error(err)
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestCheckURL(t *testing.T) {
	for text, ok := range map[string]bool{"https://login.example.com": true,
		"https://login.example.com/realms/x/": true, "http://localhost:5556/dex": true, "http://127.0.0.1:5556": true,
		"http://login.example.com": false, "login.example.com": false, "": false, "https://": false,
		"https://user@login.example.com": false, "https://a.example?x=1": false, "ftp://localhost": false,
		"https://a.example#x": false} {
		if err := CheckURL(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
