package access

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// LocalHosts refuses requests for other hosts than this machine. A page in a browser here
// may have a name that was made to lead to 127.0.0.1, and could read all that is answered.
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
