package collect

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
)

// Key identifies the requests of a site. It is visible in every page that embeds the script, so it
// is no secret and no proof, and it grants no read access. It keeps out noise, bounds how much one
// site can send, and lets an operator disable an embed that is no longer maintained.
type Key struct {
	Value   string   // of the parameter key
	Site    string   // for metrics; several keys may share a site
	Rate    float64  // requests a second, with bursts of a minute's worth; 0: the rate of [Limits]
	Origins []string // that may use it; none: the origins of [Options]
}

// siteKey is a key with its rate limit and origins.
type siteKey struct {
	Key      // Rate is the effective rate; 0: no limit
	origins  []originRule
	requests *sharedLimiter[struct{}]
}

// keyring is an immutable set of keys by value.
type keyring struct{ keys map[string]*siteKey }

// of returns the key of a request, or nil if it is not in k. The lookup need not take constant
// time, since keys are not secret, see [Key].
func (k *keyring) of(r *http.Request) *siteKey {
	if len(k.keys) == 0 {
		return nil
	}
	return k.keys[r.URL.Query().Get("key")]
}

// SetKeys replaces the keys. It may be called while requests are served. A key whose rate is
// unchanged keeps the rest of its quota.
func (c *Collector) SetKeys(keys []Key) {
	before := c.keys.Load()
	now := &keyring{map[string]*siteKey{}}
	sites := map[string]bool{}
	for _, k := range keys {
		x := &siteKey{Key: k, origins: parseOrigins(k.Origins)}
		if x.Rate == 0 {
			x.Rate = c.bounds.Load().KeyRate
		}
		x.requests = newSharedLimiter[struct{}](x.Rate, time.Minute)
		if before != nil {
			if old := before.keys[k.Value]; old != nil && old.Rate == x.Rate {
				x.requests = old.requests
			}
		}
		now.keys[k.Value], sites[k.Site] = x, true
	}
	// An empty key would match requests without a key, so it matches none. It stays in the set:
	// without any key, every request would be accepted.
	if _, ok := now.keys[""]; ok {
		now.keys[""] = nil
	}
	c.keys.Store(now)
	if before == nil {
		return
	}
	for _, old := range before.keys {
		if old != nil && !sites[old.Site] { // otherwise each reload could leave metric series behind
			c.metrics.sites.DeletePartialMatch(map[string]string{"site": old.Site})
		}
	}
}

// refuseKey refuses a request that has no valid key.
func refuseKey(w http.ResponseWriter, r *http.Request) error {
	key := r.URL.Query().Get("key")
	w.Header().Set("WWW-Authenticate", "Key") // required by RFC 9110; browsers ignore this scheme
	if key == "" {
		return refuse(http.StatusUnauthorized, "key",
			"parameter key: it is missing; send to %s?key=KEY with the key of this site", r.URL.Path)
	}
	return refuse(http.StatusUnauthorized, "key",
		"parameter key: %.40q is not one of this site's keys; allow it with --key or in the file of --keys", key)
}

const (
	maxKey   = 64
	keyChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
)

// CheckKey returns an error unless s is a valid key. Keys are part of URLs, so they have no
// characters that would need escaping.
func CheckKey(s string) error {
	if s == "" || len(s) > maxKey || strings.Trim(s, keyChars) != "" {
		return fmt.Errorf("%.80q is not a key: use up to %d letters, digits, - and _", s, maxKey)
	}
	return nil
}

// ParseKeys parses keys, a YAML list:
//
//   - key: 3f1c9a
//     site: shop
//     rate: 20
//     origins: [https://shop.example.com, https://*.shop.example.com]
//
// rate and origins are optional, see [Key]. Errors contain the line number. A file without a key is
// an error, since it would accept every request.
func ParseKeys(r io.Reader) ([]Key, error) {
	file, err := strictyaml.Read(r)
	if err != nil {
		return nil, err
	}
	var keys []Key
	seen := map[string]bool{}
	err = file.Each(func(item strictyaml.Value) error {
		k, err := parseKey(item)
		if seen[k.Value] && k.Value != "" {
			err = errors.Join(err, item.Errorf("key %s is in the list twice", k.Value))
		}
		seen[k.Value] = true
		keys = append(keys, k)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, errors.New("no key, so every client could send; add one, as - key: KEY with site: NAME below it")
	}
	return keys, nil
}

// parseKey parses one key and returns all its errors, joined.
func parseKey(item strictyaml.Value) (k Key, err error) {
	fields, err := item.Fields("key", "site", "rate", "origins")
	wrong := []error{err}
	fail := func(err error) { wrong = append(wrong, err) }
	k.Value, err = fields["key"].Text()
	if fail(err); err == nil {
		if err := CheckKey(k.Value); err != nil {
			fail(item.Errorf("key: %w", err))
		}
	}
	k.Site, err = fields["site"].Text()
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if fail(err); err == nil && (k.Site == "" || len(k.Site) > maxKey || !utf8.ValidString(k.Site) ||
		strings.ContainsFunc(k.Site, control)) {
		fail(item.Errorf("site %.80q: give the key %s a name of up to %d bytes, for the metrics", k.Site,
			k.Value, maxKey))
	}
	k.Rate, err = fields["rate"].Float()
	if fail(err); k.Rate < 0 {
		fail(item.Errorf("rate: %g is negative; use requests a second, or leave it out", k.Rate))
	}
	k.Origins, err = fields["origins"].Texts(func(text string) error {
		if err := CheckOrigin(text); err != nil {
			return fmt.Errorf("origins: %w", err)
		}
		return nil
	})
	fail(err)
	return k, errors.Join(wrong...)
}
