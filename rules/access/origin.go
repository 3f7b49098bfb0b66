package access

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ReasonForeign is that a browser sent the request for a page of another origin.
const ReasonForeign Reason = "foreign"

// SameOrigin keeps the pages of other origins from what next answers. A browser that may
// reach a private address lets any page on the web send requests there: it hides most answers
// from the page, but runs them as scripts and draws them as images where they look like it,
// and what the request does is done. mux says which pattern a request is for; next gets the
// requests that are let through. refused is called with each other, from several goroutines.
//
// Browsers say which page a request comes from (Fetch Metadata, W3C). Let through are
// requests of pages of this origin, those that a person typed or followed a link for, unless
// it leads to a backup, and those of other programs than browsers.
//
// Each answer says that no other page may include it, whatever it looks like, or show it in
// a frame.
func SameOrigin(mux *http.ServeMux, next http.Handler, refused func(*http.Request, Reason)) http.Handler {
	changes := http.NewCrossOriginProtection() // of all that is no GET or HEAD
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "frame-ancestors 'self'")
		h.Set("Referrer-Policy", "same-origin")
		_, pattern := mux.Handler(r)
		if changes.Check(r) != nil || isForeign(r) && !(isVisit(r) && scopeOf(pattern) != ScopeBackup) {
			refused(r, ReasonForeign)
			writeError(w, http.StatusForbidden, fmt.Sprintf("a page of another origin (%s) asks; its browser may not", originOf(r)))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isForeign reports whether a browser sent r for a page of another origin. Old browsers, and
// all of them where the address is neither of this machine nor has TLS, say so by Origin
// alone, and not about each request.
func isForeign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "":
		origin := r.Header.Get("Origin")
		u, err := url.Parse(origin)
		return origin != "" && (err != nil || !strings.EqualFold(u.Host, r.Host))
	}
	return true
}

// isVisit reports whether r is for a whole page, of a tab of its own, and does nothing but
// read.
func isVisit(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// originOf names where r comes from, as far as its browser says.
func originOf(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		return fmt.Sprintf("%.100q", origin)
	}
	return "Sec-Fetch-Site: " + fmt.Sprintf("%.20q", r.Header.Get("Sec-Fetch-Site"))
}
