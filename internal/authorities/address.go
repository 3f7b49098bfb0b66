package authorities

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// privatePort is the default port of ingest --query-listen.
const privatePort = "8419"

// ParseAddr returns the URL of the private address of a daemon, written as "host", "host:port" or a
// URL. Without a scheme it is HTTP. Without a scheme and a port it has the default port of daemons.
func ParseAddr(addr string) (*url.URL, error) {
	text, bare := addr, !strings.Contains(addr, "://")
	if bare {
		text = "http://" + addr
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		shown := addr[strings.LastIndex(addr, "@")+1:] // without a password
		return nil, fmt.Errorf("%q is not an address such as 127.0.0.1:8419 or https://host:8419", shown)
	}
	if bare && u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), privatePort)
	}
	return u, nil
}
