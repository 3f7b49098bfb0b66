// Package address parses and opens the addresses of --listen and --query-listen: a TCP port or a
// Unix socket.
package address

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// unix is the prefix of a socket's address, as in unix:/run/fieldtrie/public.sock.
const unix = "unix:"

// maxPath is the longest path of a socket that all systems support, in bytes.
const maxPath = 103

// InUseError reports that another process listens on a socket.
type InUseError struct{ Path string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("another process listens on %s: stop it, or use another path", e.Path)
}

// Path returns the path of a socket; ok is false for a port.
func Path(addr string) (path string, ok bool) { return strings.CutPrefix(addr, unix) }

// Check returns an error if the syntax of addr is invalid. It does not access the network.
func Check(addr string) error {
	path, ok := Path(addr)
	if !ok {
		if _, err := net.ResolveTCPAddr("tcp", addr); err != nil {
			return fmt.Errorf("%w; use HOST:PORT, :PORT for all addresses, or unix:PATH", err)
		}
		return nil
	}
	if path == "" || len(path) > maxPath {
		return fmt.Errorf("%.120q is not a socket: use unix:PATH with a path of at most %d bytes", addr, maxPath)
	}
	return nil
}

// Listen listens on addr. It replaces a stale socket. Processes in the daemon's group, such as a
// proxy, may connect to the socket.
func Listen(addr string) (net.Listener, error) {
	if err := Check(addr); err != nil {
		return nil, err
	}
	path, ok := Path(addr)
	if !ok {
		return net.Listen("tcp", addr)
	}
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = conn.Close()
		return nil, &InUseError{path}
	}
	return Socket(path)
}

// Socket listens on a socket and removes an existing one, which the caller knows to be stale.
func Socket(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s exists and is not a socket: remove it, or use another path", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// Dialer returns a function that connects to addr, or nil for the default dialer, and the host for
// URLs. A daemon uses it to check its own health.
func Dialer(addr string) (dial func(ctx context.Context, network, _ string) (net.Conn, error), host string, err error) {
	if path, ok := Path(addr); ok {
		var d net.Dialer
		return func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "unix", path)
		}, "localhost", nil
	}
	resolved, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, "", err
	}
	return nil, hostOf(resolved), nil
}

// URL returns the URL of a server for a browser on this machine, or the path of its socket.
func URL(addr net.Addr) string {
	if addr.Network() == "unix" {
		path, err := filepath.Abs(addr.String())
		if err != nil {
			path = addr.String()
		}
		return unix + path
	}
	return "http://" + hostOf(addr)
}

func hostOf(addr net.Addr) string {
	a, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if a.Addr().IsUnspecified() { // all addresses
		a = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port())
	}
	return a.String()
}

// Local reports whether only this machine can reach an address.
func Local(addr net.Addr) bool {
	if addr.Network() == "unix" {
		return true
	}
	a, err := netip.ParseAddrPort(addr.String())
	return err == nil && a.Addr().Unmap().IsLoopback()
}
