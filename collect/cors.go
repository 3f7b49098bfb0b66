package collect

import (
	"net/http"
	"strings"
)

// allowed reports whether scripts of an origin may send traces.
func (c *Collector) allowed(origin string) bool {
	for _, o := range c.Origins {
		if o == "*" || strings.EqualFold(o, origin) {
			return true
		}
		if before, after, ok := strings.Cut(o, "*."); ok &&
			strings.HasPrefix(origin, before) && strings.HasSuffix(origin, "."+after) {
			return true
		}
	}
	return len(c.Origins) == 0
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
	if len(c.Origins) == 0 {
		origin = "*"
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Retry-After")
	return nil
}

// preflight answers the question of a browser whether a page may send traces.
func (c *Collector) preflight(w http.ResponseWriter, r *http.Request) {
	if err := c.cors(w, r); err != nil {
		c.writeError(w, err)
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "POST")
	h.Set("Access-Control-Allow-Headers", "Content-Type, Content-Encoding")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
