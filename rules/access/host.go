package access

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// LocalHosts refuses requests for hosts other than this machine. A page in a local
// browser may use a name that resolves to 127.0.0.1 (DNS rebinding), and could read all
// responses.
func LocalHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.ToLower(strings.Trim(host, "[]"))
		_, err := netip.ParseAddr(host)
		if err != nil && host != "" && host != "localhost" && !strings.HasSuffix(host, ".localhost") {
			writeError(w, http.StatusForbidden, fmt.Sprintf("header Host: %.100q is not this machine; ask 127.0.0.1 or localhost, or give ingest --access FILE", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}
