package access

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// LocalHosts refuses requests with a Host other than this machine. Otherwise a page in a local
// browser could use a name that resolves to 127.0.0.1 (DNS rebinding), and read all responses.
func LocalHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.ToLower(strings.Trim(host, "[]"))
		_, err := netip.ParseAddr(host)
		if err != nil && host != "" && host != "localhost" && !strings.HasSuffix(host, ".localhost") {
			writeError(w, http.StatusForbidden,
				fmt.Sprintf("header Host: %.100q is not this machine; use 127.0.0.1 or localhost, or start ingest "+
					"with --access FILE", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}
