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
)

// Scope is a part of what a daemon serves.
type Scope string

// The scopes.
const (
	ScopeQuery   Scope = "query"   // all that no other scope has
	ScopeMetrics Scope = "metrics" // /metrics
	ScopeBackup  Scope = "backup"  // /v1/backup: all data
	ScopeSymbols Scope = "symbols" // /v1/symbols/: to send the symbols of a build, not to read them
	ScopeViews   Scope = "views"   // /api/v1/views, /api/v1/view: what one person's visit went through
)

var scopes = []Scope{ScopeQuery, ScopeMetrics, ScopeBackup, ScopeSymbols, ScopeViews}

// Rules say who may have what. They do not change.
type Rules struct {
	tokens []token
	users  []user
}

// token is who has the token with this hash.
type token struct {
	name   string
	hash   [sha256.Size]byte
	scopes []Scope
}

// user is who has the password with this hash.
type user struct {
	name   string
	hash   []byte // bcrypt
	scopes []Scope
}

const (
	maxName = 64 // bytes
	// maxCost bounds the work for one password: at 14 it is about a second.
	maxCost = 14
)

// Parse reads rules, see the package documentation. Errors name the line and say what to
// do about it. A file that would let nobody in is an error, too.
func Parse(r io.Reader) (*Rules, error) {
	file, err := strictyaml.Read(r)
	if err != nil {
		return nil, err
	}
	top, err := file.Fields("tokens", "users")
	if err != nil {
		return nil, err
	}
	var rules Rules
	if err := each(top["tokens"], rules.addToken); err != nil {
		return nil, err
	}
	if err := each(top["users"], rules.addUser); err != nil {
		return nil, err
	}
	if len(rules.tokens)+len(rules.users) == 0 {
		return nil, errors.New("no token and no user, so that nobody could come in; add one to the list tokens or users")
	}
	return &rules, nil
}

func each(list strictyaml.Value, add func(strictyaml.Value) error) error {
	items, err := list.Items()
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := add(item); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rules) addToken(item strictyaml.Value) error {
	fields, err := item.Fields("name", "sha256", "scopes", "token")
	if err != nil {
		return err
	}
	if plain, ok := fields["token"]; ok {
		return plain.Errorf("a token does not stand here in the clear; write sha256: and what `printf %%s TOKEN | sha256sum` prints")
	}
	var t token
	if t.name, err = nameOf(item, fields); err != nil {
		return err
	}
	text, err := fields["sha256"].Text()
	if err != nil {
		return err
	}
	if n, err := hex.Decode(t.hash[:], []byte(text[:min(len(text), 2*sha256.Size)])); err != nil || n != sha256.Size || len(text) != 2*sha256.Size {
		return item.Errorf("token %s: sha256 is not the 64 hexadecimal digits that `printf %%s TOKEN | sha256sum` prints; the token itself does not stand here", t.name)
	}
	if t.scopes, err = scopesOf(fields["scopes"]); err != nil {
		return err
	}
	for _, other := range r.tokens {
		switch {
		case other.name == t.name:
			return item.Errorf("a second token with the name %s", t.name)
		case other.hash == t.hash:
			return item.Errorf("tokens %s and %s are the same", other.name, t.name)
		}
	}
	r.tokens = append(r.tokens, t)
	return nil
}

func (r *Rules) addUser(item strictyaml.Value) error {
	fields, err := item.Fields("name", "bcrypt", "scopes", "password")
	if err != nil {
		return err
	}
	const how = "write bcrypt: and what `htpasswd -nB NAME` prints after the colon"
	if plain, ok := fields["password"]; ok {
		return plain.Errorf("a password does not stand here in the clear; %s", how)
	}
	var u user
	if u.name, err = nameOf(item, fields); err != nil {
		return err
	}
	text, err := fields["bcrypt"].Text()
	if err != nil {
		return err
	}
	u.hash = []byte(text)
	if err := checkHash(u.hash); err != nil {
		return item.Errorf("user %s: %w; %s", u.name, err, how)
	}
	if u.scopes, err = scopesOf(fields["scopes"]); err != nil {
		return err
	}
	if slices.ContainsFunc(r.users, func(other user) bool { return other.name == u.name }) {
		return item.Errorf("a second user with the name %s", u.name)
	}
	r.users = append(r.users, u)
	return nil
}

// checkHash reports what is wrong with a hash of bcrypt.
func checkHash(hash []byte) error {
	const alphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	const size, encoded = 60, 53 // bytes, of which the last are salt and sum
	if len(hash) != size || hash[1] != '2' || strings.Trim(string(hash[size-encoded:]), alphabet) != "" {
		return errors.New("bcrypt is no hash of bcrypt")
	}
	cost, err := bcrypt.Cost(hash)
	if err != nil {
		return errors.New("bcrypt is no hash of bcrypt")
	}
	if cost > maxCost {
		return fmt.Errorf("bcrypt has the cost %d, with which a request would take many seconds; use 10 to %d", cost, maxCost)
	}
	return nil
}

// nameOf returns the name of a token or user. It is shown in errors and compared with
// what comes in a header.
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

func scopesOf(list strictyaml.Value) ([]Scope, error) {
	items, err := list.Items()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return []Scope{ScopeQuery, ScopeMetrics}, nil
	}
	var out []Scope
	for _, item := range items {
		text, err := item.Text()
		if err != nil {
			return nil, err
		}
		if !slices.Contains(scopes, Scope(text)) {
			return nil, item.Errorf("scopes: %.40q is none of %s, %s, %s, %s, %s", text, ScopeQuery, ScopeMetrics, ScopeBackup, ScopeSymbols, ScopeViews)
		}
		if !slices.Contains(out, Scope(text)) {
			out = append(out, Scope(text))
		}
	}
	return out, nil
}

// token returns the scopes of who sent a token. It takes the same time whatever was sent.
func (r *Rules) token(sent string) (granted []Scope, ok bool) {
	hash := sha256.Sum256([]byte(sent))
	for _, t := range r.tokens {
		if subtle.ConstantTimeCompare(hash[:], t.hash[:]) == 1 {
			granted, ok = t.scopes, true
		}
	}
	return granted, ok
}
