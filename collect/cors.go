package collect

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// originRule matches one origin, or with a wildcard the origins of all hosts below a domain: a
// prefix, any labels of a host name, a suffix.
type originRule struct {
	prefix, suffix string // in lower case, such as "https://" and ".example.com"
	wildcard       bool
}

func parseOrigin(s string) originRule {
	s = strings.ToLower(strings.TrimSuffix(s, "/"))
	prefix, suffix, wildcard := strings.Cut(s, "*")
	return originRule{prefix, suffix, wildcard}
}

// allows reports whether the rule matches origin, which is in lower case.
func (o originRule) allows(origin string) bool {
	if !o.wildcard {
		return origin == o.prefix
	}
	if o.prefix == "" && o.suffix == "" {
		return true
	}
	middle, ok := strings.CutPrefix(origin, o.prefix)
	if !ok {
		return false
	}
	middle, ok = strings.CutSuffix(middle, o.suffix)
	// The star matches complete labels of a host name, so that it cannot match across the end of
	// one host name and the beginning of another.
	return ok && strings.HasSuffix(o.prefix, "://") && strings.HasPrefix(o.suffix, ".") && hostLabels(middle)
}

// hostLabels reports whether s may be the first labels of a host name.
func hostLabels(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// parseOrigins converts origins to rules.
func parseOrigins(origins []string) []originRule {
	var rules []originRule
	for _, s := range origins {
		rules = append(rules, parseOrigin(s))
	}
	return rules
}

// originAllowed reports whether a rule matches origin. Without rules every origin is allowed.
func originAllowed(rules []originRule, origin string) bool {
	origin = strings.ToLower(origin)
	return len(rules) == 0 || slices.ContainsFunc(rules, func(o originRule) bool { return o.allows(origin) })
}

// CheckOrigin returns an error unless s is a valid element of Options.Origins: "*", a scheme and a
// host, or a scheme and a host with a star instead of its first labels. An origin that no browser
// can send would silently keep every page out.
func CheckOrigin(s string) error {
	u, err := url.Parse(strings.Replace(s, "://*.", "://", 1))
	if s != "*" && (err != nil || u.Host == "" || u.User != nil || strings.Contains(u.Host, "*") ||
		(u.Scheme != "https" && u.Scheme != "http") || s != strings.TrimRight(s, "/") ||
		u.Path+u.RawQuery+u.Fragment != "") {
		return fmt.Errorf("%q is not an origin such as https://www.example.com or https://*.example.com", s)
	}
	return nil
}

// SetOrigins replaces [Options].Origins. It may be called while requests are served.
func (c *Collector) SetOrigins(origins []string) {
	rules := parseOrigins(origins)
	c.origins.Store(&rules)
}

// cors sets the headers that let a page of another origin read the response. It refuses origins
// that are not allowed for the key of the request or, without a key, at all. Requests without an
// origin do not come from a page.
func (c *Collector) cors(w http.ResponseWriter, r *http.Request, key *siteKey) error {
	h := w.Header()
	h.Add("Vary", "Origin")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	rules, where := *c.origins.Load(), "--allow-origin "+origin
	if key != nil && len(key.Origins) > 0 {
		rules, where = key.origins, "the origins of its key"
	}
	if !originAllowed(rules, origin) {
		return &refusal{http.StatusForbidden, "origin",
			fmt.Errorf("header Origin: %q may not send traces here; allow it with %s", origin, where), origin}
	}
	// Requests have no credentials, so * is enough if every origin may send.
	if len(rules) == 0 {
		origin = "*"
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Retry-After, Ingest-Durability")
	return nil
}

// preflight answers the preflight request of a browser. Its URL contains the key of the request
// that will follow.
func (c *Collector) preflight(w http.ResponseWriter, r *http.Request) {
	if err := c.cors(w, r, c.keys.Load().of(r)); err != nil {
		c.writeError(w, r, err, &answer{IDs: []string{}})
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", "Content-Type, Content-Encoding")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
