// Package freeaddr is for tests that start programs which listen.
package freeaddr

import (
	"net"
	"testing"
)

// Of returns an address of this machine that nobody listens on.
func Of(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}
