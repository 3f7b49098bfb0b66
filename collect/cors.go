package collect

import (
	"net/http"
	"strings"
)

// originRule allows an origin, or, if it has a wildcard, the origins of all hosts below
// one: prefix, any labels of a host name, suffix.
type originRule struct {
	prefix, suffix string // in lower case, such as "https://" and ".example.com"
	wildcard       bool
}

func parseOrigin(s string) originRule {
	s = strings.ToLower(strings.TrimSuffix(s, "/"))
	prefix, suffix, wildcard := strings.Cut(s, "*")
	return originRule{prefix, suffix, wildcard}
}

// allows reports whether the rule covers origin, which is in lower case.
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
	// The star stands for whole labels of a host name, so that it can not swallow the
	// end of one host and the beginning of another.
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

// allowed reports whether scripts of an origin may send traces.
func (c *Collector) allowed(origin string) bool {
	origin = strings.ToLower(origin)
	for _, o := range c.origins {
		if o.allows(origin) {
			return true
		}
	}
	return len(c.origins) == 0
}

// cors sets the headers that let a page of another origin read the answer, and refuses
// origins that are not allowed. Requests without an origin do not come from a page.
func (c *Collector) cors(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Add("Vary", "Origin")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if !c.allowed(origin) {
		return refuse(http.StatusForbidden, "origin", "header Origin: %q may not send traces here; allow it with --allow-origin", origin)
	}
	// No cookies are wanted, so the origin need not be named where all may send.
	if len(c.origins) == 0 {
		origin = "*"
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Retry-After, Ingest-Durability")
	return nil
}

// preflight answers the question of a browser whether a page may send traces.
func (c *Collector) preflight(w http.ResponseWriter, r *http.Request) {
	if err := c.cors(w, r); err != nil {
		c.writeError(w, err, &answer{IDs: []string{}})
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", "Content-Type, Content-Encoding")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
