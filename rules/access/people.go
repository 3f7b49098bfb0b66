package access

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
	"github.com/fieldtrie/fieldtrie/rules/access/provider"
)

// group has the permissions of a group that an OpenID provider or a proxy reports.
type group struct {
	Identity // Name is the name of the group
}

// proxy is a proxy that authenticates users, such as oauth2-proxy.
type proxy struct {
	user, groups string         // headers; groups may be empty
	networks     []netip.Prefix // addresses of the proxy
}

// kindPerson is the kind of identities from a provider or a proxy.
const kindPerson = "person"

// maxHeader is the maximum size of a header of a proxy, in bytes.
const maxHeader = 16 << 10

// minBits is the minimum prefix length of proxy networks. Shorter prefixes cover a large part of
// all addresses, and a few of them cover all. The largest network of private addresses is fc00::/7.
const minBits = 7

// person returns the identity of a person in groups, from the first matching group in the file, or
// nil.
func (r *Rules) person(name string, groups []string) *Identity {
	for i := range r.groups {
		if slices.Contains(groups, r.groups[i].Name) {
			who := r.groups[i].Identity
			who.Name, who.Kind = name, kindPerson
			return &who
		}
	}
	return nil
}

// proxied returns the identity that a proxy reports for a request. ok is false if the request does
// not come from the proxy, or has no such header. The error is the reason why the proxy's headers
// are not accepted.
func (r *Rules) proxied(req *http.Request) (who *Identity, ok bool, err error) {
	if r.proxy == nil || len(req.Header.Values(r.proxy.user)) == 0 {
		return nil, false, nil
	}
	addr, err := netip.ParseAddr(AddressOf(req))
	if err != nil || !slices.ContainsFunc(r.proxy.networks, func(n netip.Prefix) bool {
		return n.Contains(addr.Unmap())
	}) {
		return nil, false, nil
	}
	name := req.Header.Get(r.proxy.user)
	switch {
	case len(req.Header.Values(r.proxy.user)) > 1:
		return nil, true, &headerError{r.proxy.user, "several in one request"}
	case len(name) > maxHeader:
		return nil, true, longHeader(r.proxy.user, len(name))
	case strings.ContainsFunc(name, unicode.IsControl):
		return nil, true, &headerError{r.proxy.user, "control character"}
	case name == "":
		return nil, true, nil
	}
	groups := []string{name} // without groups, the name itself is the group
	if r.proxy.groups != "" {
		text := strings.Join(req.Header.Values(r.proxy.groups), ",")
		if len(text) > maxHeader { // truncation inside a name could produce the name of another group
			return nil, true, longHeader(r.proxy.groups, len(text))
		}
		groups = strings.Split(text, ",")
		for i, group := range groups {
			groups[i] = strings.Trim(group, " \t")
		}
	}
	return r.person(name, groups), true, nil
}

// headerError is the reason why a header of the login proxy is not accepted.
type headerError struct{ header, why string }

func (e *headerError) Error() string { return "header " + e.header + ": " + e.why }

func longHeader(header string, size int) error {
	return &headerError{header, fmt.Sprintf("%d bytes; the most is %d", size, maxHeader)}
}

// Proxied returns the user name that a proxy reports for a request, or "".
func (g *Guard) Proxied(r *http.Request) string {
	if who, _, _ := g.now.Load().rules.proxied(r); who != nil {
		return who.Name
	}
	return ""
}

// addGroup parses a group.
func (r *Rules) addGroup(item strictyaml.Value) error {
	fields, err := item.Fields("name", "scopes", "sites", "pages")
	if err != nil {
		return err
	}
	name, err := fields["name"].Text()
	if err != nil {
		return err
	}
	if name == "" || len(name) > 4*maxName || strings.ContainsFunc(name, unicode.IsControl) ||
		strings.Contains(name, ",") {
		return item.Errorf("name %.70q: give it the name of a group, of up to %d bytes, without commas",
			name, 4*maxName)
	}
	if slices.ContainsFunc(r.groups, func(g group) bool { return g.Name == name }) {
		return item.Errorf("duplicate group %s", name)
	}
	var g group
	if g.Identity, err = allowedOf("group", name, item, fields); err != nil {
		return err
	}
	r.groups = append(r.groups, g)
	return nil
}

// readProvider parses the OpenID provider.
func (r *Rules) readProvider(v strictyaml.Value) error {
	fields, err := v.Fields("issuer", "client_id", "client_secret_file", "client_secret", "url", "name", "scopes",
		"groups_claim")
	if err != nil {
		return err
	}
	if plain, ok := fields["client_secret"]; ok {
		return plain.Errorf("plain-text secrets are not allowed; use client_secret_file with the name of a file")
	}
	s := &provider.Settings{Scopes: []string{"profile", "email"}, GroupsClaim: "groups"}
	for key, to := range map[string]*string{"issuer": &s.Issuer, "client_id": &s.ClientID,
		"client_secret_file": &r.secretFile, "url": &s.URL, "name": &s.Name, "groups_claim": &s.GroupsClaim} {
		if field, ok := fields[key]; ok {
			if *to, err = field.Text(); err != nil {
				return err
			}
		}
	}
	for _, key := range []string{"issuer", "url"} {
		text := map[string]string{"issuer": s.Issuer, "url": s.URL}[key]
		if err := provider.CheckURL(text); err != nil {
			return v.Errorf("oidc: %s: %w", key, err)
		}
	}
	if s.ClientID == "" || s.GroupsClaim == "" {
		return v.Errorf("oidc: client_id is missing; it is the id of this daemon at the provider")
	}
	if s.Name == "" {
		s.Name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(s.Issuer, "/"), "https://"), "http://")
	}
	if len(s.Name) > maxName || strings.ContainsFunc(s.Name, unicode.IsControl) {
		return v.Errorf("oidc: name: up to %d bytes", maxName)
	}
	if list, ok := fields["scopes"]; ok {
		if s.Scopes, err = list.Texts(func(text string) error {
			if text == "" || strings.ContainsAny(text, " \"\\") {
				return fmt.Errorf("invalid scope %q", text)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	r.provider = s
	return nil
}

// readProxy parses the proxy that authenticates users.
func (r *Rules) readProxy(v strictyaml.Value) error {
	fields, err := v.Fields("user_header", "groups_header", "networks")
	if err != nil {
		return err
	}
	p := &proxy{}
	for key, to := range map[string]*string{"user_header": &p.user, "groups_header": &p.groups} {
		if *to, err = fields[key].Text(); err != nil {
			return err
		}
		if strings.EqualFold(*to, "Authorization") || strings.EqualFold(*to, "Cookie") ||
			strings.ContainsFunc(*to, func(c rune) bool {
				return c <= ' ' || c >= 0x7f || c == ':'
			}) {
			return v.Errorf("proxy: %s: %.40q is not a header for that", key, *to)
		}
	}
	if p.user == "" {
		return v.Errorf("proxy: user_header is missing; it is the header with the name of the user, such as " +
			"X-Forwarded-User")
	}
	_, err = fields["networks"].Texts(func(text string) error {
		n, err := netip.ParsePrefix(text)
		if addr, one := netip.ParseAddr(text); err != nil && one == nil {
			n, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || n.Bits() < minBits {
			return fmt.Errorf(
				"%.60q is not the address or network of a proxy, such as 10.1.2.3 or 10.1.2.0/24; all of its "+
					"requests are trusted", text)
		}
		p.networks = append(p.networks, n.Masked())
		return nil
	})
	if err != nil {
		return err
	}
	if len(p.networks) == 0 {
		return v.Errorf("proxy: networks is missing; the header is accepted only from these addresses, such as " +
			"[10.1.2.3]")
	}
	r.proxy = p
	return nil
}

// checkPeople checks that groups, oidc and proxy are used together.
func (r *Rules) checkPeople() error {
	switch known := r.provider != nil || r.proxy != nil; {
	case len(r.groups) > 0 && !known:
		return errors.New("groups: nothing assigns people to them; add oidc or proxy")
	case len(r.groups) == 0 && known:
		return errors.New("oidc, proxy: without groups no login is possible; add some to the list groups")
	}
	return nil
}

// ReadSecret reads the client secret for the OpenID provider, if it is in a file.
func (r *Rules) ReadSecret(readFile func(name string) ([]byte, error)) error {
	if r.secretFile == "" {
		return nil
	}
	text, err := readFile(r.secretFile)
	if err != nil {
		return fmt.Errorf("oidc: client_secret_file: %w", err)
	}
	if r.provider.Secret = strings.TrimSpace(string(text)); r.provider.Secret == "" {
		return fmt.Errorf("oidc: client_secret_file: %s is empty", r.secretFile)
	}
	return nil
}
