package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
	"github.com/fieldtrie/fieldtrie/rules/access/provider"
	"github.com/fieldtrie/fieldtrie/rules/feature"
	"github.com/fieldtrie/fieldtrie/rules/site"
)

// Scope is a permission for a part of a daemon's API.
type Scope string

const (
	ScopeQuery   Scope = "query"   // everything outside the other scopes
	ScopeMetrics Scope = "metrics" // /metrics
	ScopeBackup  Scope = "backup"  // /v1/backup: all data
	ScopeDelete  Scope = "delete"  // /v1/deletions: delete data, and list deletions
	ScopeSymbols Scope = "symbols" // /v1/symbols/: upload symbols of a build, not read them
	ScopeChanges Scope = "changes" // POST /api/v1/changes/{id}: set the state of a change
	ScopeViews   Scope = "views"   // /api/v1/views, /api/v1/view: the timeline of single visits
)

// scopeAdmin stands for all scopes in a file.
const scopeAdmin Scope = "admin"

func allScopes() []Scope {
	return []Scope{ScopeQuery, ScopeMetrics, ScopeBackup, ScopeDelete, ScopeSymbols, ScopeViews, ScopeChanges}
}

// Rules holds the permissions of tokens and users. It is immutable.
type Rules struct {
	tokens     []token
	users      []user
	groups     []group
	provider   *provider.Settings // nil: none
	secretFile string             // file with its client secret; "": none
	proxy      *proxy             // nil: none
}

// Identity is a token or user with its permissions.
type Identity struct {
	Name   string // a token and a user may have the same name
	Kind   string // "token", "user" or "person"
	Scopes []Scope
	Sites  []string // sites that it may query; none: all
	Pages  []string // patterns of pages, see [feature.CheckPage]; none: all
}

// Limited reports whether the identity is restricted to some sites or pages.
func (i *Identity) Limited() bool { return len(i.Sites)+len(i.Pages) > 0 }

// token is a token's identity and hash.
type token struct {
	Identity
	hash [sha256.Size]byte
}

// user is a user's identity and password hash.
type user struct {
	Identity
	hash []byte // bcrypt
}

const (
	maxName = 64 // bytes
	// maxCost is the maximum bcrypt cost: 14 takes about a second.
	maxCost = 14
)

// Parse parses rules, see the package documentation. Errors contain the line and a remedy. A file
// without any token or user is an error.
func Parse(r io.Reader) (*Rules, error) {
	file, err := strictyaml.Read(r)
	if err != nil {
		return nil, err
	}
	top, err := file.Fields("tokens", "users", "groups", "oidc", "proxy")
	if err != nil {
		return nil, err
	}
	var rules Rules
	wrong := []error{top["tokens"].Each(rules.addToken), top["users"].Each(rules.addUser),
		top["groups"].Each(rules.addGroup)}
	for _, part := range []struct {
		key  string
		read func(strictyaml.Value) error
	}{{"oidc", rules.readProvider}, {"proxy", rules.readProxy}} {
		if v, ok := top[part.key]; ok {
			wrong = append(wrong, part.read(v))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	if err := rules.checkPeople(); err != nil {
		return nil, err
	}
	if len(rules.tokens)+len(rules.users)+len(rules.groups) == 0 {
		return nil, errors.New(
			"no token and no user, so every request would be refused; add one to the list tokens or users")
	}
	return &rules, nil
}

func (r *Rules) addToken(item strictyaml.Value) error {
	fields, err := item.Fields("name", "sha256", "scopes", "sites", "pages", "token")
	if err != nil {
		return err
	}
	if plain, ok := fields["token"]; ok {
		return plain.Errorf("plain-text tokens are not allowed; write `sha256: HASH` instead, with the HASH that " +
			"`printf %%s TOKEN | sha256sum` prints")
	}
	var t token
	if t.Identity, err = identityOf("token", item, fields); err != nil {
		return err
	}
	text, err := fields["sha256"].Text()
	if err != nil {
		return err
	}
	if n, err := hex.Decode(t.hash[:], []byte(text[:min(len(text), 2*sha256.Size)])); err != nil || n != sha256.Size ||
		len(text) != 2*sha256.Size {
		return item.Errorf("token %s: sha256 is not the 64 hexadecimal digits that `printf %%s TOKEN | sha256sum` "+
			"prints; plain-text tokens are not allowed", t.Name)
	}
	for _, other := range r.tokens {
		switch {
		case other.Name == t.Name:
			return item.Errorf("duplicate token %s", t.Name)
		case other.hash == t.hash:
			return item.Errorf("tokens %s and %s are the same", other.Name, t.Name)
		}
	}
	r.tokens = append(r.tokens, t)
	return nil
}

func (r *Rules) addUser(item strictyaml.Value) error {
	fields, err := item.Fields("name", "bcrypt", "scopes", "sites", "pages", "password")
	if err != nil {
		return err
	}
	const how = "write bcrypt: and what `htpasswd -nB NAME` prints after the colon"
	if plain, ok := fields["password"]; ok {
		return plain.Errorf("plain-text passwords are not allowed; %s", how)
	}
	var u user
	if u.Identity, err = identityOf("user", item, fields); err != nil {
		return err
	}
	text, err := fields["bcrypt"].Text()
	if err != nil {
		return err
	}
	u.hash = []byte(text)
	if err := checkHash(u.hash); err != nil {
		return item.Errorf("user %s: %w; %s", u.Name, err, how)
	}
	if slices.ContainsFunc(r.users, func(other user) bool { return other.Name == u.Name }) {
		return item.Errorf("duplicate user %s", u.Name)
	}
	r.users = append(r.users, u)
	return nil
}

// checkHash returns an error unless hash is a bcrypt hash of acceptable cost.
func checkHash(hash []byte) error {
	const alphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	const size, encoded = 60, 53 // bytes, of which the last are salt and sum
	if len(hash) != size || hash[1] != '2' || strings.Trim(string(hash[size-encoded:]), alphabet) != "" {
		return errors.New("bcrypt is not a bcrypt hash")
	}
	cost, err := bcrypt.Cost(hash)
	if err != nil {
		return errors.New("bcrypt is not a bcrypt hash")
	}
	if cost > maxCost {
		return fmt.Errorf("bcrypt has cost %d, so a request would take many seconds; use 10 to %d", cost, maxCost)
	}
	return nil
}

// nameOf parses the name of a token or user. Names appear in errors and are compared with request
// headers.
func nameOf(item strictyaml.Value, fields map[string]strictyaml.Value) (string, error) {
	name, err := fields["name"].Text()
	if err != nil {
		return "", err
	}
	unfit := func(r rune) bool { return r <= ' ' || r == ':' || r == 0x7f }
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, unfit) {
		return "", item.Errorf("name %.70q: give it one of up to %d bytes, without spaces and colons", name, maxName)
	}
	return name, nil
}

// identityOf parses the identity of an item of the file.
func identityOf(kind string, item strictyaml.Value, fields map[string]strictyaml.Value) (Identity, error) {
	name, err := nameOf(item, fields)
	if err != nil {
		return Identity{}, err
	}
	return allowedOf(kind, name, item, fields)
}

// allowedOf parses the permissions of an item of the file.
func allowedOf(kind, name string, item strictyaml.Value, fields map[string]strictyaml.Value) (who Identity, err error) {
	who.Kind, who.Name = kind, name
	var wrong [3]error
	who.Scopes, wrong[0] = scopesOf(fields["scopes"])
	who.Sites, wrong[1] = fields["sites"].Texts(site.CheckName)
	who.Pages, wrong[2] = fields["pages"].Texts(feature.CheckPage)
	if err := errors.Join(wrong[:]...); err != nil {
		return who, err
	}
	if !who.Limited() {
		return who, nil
	}
	// Without scopes in the file, a restricted identity has only query.
	if _, said := fields["scopes"]; !said {
		who.Scopes = []Scope{ScopeQuery}
	}
	for _, scope := range []Scope{ScopeMetrics, ScopeBackup, ScopeDelete} {
		if slices.Contains(who.Scopes, scope) {
			return who, item.Errorf("%s %s: the scope %s covers all sites and pages; remove it, or sites and pages",
				kind, who.Name, scope)
		}
	}
	return who, nil
}

func scopesOf(list strictyaml.Value) ([]Scope, error) {
	texts, err := list.Texts(func(text string) error {
		if Scope(text) != scopeAdmin && !slices.Contains(allScopes(), Scope(text)) {
			return fmt.Errorf("scopes: %.40q is not one of %s, %s", text, strings.Join(names(allScopes()), ", "),
				scopeAdmin)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(texts) == 0:
		return []Scope{ScopeQuery, ScopeMetrics}, nil
	case slices.Contains(texts, string(scopeAdmin)):
		return allScopes(), nil
	}
	var out []Scope
	for _, text := range texts {
		if !slices.Contains(out, Scope(text)) {
			out = append(out, Scope(text))
		}
	}
	return out, nil
}

// Sites returns all sites named in the rules, without duplicates.
func (r *Rules) Sites() (sites []string) {
	for _, t := range r.tokens {
		sites = append(sites, t.Sites...)
	}
	for _, u := range r.users {
		sites = append(sites, u.Sites...)
	}
	for _, g := range r.groups {
		sites = append(sites, g.Sites...)
	}
	slices.Sort(sites)
	return slices.Compact(sites)
}

// token returns the identity of a token, or nil. It takes constant time.
func (r *Rules) token(sent string) (who *Identity) {
	hash := sha256.Sum256([]byte(sent))
	for i := range r.tokens {
		if t := &r.tokens[i]; subtle.ConstantTimeCompare(hash[:], t.hash[:]) == 1 {
			who = &t.Identity
		}
	}
	return who
}
