package collect

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestSender(t *testing.T) {
	const proxies, direct = "10.0.0.0/8 2001:db8:ff::/48", "none"
	for _, c := range []struct {
		proxies, header, peer, sent string
		want                        string // a "?" at the end: it may be the address of a proxy
	}{
		{"", "", "192.0.2.1:80", "", "192.0.2.1?"},
		{"", "", "192.0.2.1:80", "203.0.113.9", "192.0.2.1?"},
		{"", "", "@", "", "invalid IP?"},
		{"", "", "socket", "203.0.113.9", "203.0.113.9"},
		{proxies, "", "socket", "203.0.113.9, 10.0.0.2", "203.0.113.9"},
		{direct, "", "socket", "", "invalid IP?"},
		{"", "", "socket", "unknown", "invalid IP?"},
		{direct, "", "192.0.2.1:80", "203.0.113.9", "192.0.2.1"},
		{direct, "", "[2001:db8::1%eth0]:80", "", "2001:db8::1"},
		{proxies, "", "192.0.2.1:80", "203.0.113.9", "192.0.2.1"}, // no proxy: the header is not trusted
		{proxies, "", "10.0.0.1:80", "203.0.113.9", "203.0.113.9"},
		{proxies, "", "[::ffff:10.0.0.1]:80", "203.0.113.9", "203.0.113.9"},
		{proxies, "", "[2001:db8:ff::1]:80", "2001:db8::7", "2001:db8::7"},
		{proxies, "", "10.0.0.1:80", "198.51.100.1, 203.0.113.9", "203.0.113.9"}, // the client invented the first
		{proxies, "", "10.0.0.1:80", "203.0.113.9, 10.0.0.2,10.0.0.3", "203.0.113.9"},
		{proxies, "", "10.0.0.1:80", "203.0.113.9:4711", "203.0.113.9"},
		{proxies, "", "10.0.0.1:80", "[2001:db8::7]:4711", "2001:db8::7"},
		{proxies, "", "10.0.0.1:80", "[2001:db8::7]", "2001:db8::7"},
		{proxies, "", "10.0.0.1:80", "203.0.113.9, unknown", "10.0.0.1?"},
		{proxies, "", "10.0.0.1:80", "203.0.113.9,", "10.0.0.1?"},
		{proxies, "", "10.0.0.1:80", "203.0.113.9, x, 10.0.0.2", "10.0.0.2?"},
		{proxies, "", "10.0.0.1:80", "", "10.0.0.1?"},
		{proxies, "", "10.0.0.1:80", "10.0.0.9", "10.0.0.9"}, // a client in the network of the proxies
		{proxies, "", "10.0.0.1:80", strings.Repeat("10.0.0.9,", 100_000) + "10.0.0.8", "10.0.0.9"},
		{proxies, "Forwarded", "10.0.0.1:80", `for=192.0.2.60;proto=http;by=203.0.113.43`, "192.0.2.60"},
		{proxies, "forwarded", "10.0.0.1:80", `For="[2001:db8:cafe::17]:4711"`, "2001:db8:cafe::17"},
		{proxies, "Forwarded", "10.0.0.1:80", `for=198.51.100.1, by=x; for=192.0.2.60, for=10.0.0.2`, "192.0.2.60"},
		{proxies, "Forwarded", "10.0.0.1:80", `for=_hidden`, "10.0.0.1?"},
		{proxies, "Forwarded", "10.0.0.1:80", `proto=http`, "10.0.0.1?"},
		{proxies, "Forwarded", "10.0.0.1:80", `for=198.51.100.1, for="192.0.2.60, for=10.0.0.2"`, "10.0.0.1?"},
	} {
		p, err := ParseProxies(strings.Fields(c.proxies))
		if err != nil {
			t.Fatal(err)
		}
		p.Header = c.header
		r := httptest.NewRequest(http.MethodPost, "/v1/traces", nil)
		r.RemoteAddr = c.peer
		if c.peer == "socket" {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
				&net.UnixAddr{Name: "public.sock", Net: "unix"}))
			r.RemoteAddr = "@"
		}
		name, other := "X-Forwarded-For", "Forwarded"
		if strings.EqualFold(c.header, other) {
			name, other = other, name
		}
		if c.sent != "" {
			r.Header.Set(name, c.sent)
			r.Header.Set(other, "for=198.51.100.66") // passed on by a proxy that does not know it
		}
		from, known := p.sender(r)
		got := from.String()
		if !known {
			got += "?"
		}
		if got != c.want {
			t.Errorf("%q behind %q sends %.60q: got %s, want %s", c.peer, c.proxies, c.sent, got, c.want)
		}
	}
	// Two header lines are one list.
	p, _ := ParseProxies([]string{"10.0.0.1"})
	r := httptest.NewRequest(http.MethodPost, "/v1/traces", nil)
	r.RemoteAddr = "10.0.0.1:1"
	r.Header["X-Forwarded-For"] = []string{"198.51.100.1", "203.0.113.9"}
	if who := p.clientOf(r, nil); who.Network != netip.MustParsePrefix("203.0.113.0/24") ||
		who.addr != netip.MustParseAddr("203.0.113.9") {
		t.Errorf("got %v, %v", who.addr, who.Network)
	}
	r.Header["X-Forwarded-For"] = []string{"2001:db8:1:2:3::4"}
	if who := p.clientOf(r, nil); who.Network != netip.MustParsePrefix("2001:db8:1::/48") ||
		who.addr != netip.MustParseAddr("2001:db8:1:2::") {
		t.Errorf("got %v, %v", who.addr, who.Network)
	}
}

func TestParseProxies(t *testing.T) {
	for _, s := range []string{"", "localhost", "10.0.0.0/33", "10.0.0.0/8,10.0.0.1", "fe80::1%eth0"} {
		if p, err := ParseProxies([]string{s}); err == nil || !strings.Contains(err.Error(),
			"is not an address or a network") {
			t.Errorf("%q: got %v, %v", s, p, err)
		}
	}
	if CheckProxyHeader("X-Real-IP") == nil || CheckProxyHeader("forwarded") != nil {
		t.Error("got another header, or not one of the two")
	}
}

// TestAsksForProxy checks that a daemon without configured proxies logs one warning when a request
// comes through a proxy.
func TestAsksForProxy(t *testing.T) {
	for _, c := range []struct {
		proxies []string
		header  string
		want    int
	}{{nil, "X-Forwarded-For", 1}, {nil, "Forwarded", 1}, {nil, "X-Other", 0}, {[]string{"none"}, "X-Forwarded-For", 0},
		{[]string{"10.0.0.0/8"}, "Forwarded", 0}} {
		proxies, err := ParseProxies(c.proxies)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		col, _ := newCollector(Options{Proxies: proxies, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for range 3 {
			if got := postView(t, col, `{"outcome":"unsampled"}`, c.header,
				"for=192.0.2.1"); got.status != http.StatusNoContent {
				t.Fatalf("got %d %s", got.status, got.Error)
			}
		}
		if got := strings.Count(log.String(), "name it with --trusted-proxies"); got != c.want ||
			strings.Contains(log.String(), "192.0.2.1") {
			t.Errorf("%v, %s: warned %d times, want %d: %s", c.proxies, c.header, got, c.want, &log)
		}
	}
}
