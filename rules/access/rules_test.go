package access

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// hashOf returns the hash of a token as written in a file.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// bcryptOf returns the hash of a password as written in a file, with minimal cost.
func bcryptOf(t testing.TB, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

const sample = `# who may read
tokens:
  - name: grafana
    sha256: %s
    scopes: [query]
  - {name: prometheus, sha256: %s, scopes: [metrics]}
  - {name: both, sha256: %s}
  - {name: night, sha256: "%s", scopes: [backup, backup]}
  - {name: ci, sha256: %s, scopes: [symbols]}
users:
  - name: ann
    bcrypt: %s
  - name: bob
    bcrypt: %s
    scopes: [query, metrics, backup]
`

func sampleText(t testing.TB) string {
	return fmt.Sprintf(sample, hashOf("g"), hashOf("p"), strings.ToUpper(hashOf("b")), hashOf("n"), hashOf("s"),
		bcryptOf(t, "secret"), strings.Replace(bcryptOf(t, "pass:wörd"), "$2a$", "$2y$", 1))
}

func parse(t testing.TB, text string) *Rules {
	t.Helper()
	r, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParse(t *testing.T) {
	r := parse(t, sampleText(t))
	var got []string
	for _, x := range r.tokens {
		got = append(got, fmt.Sprint(x.Name, x.Scopes))
	}
	for _, x := range r.users {
		got = append(got, fmt.Sprint(x.Name, x.Scopes))
	}
	want := []string{"grafana[query]", "prometheus[metrics]", "both[query metrics]", "night[backup]", "ci[symbols]",
		"ann[query metrics]", "bob[query metrics backup]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestParseLimited parses restrictions to sites and pages.
func TestParseLimited(t *testing.T) {
	hash := strings.Repeat("0", 63)
	r := parse(t, "tokens:\n  - {name: shop, sha256: "+hash+
		"1, sites: [shop, blog], pages: [/checkout/**, \"shop:/feed\"]}\n  - {name: boss, sha256: "+hash+
		"2, scopes: [admin]}\n"+
		"  - {name: ci, sha256: "+hash+"3, scopes: [symbols], sites: [shop]}\n")
	shop, boss := r.tokens[0].Identity, r.tokens[1].Identity
	if got := fmt.Sprint(shop.Scopes, shop.Sites, shop.Pages,
		shop.Limited()); got != "[query] [shop blog] [/checkout/** shop:/feed] true" {
		t.Errorf("got %s", got)
	}
	if !slices.Equal(boss.Scopes, allScopes()) || boss.Limited() {
		t.Errorf("got %v", boss)
	}
	if got := fmt.Sprint(r.Sites()); got != "[blog shop]" {
		t.Errorf("sites %s", got)
	}
	for text, want := range map[string]string{
		"sites: [Shop]": `line 2: "Shop" is not the name of a site`,
		"pages: [feed]": `line 2: page "feed" is not a page`, "sites: shop": "sites is not a list",
		"sites: [shop], scopes: [delete]":  "token x: the scope delete covers all sites and pages",
		"sites: [shop], scopes: [metrics]": "token x: the scope metrics covers all sites and pages",
		"pages: [/a], scopes: [admin]":     "the scope metrics covers all",
	} {
		_, err := Parse(strings.NewReader("tokens:\n  - {name: x, sha256: " + hash + "1, " + text + "}\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestLimited checks that restricted identities are refused data of all sites, and that other
// handlers get the restriction.
func TestLimited(t *testing.T) {
	text := "tokens:\n  - {name: shop, sha256: " + hashOf("s") +
		", sites: [shop], scopes: [query, symbols]}\n  - {name: all, sha256: " + hashOf("a") + "}\n"
	mux := http.NewServeMux()
	for _, pattern := range []string{"/api/v1/", "GET /v1/symbols", "/v1/symbols/", "/healthz"} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%+v", From(r.Context()))
		})
	}
	h := NewGuard(parse(t, text), ignore).Handler(mux)
	for _, c := range []struct {
		path, token string
		status      int
		says        string
	}{
		{"/api/v1/top", "s", 200, "Name:shop"}, {"/api/v1/top", "a", 200, "Sites:[]"}, {"/v1/symbols", "s", 403,
			"this needs access to all sites"},
		{"/v1/symbols", "a", 200, "Name:all"}, {"/v1/symbols/x", "s", 200, "Sites:[shop]"},
		{"/healthz", "s", 200, "<nil>"},
	} {
		if w := ask(h, http.MethodGet, c.path, "Bearer "+c.token); w.Code != c.status ||
			!strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s with %s: %d %s", c.path, c.token, w.Code, w.Body)
		}
	}
}

func TestParseErrors(t *testing.T) {
	hash, other, secret := hashOf("a"), hashOf("b"), bcryptOf(t, "a")
	for text, want := range map[string]string{
		"":          "no token and no user",
		"# empty\n": "no token and no user",
		"tokens:\n": "line 1: tokens is not a list with at least one entry",
		"tokens:\n  - name: a\n    sha256: " + hash +
			"\nkeys: 5": `line 4: unknown key "keys"; known keys are tokens, users`,
		"tokens:\n  - name: a\n    token: " +
			"abc": "line 3: plain-text tokens are not allowed; " +
			"write `sha256: HASH` instead, with the HASH that `printf %s TOKEN | sha256sum` prints",
		"tokens:\n  - name: a\n    sha256: " +
			"abc": "line 2: token a: sha256 is not the 64 " +
			"hexadecimal digits",
		"tokens:\n  - name: a\n    sha256: x" +
			hash[1:]: "is not the 64 hexadecimal digits",
		"tokens:\n  - name: a\n    sha256: " + hash +
			"00": "is not the 64 hexadecimal digits",
		"tokens:\n  - name: a": "line 2: token a: " +
			"sha256 is not",
		"tokens:\n  - sha256: " +
			hash: `line 2: name "": give it one`,
		"tokens:\n  - name: a b\n    sha256: " +
			hash: `line 2: name "a b": give it one of up to 64 bytes, without spaces and colons`,
		"tokens:\n  - {name: a, sha256: " + hash + "}\n  - {name: a, sha256: " + other +
			"}": "line 3: duplicate token a",
		"tokens:\n  - {name: a, sha256: " + hash + "}\n  - {name: b, sha256: " + hash +
			"}": "line 3: tokens a and b are the same",
		"tokens:\n  - name: a\n    sha256: " + hash +
			"\n    scopes:\n      - all": `line 5: scopes: "all" is not one of query, metrics, backup`,
		"tokens:\n  - name: a\n    sha256: " + hash +
			"\n    scopes: []": "line 4: scopes is not a list with at least one entry",
		"users:\n  - name: a\n    password: " +
			"b": "line 3: plain-text passwords are not allowed; " +
			"write bcrypt:",
		"users:\n  - name: a\n    bcrypt: " +
			"b": "line 2: user a: bcrypt is not a bcrypt hash; " +
			"write bcrypt: and what `htpasswd -nB NAME` prints after the colon",
		"users:\n  - name: a\n    bcrypt: " + secret[:59]:       "is not a bcrypt hash",
		"users:\n  - name: a\n    bcrypt: " + secret[:59] + "=": "is not a bcrypt hash",
		"users:\n  - name: a\n    bcrypt: $1" + secret[2:]:      "is not a bcrypt hash",
		"users:\n  - name: a\n    bcrypt: $2a$15" +
			secret[6:]: "user a: bcrypt has cost 15",
		"users:\n  - name: a:b\n    bcrypt: " +
			secret: "without spaces and colons",
		"users:\n  - {name: a, bcrypt: " + secret + "}\n  - {name: a, bcrypt: " + secret +
			"}": "line 3: duplicate user a",
	} {
		if r, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, %v, want an error with %q", text, r, err, want)
		}
	}
}

// FuzzParse parses any text: it never panics, and accepted rules have at least one identity, with
// valid names, scopes and hashes.
func FuzzParse(f *testing.F) {
	f.Add("")
	f.Add(sampleText(f))
	f.Add("tokens:\n  - name: a\n    token: abc")
	f.Add("users: [{name: a, bcrypt: \"" + bcryptOf(f, "a") + "\", scopes: [backup]}]")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		if len(r.tokens)+len(r.users) == 0 {
			t.Error("the rules have no identity")
		}
		names := map[string]bool{}
		check := func(kind, name string, granted []Scope) {
			if name == "" || strings.ContainsAny(name, ": \n") || names[kind+name] || len(granted) == 0 {
				t.Errorf("%s %q with %q", kind, name, granted)
			}
			names[kind+name] = true
			for _, s := range granted {
				if !slices.Contains(allScopes(), s) {
					t.Errorf("%s %q: scope %q", kind, name, s)
				}
			}
		}
		for _, x := range r.tokens {
			check("token", x.Name, x.Scopes)
		}
		for _, u := range r.users {
			check("user", u.Name, u.Scopes)
			if cost, err := bcrypt.Cost(u.hash); err != nil || cost > maxCost {
				t.Errorf("hash %q: %d, %v", u.hash, cost, err)
			}
		}
	})
}
