// Package freeaddr finds free addresses for tests that start servers.
package freeaddr

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
)

// Of returns a free local address. Its port is below 32768, where systems begin to assign ports to
// outgoing connections: a browser of another test could take such a port before the server listens
// on it.
func Of(t testing.TB) string {
	t.Helper()
	for {
		addr := fmt.Sprintf("127.0.0.1:%d", 12000+rand.IntN(20000))
		ln, err := net.Listen("tcp", addr)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = ln.Close()
		return addr
	}
}
