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

// Proxies say how to tell which client sent a request. The zero value knows nothing of
// proxies: all that comes may have come through one, so clients are not told apart.
type Proxies struct {
	// Trusted are the addresses of the proxies before the daemon. Each adds whom it got a
	// request from to Header. What anybody else says there is not believed, but for who sends by a socket of this machine.
	Trusted []netip.Prefix
	// Header is where they say so, X-Forwarded-For or Forwarded (RFC 7239); "" is the first.
	// A proxy passes on what it does not know, so reading both would let clients choose.
	Header string
	// Direct says that without such a proxy a connection is the client's own.
	Direct bool
}

// ParseProxies reads addresses and networks of proxies, such as 10.0.0.0/8, and the word none:
// browsers connect without a proxy, but for those that the other words name.
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
			return p, fmt.Errorf("%.80q is not an address or a network of a proxy, such as 10.0.0.7 or 10.0.0.0/8; none says that there is no proxy", w)
		}
		p.Trusted = append(p.Trusted, prefix.Masked())
	}
	p.Direct = p.Direct || len(p.Trusted) > 0
	return p, nil
}

// The headers that proxies add.
const (
	headerXForwardedFor = "X-Forwarded-For"
	headerForwarded     = "Forwarded"
)

// CheckProxyHeader refuses headers that are not understood.
func CheckProxyHeader(name string) error {
	if strings.EqualFold(name, headerXForwardedFor) || strings.EqualFold(name, headerForwarded) {
		return nil
	}
	return errors.New("use " + headerXForwardedFor + " or " + headerForwarded)
}

// trusts reports whether there is one of the proxies at an address.
func (p *Proxies) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(n netip.Prefix) bool { return n.Contains(a) })
}

// sender returns the address that a request came from, as far as trusted proxies tell. known
// is false if it may be that of a proxy.
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
	return from, len(hops) > 0 // a client within the network of the proxies
}

// unnamed reports whether a request says that a proxy passed it on, of which nothing is known.
func (p *Proxies) unnamed(r *http.Request) bool {
	return !p.Direct && (r.Header.Get(headerXForwardedFor) != "" || r.Header.Get(headerForwarded) != "")
}

// bySocket reports whether a request came by a socket of this machine: from a proxy.
func bySocket(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && addr.Network() == "unix"
}

// maxHops bounds the proxies that a request came through.
const maxHops = 32

// hops returns what the header says, the nearest hop last.
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

// forwardedFor returns the parameter for of an element of the header Forwarded.
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

// parseHop reads an address, which may have a port or brackets, as in 192.0.2.1:80 and [2001:db8::1].
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

// client is who sends. What all share is shared out between sites, and between the networks
// that a site's requests come from.
type client struct {
	quota.Sender
	addr    netip.Addr // that requests are counted for; an IPv6 client has a /64 to itself
	browser string     // family and major version, "" if it is not a known one
	host    string     // of the daemon, as the client names it: example.com:8418
}

// name returns what tells the networks of sites apart, "" if the network is not known.
func (c client) name() string {
	if !c.Network.IsValid() {
		return ""
	}
	return c.Site + " " + c.Network.String()
}

// networkBits are the bits of an address that stand for its network: what one party has of
// addresses at the least, so that nobody is many by having some more.
const (
	networkBits4 = 24
	networkBits6 = 48
)

// ClientAddr returns what stands for the client at "host:port": its address, or that of its /64,
// which an IPv6 client has to itself. It is the zero Addr for what is no address, such as a socket.
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

// clientOf returns who sends a request.
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

// LogValue implements [slog.LogValuer]. It tells the network and not the address of a visitor.
func (c client) LogValue() slog.Value {
	network := "unknown"
	if c.Network.IsValid() {
		network = c.Network.String()
	}
	return slog.GroupValue(slog.String("site", c.Site), slog.String("network", network))
}
