package notify

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// errPrivate is returned for a target that is not a public address.
var errPrivate = errors.New("not a public address; set allow_private: true if the channel should reach it")

// special returns networks that are not public according to IANA's registries of special-purpose
// addresses (RFC 6890), and the address of Azure's metadata service. Other metadata services have
// addresses in these networks.
func special() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24",
		"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
		"198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
		// In IPv6 only 2000::/3 is public, except for Teredo, ORCHID and the rest of 2001::/23, the
		// documentation prefixes, and 6to4, which embeds IPv4 addresses.
		"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
	} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// public reports whether an address is public.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("") // ::ffff:127.0.0.1 is 127.0.0.1
	if nat64 := netip.MustParsePrefix("64:ff9b::/96"); nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if a.Is6() && !netip.MustParsePrefix("2000::/3").Contains(a) {
		return false
	}
	return a.IsValid() && !slices.ContainsFunc(special(), func(p netip.Prefix) bool { return p.Contains(a) })
}

// CheckTargets returns an error for channels that [Sender] cannot deliver to because all addresses
// of the receiver are private. lookup returns the addresses of a host, or none if they are unknown.
func (f *File) CheckTargets(lookup func(host string) []netip.Addr) error {
	var wrong []error
	for i := range f.Channels {
		c := &f.Channels[i]
		u, err := url.Parse(c.receiver())
		if err != nil || c.AllowPrivate {
			continue
		}
		addresses := lookup(u.Hostname())
		if a, err := netip.ParseAddr(u.Hostname()); err == nil {
			addresses = []netip.Addr{a}
		}
		if len(addresses) > 0 && !slices.ContainsFunc(addresses, public) {
			wrong = append(wrong, fmt.Errorf("line %d: channel %s: %s is %w", c.Line, c.Name, addresses[0], errPrivate))
		}
	}
	return errors.Join(wrong...)
}

// receiver returns the URL to which the channel connects.
func (c *Channel) receiver() string {
	switch c.Kind {
	case Slack:
		return c.secret.text
	case GitHub:
		return cmp.Or(c.API, "https://api.github.com")
	}
	return c.Target
}

// dialTimeout is the timeout of a connection attempt.
const dialTimeout = 10 * time.Second

// dialer returns a dialer that refuses addresses that are not public, unless allowPrivate is set.
// It checks each address after name resolution, immediately before it connects.
func dialer(allowPrivate bool) *net.Dialer {
	d := &net.Dialer{Timeout: dialTimeout}
	if !allowPrivate {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			a, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("connect to %s: %w", address, err)
			}
			if !public(a.Addr()) {
				return fmt.Errorf("%s is %w", a.Addr(), errPrivate)
			}
			return nil
		}
	}
	return d
}
