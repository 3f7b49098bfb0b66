package access

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// SameOrigin protects next from pages of other origins. Any web page can make a browser send
// requests to a private address that the browser can reach. The browser hides most responses from
// the page, but it runs or shows those that look like scripts or images, and the request takes
// effect in any case. mux provides the pattern of a request. next gets the allowed requests, and
// refused is called for all others.
//
// Browsers send the origin of a request (Fetch Metadata, W3C). SameOrigin allows requests of pages
// of this origin, navigation by a typed URL or a link, except to a backup, and requests of programs
// other than browsers.
//
// Each response forbids other pages to embed it, whatever its content type, or to show it in a
// frame.
func SameOrigin(mux *http.ServeMux, next http.Handler, refused Refused) http.Handler {
	changes := http.NewCrossOriginProtection() // for all methods other than GET and HEAD
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "frame-ancestors 'self'")
		h.Set("Referrer-Policy", "same-origin")
		_, pattern := mux.Handler(r)
		if changes.Check(r) != nil || isForeign(r) && !(isVisit(r) && scopeOf(pattern) != ScopeBackup) {
			refused(r, ReasonForeign, nil)
			writeError(w, http.StatusForbidden,
				fmt.Sprintf("a page of another origin (%s) sent this request, which is not allowed", originOf(r)))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isForeign reports whether a browser sent r for a page of another origin. Old browsers, and all
// browsers if the address is neither local nor uses TLS, send only Origin, and not with every
// request.
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

// isVisit reports whether r navigates a tab to a page and only reads.
func isVisit(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// originOf describes the origin of r, as far as the browser sent it.
func originOf(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		return fmt.Sprintf("%.100q", origin)
	}
	return "Sec-Fetch-Site: " + fmt.Sprintf("%.20q", r.Header.Get("Sec-Fetch-Site"))
}
