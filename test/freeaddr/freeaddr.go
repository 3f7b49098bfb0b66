// Package freeaddr finds free addresses for tests that start servers.
package freeaddr

import (
	"net"
	"testing"
)

// Of returns a free local address.
func Of(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}
