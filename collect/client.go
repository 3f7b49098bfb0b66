package collect

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/collect/quota"

	"github.com/fieldtrie/fieldtrie/encode"
)

// Proxies configures how the address of a client is determined. With the zero value any connection
// may come from a proxy, so clients are not distinguished.
type Proxies struct {
	// Trusted are the addresses of the proxies in front of the daemon. Each appends the address of
	// its peer to Header. Entries from other senders are ignored, except over a Unix socket.
	Trusted []netip.Prefix
	// Header is the header that the proxies set: X-Forwarded-For (the default) or Forwarded (RFC
	// 7239). A proxy passes other headers on unchanged, so reading both would let clients choose
	// their address.
	Header string
	// Direct means that connections that do not come from Trusted come directly from clients.
	Direct bool
}

// ParseProxies parses addresses and networks of proxies, such as 10.0.0.0/8. The word none sets
// Direct: other clients connect without a proxy.
func ParseProxies(words []string) (p Proxies, err error) {
	for _, w := range words {
		if w == "none" {
			p.Direct = true
			continue
		}
		prefix, err := netip.ParsePrefix(w)
		if addr, single := netip.ParseAddr(w); single == nil && addr.Zone() == "" {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return p, fmt.Errorf(
				"%.80q is not an address or a network of a proxy, such as 10.0.0.7 or 10.0.0.0/8; use none if there "+
					"is no proxy", w)
		}
		p.Trusted = append(p.Trusted, prefix.Masked())
	}
	p.Direct = p.Direct || len(p.Trusted) > 0
	return p, nil
}

// Headers that proxies set.
const (
	headerXForwardedFor = "X-Forwarded-For"
	headerForwarded     = "Forwarded"
)

// CheckProxyHeader returns an error if the header name is not supported.
func CheckProxyHeader(name string) error {
	if strings.EqualFold(name, headerXForwardedFor) || strings.EqualFold(name, headerForwarded) {
		return nil
	}
	return errors.New("use " + headerXForwardedFor + " or " + headerForwarded)
}

// trusts reports whether a is the address of a trusted proxy.
func (p *Proxies) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(n netip.Prefix) bool { return n.Contains(a) })
}

// sender returns the address that sent a request, as reported by trusted proxies. known is false if
// it may be the address of a proxy.
func (p *Proxies) sender(r *http.Request) (from netip.Addr, known bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err == nil {
		from = peer.Addr().Unmap().WithZone("")
		if !p.trusts(from) {
			return from, p.Direct
		}
	} else if !bySocket(r) {
		return netip.Addr{}, false
	}
	hops := p.hops(r.Header)
	for _, hop := range slices.Backward(hops) {
		a, ok := parseHop(hop)
		if !ok {
			return from, false
		}
		from = a
		if !p.trusts(from) {
			return from, true
		}
	}
	return from, len(hops) > 0 // the client is in the network of the proxies
}

// unnamed reports whether a request came through a proxy that is not configured.
func (p *Proxies) unnamed(r *http.Request) bool {
	return !p.Direct && (r.Header.Get(headerXForwardedFor) != "" || r.Header.Get(headerForwarded) != "")
}

// bySocket reports whether a request came over a Unix socket, and thus from a local proxy.
func bySocket(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && addr.Network() == "unix"
}

// maxHops bounds the number of proxies that a request may pass.
const maxHops = 32

// hops returns the addresses in the header, the nearest last.
func (p *Proxies) hops(h http.Header) (hops []string) {
	name := p.Header
	if name == "" {
		name = headerXForwardedFor
	}
	all := strings.Join(h.Values(name), ",")
	for range maxHops {
		i := strings.LastIndexByte(all, ',')
		hops = append(hops, strings.TrimSpace(all[i+1:]))
		if i < 0 {
			break
		}
		all = all[:i]
	}
	slices.Reverse(hops)
	if len(hops) == 1 && hops[0] == "" {
		return nil
	}
	if strings.EqualFold(name, headerForwarded) {
		for i, hop := range hops {
			hops[i] = forwardedFor(hop)
		}
	}
	return hops
}

// forwardedFor returns the for parameter of an element of the header Forwarded.
func forwardedFor(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		if name, value, _ := strings.Cut(pair, "="); strings.EqualFold(strings.TrimSpace(name), "for") {
			value = strings.TrimSpace(value)
			if inner, ok := strings.CutPrefix(value, `"`); ok {
				value, ok = strings.CutSuffix(inner, `"`)
				if !ok {
					return ""
				}
			}
			return value
		}
	}
	return ""
}

// parseHop parses an address with an optional port, such as 192.0.2.1:80 and [2001:db8::1].
func parseHop(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		var with netip.AddrPort
		if with, err = netip.ParseAddrPort(s); err == nil {
			a = with.Addr()
		}
	}
	return a.Unmap().WithZone(""), err == nil
}

// client identifies the sender of a request. Shared quotas are divided between sites, and between
// the networks of a site.
type client struct {
	quota.Sender
	addr    netip.Addr // for rate limits; the /64 network of an IPv6 client
	browser string     // family and major version, "" if unknown
	host    string     // header Host: example.com:8418
}

// name returns a key of the client's site and network, "" if the network is unknown.
func (c client) name() string {
	if !c.Network.IsValid() {
		return ""
	}
	return c.Site + " " + c.Network.String()
}

// networkBits is the length of a network's prefix. One party usually has all addresses of such a
// network, so more addresses do not give it more quota.
const (
	networkBits4 = 24
	networkBits6 = 48
)

// ClientAddr returns the address of a client at "host:port". An IPv6 address is reduced to its /64
// network. It returns the zero Addr if hostPort is not an address, such as the path of a socket.
func ClientAddr(hostPort string) netip.Addr {
	a, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return netip.Addr{}
	}
	return countedAs(a.Addr().Unmap().WithZone(""))
}

func countedAs(a netip.Addr) netip.Addr {
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().Addr()
	}
	return a
}

// clientOf returns the client that sent a request.
func (p *Proxies) clientOf(r *http.Request, key *siteKey) client {
	from, known := p.sender(r)
	c := client{addr: countedAs(from), browser: encode.BrowserOf(r.Header.Get("User-Agent")), host: r.Host}
	if key != nil {
		c.Site = key.Site
	}
	bits := networkBits4
	if from.Is6() {
		bits = networkBits6
	}
	c.Request = new(quota.Request)
	if known {
		c.Network = netip.PrefixFrom(from, bits).Masked()
	}
	return c
}

// LogValue implements [slog.LogValuer]. It logs the network, not the address of the visitor.
func (c client) LogValue() slog.Value {
	network := "unknown"
	if c.Network.IsValid() {
		network = c.Network.String()
	}
	return slog.GroupValue(slog.String("site", c.Site), slog.String("network", network))
}
