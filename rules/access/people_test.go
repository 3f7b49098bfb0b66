package access

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const people = `
groups:
  - {name: web-perf, scopes: [query, views], sites: [shop]}
  - {name: /admins of all, scopes: [admin]}
`

// The first matching group in the file decides, and people without a matching group are refused.
func TestGroups(t *testing.T) {
	r := parse(t, people+"oidc: {issuer: https://login.example, client_id: fieldtrie, url: https://d.example}\n")
	for _, c := range []struct {
		groups []string
		scopes []Scope
		sites  []string
	}{
		{[]string{"web-perf"}, []Scope{ScopeQuery, ScopeViews}, []string{"shop"}},
		{[]string{"/admins of all", "web-perf"}, []Scope{ScopeQuery, ScopeViews}, []string{"shop"}},
		{[]string{"/admins of all"}, allScopes(), nil},
		{[]string{"web-perf2", "Web-Perf", ""}, nil, nil},
		{nil, nil, nil},
	} {
		who := r.person("ann", c.groups)
		if c.scopes == nil {
			if who != nil {
				t.Errorf("%v: got %+v, want none", c.groups, who)
			}
			continue
		}
		if who == nil || who.Name != "ann" || who.Kind != "person" || !slices.Equal(who.Scopes, c.scopes) ||
			!slices.Equal(who.Sites, c.sites) {
			t.Errorf("%v: got %+v, want scopes %v of sites %v", c.groups, who, c.scopes, c.sites)
		}
	}
	if got := r.Sites(); !slices.Equal(got, []string{"shop"}) {
		t.Errorf("the sites are %v", got)
	}
}

// Errors in the file contain the line and a remedy.
func TestPeopleErrors(t *testing.T) {
	const oidc = "oidc: {issuer: https://login.example, client_id: fieldtrie, url: https://d.example}\n"
	for text, want := range map[string]string{
		people: "nothing assigns people to them; add oidc or proxy",
		oidc:   "without groups",
		people + "oidc: {issuer: http://login.example, client_id: f, url: " +
			"https://d.example}": "does not begin with https://",
		people + "oidc: {issuer: https://login.example, client_id: f, url: " +
			"http://d.example}": "does not begin with https://",
		people + "oidc: {issuer: https://login.example, url: " +
			"https://d.example}": "client_id is missing",
		people + "oidc: {issuer: https://login.example, client_id: f, client_secret: x, url: " +
			"https://d.example}": "plain-text secrets are not allowed",
		people + "oidc: {issuer: https://login.example, client_id: f, url: https://d.example, scopes: ['a " +
			"b']}": "invalid scope",
		people + "oidc: {isuer: " +
			"https://login.example}": "isuer",
		people + "proxy: {user_header: " +
			"X-User}": "networks is missing",
		people + "proxy: {user_header: X-User, networks: " +
			"[0.0.0.0/0]}": "all of its requests are trusted",
		people + "proxy: {user_header: X-User, networks: [0.0.0.0/1, " +
			"128.0.0.0/1]}": "all of its requests are trusted",
		people + "proxy: {user_header: X-User, networks: " +
			"['::/6']}": "all of its requests are trusted",
		people + "proxy: {user_header: X-User, networks: " +
			"[proxy.example]}": "is not the address or network of a proxy",
		people + "proxy: {networks: " +
			"[10.0.0.1]}": "user_header is missing",
		people + "proxy: {user_header: Authorization, networks: " +
			"[10.0.0.1]}": "is not a header for that",
		people + "proxy: {user_header: 'X User', networks: " +
			"[10.0.0.1]}": "is not a header for that",
		"groups: [{name: a}, {name: a}]\n" +
			oidc: "duplicate group",
		"groups: [{name: 'a,b'}]\n" +
			oidc: "without commas",
		"groups: [{scopes: [query]}]\n" +
			oidc: "name",
		"groups: [{name: a, sites: [shop], scopes: [backup]}]\n" +
			oidc: "group a: the scope backup covers all sites",
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want %q", text, err, want)
		}
	}
	r := parse(t, people+"oidc: {issuer: https://login.example, client_id: f, client_secret_file: secret, url: "+
		"https://d.example}\n")
	for text, want := range map[string]string{" \n": "secret is empty", "": "secret is empty", "abc\n": ""} {
		err := r.ReadSecret(func(string) ([]byte, error) { return []byte(text), nil })
		if want == "" && (err != nil || r.provider.Secret != "abc") || want != "" &&
			(err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, the secret is %q", text, err, r.provider.Secret)
		}
	}
}

// A header is accepted only from the addresses of the proxy.
func TestProxy(t *testing.T) {
	g := NewGuard(parse(t, people+
		"tokens: [{name: t, sha256: ba5005a40cf5212e4ac0190104cc127edab013294bb71279a975b27a80982d45}]\n"+
		"proxy: {user_header: X-User, groups_header: X-Groups, networks: [10.1.2.0/24, '::1', 'fc00::/7']}\n"), ignore)
	h := g.Handler(privateMux())
	for _, c := range []struct {
		from    string
		headers map[string][]string
		want    int
	}{
		{"10.1.2.3:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"all, web-perf"}}, 200},
		{"10.1.2.3:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"all", "web-perf"}}, 200},
		{"[::1]:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"web-perf"}}, 200},
		{"[::ffff:10.1.2.3]:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"web-perf"}}, 200},
		{"10.1.3.3:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"web-perf"}}, 401},
		{"10.1.2.3:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"all"}}, 401},
		{"10.1.2.3:9", map[string][]string{"X-User": {"web-perf"}}, 401}, // ann is not in this group
		{"10.1.2.3:9", map[string][]string{"X-Groups": {"web-perf"}}, 401},
		{"10.1.2.3:9", map[string][]string{"X-User": {""}, "X-Groups": {"web-perf"}}, 401},
		{"10.1.2.3:9", map[string][]string{"X-User": {"ann", "bob"}, "X-Groups": {"web-perf"}}, 401},
		{"10.1.2.3:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"web-perf\u00a0"}}, 401}, // another group
		{"10.1.2.3:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"all,\tweb-perf "}}, 200},
		{"10.1.2.3:9", nil, 401},
		{"10.1.2.3:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"x"},
			"Authorization": {"Bearer reader-token"}}, 200},
		{"10.1.3.3:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"x"},
			"Authorization": {"Bearer reader-token"}}, 200},
		{"10.1.2.3:9", map[string][]string{"X-User": {"ann"}, "X-Groups": {"web-perf"},
			"Authorization": {"Bearer other"}}, 401},
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/profile", nil)
		r.RemoteAddr = c.from
		for k, v := range c.headers {
			r.Header[k] = v
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %v: %d %s, want %d", c.from, c.headers, w.Code, w.Body, c.want)
		}
	}
}

// Headers of the proxy that are too long or ambiguous are not accepted: a truncated list of groups
// could end with the name of another group. The log has the reason.
func TestProxyHeadersRefused(t *testing.T) {
	var why Reason
	var detail error
	g := NewGuard(parse(t, people+"proxy: {user_header: X-User, groups_header: X-Groups, networks: [10.1.2.3]}\n"),
		func(_ *http.Request, reason Reason, err error) { why, detail = reason, err })
	h := g.Handler(privateMux())
	padding := strings.Repeat("x", maxHeader-len(",web-perf")) + ",web-perf"
	for _, c := range []struct {
		user, groups []string
		want         string // in the detail; "": the request passes
	}{
		{[]string{"ann"}, []string{padding}, ""},
		{[]string{"ann"}, []string{padding + "-guests"}, "header X-Groups: 16391 bytes; the most is 16384"},
		{[]string{"ann"}, []string{"web-perf", padding}, "header X-Groups: 16393 bytes"},
		{[]string{strings.Repeat("a", maxHeader+1)}, []string{"web-perf"}, "header X-User: 16385 bytes"},
		{[]string{"ann", "bob"}, []string{"web-perf"}, "header X-User: several in one request"},
		{[]string{"ann\x7f"}, []string{"web-perf"}, "control character"},
	} {
		why, detail = "", nil
		r := httptest.NewRequest(http.MethodGet, "/api/v1/profile", nil)
		r.RemoteAddr = "10.1.2.3:9"
		r.Header["X-User"], r.Header["X-Groups"] = c.user, c.groups
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		switch {
		case c.want == "" && w.Code != http.StatusOK:
			t.Errorf("got %d %s, %v, want 200", w.Code, w.Body, detail)
		case c.want != "" && (w.Code != http.StatusUnauthorized || why != ReasonUnknown || detail == nil ||
			!strings.Contains(detail.Error(), c.want)):
			t.Errorf("got %d, %q, %v, want 401 and %q", w.Code, why, detail, c.want)
		}
	}
}
