package connections

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// startBounded starts a server that accepts at most the given number of connections.
func startBounded(t *testing.T, most int, h http.Handler) (addr string, c *Bound) {
	t.Helper()
	c = New(most, prometheus.NewCounter(prometheus.CounterOpts{Name: "closed"}))
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ConnState = c.Changed
	srv.Config.ReadHeaderTimeout = 30 * time.Second
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String(), c
}

// dial opens n connections and sends begin, which is empty or the beginning of a request.
func dial(t *testing.T, addr, begin string, n int) (conns []net.Conn) {
	t.Helper()
	for range n {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, begin) // may be closed already
		conns = append(conns, conn)
	}
	return conns
}

// wantAtMost waits until at most that many connections are open. It polls, because the server needs
// some time to notice a closed connection.
func (c *Bound) wantAtMost(t *testing.T, most int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		n := len(c.open)
		c.mu.Unlock()
		if n <= most {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections are open, want at most %d", n, most)
		}
	}
}

// A client that opens connections without sending does not block other clients. Its oldest
// connections are closed.
func TestIdleConnectionsGiveWay(t *testing.T) {
	addr, c := startBounded(t, 8, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
	}))
	conns := dial(t, addr, "", 100)
	for range 20 {
		client := http.Client{Transport: &http.Transport{}} // a separate connection, idle after its request
		res, err := client.Get("http://" + addr)
		if err != nil || res.StatusCode != http.StatusAccepted {
			t.Fatalf("a request among idle connections: %v", err)
		}
		_ = res.Body.Close()
	}
	c.wantAtMost(t, 8)
	_ = conns[0].SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := conns[0].Read(make([]byte, 1)); err != io.EOF && !isReset(err) {
		t.Errorf("the oldest connection: %v, want it closed", err)
	}
}

func isReset(err error) bool {
	e, ok := err.(*net.OpError)
	return ok && !e.Timeout()
}

// A connection with a request in progress is not closed for new ones.
func TestBusyConnectionsStay(t *testing.T) {
	release := make(chan struct{})
	started := make(chan struct{}, 4)
	addr, c := startBounded(t, 4, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		started <- struct{}{}
		<-release
		w.WriteHeader(http.StatusAccepted)
	}))
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			res, err := (&http.Client{Transport: &http.Transport{}}).Get("http://" + addr)
			if err != nil || res.StatusCode != http.StatusAccepted {
				t.Errorf("a request in progress: %v", err)
				return
			}
			_ = res.Body.Close()
		})
	}
	for range 4 {
		<-started
	}
	for _, conn := range dial(t, addr, "", 20) {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err != io.EOF && !isReset(err) {
			t.Errorf("one connection too many: %v, want it closed", err)
		}
	}
	close(release)
	busy.Wait()
	c.wantAtMost(t, 4)
}

// addressed is a connection with a remote address.
type addressed struct {
	net.Conn
	addr net.Addr
}

func (c *addressed) RemoteAddr() net.Addr { return c.addr }

// A client that keeps all connections busy with long requests loses some to other clients, but not
// to itself. Connections with recent requests stay.
func TestBusyConnectionsAreShared(t *testing.T) {
	c := New(4, prometheus.NewCounter(prometheus.CounterOpts{Name: "closed"}))
	now := time.Now()
	dial := func(addr string) (conn, surplus net.Conn) {
		conn = &addressed{addr: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr))}
		return conn, c.note(conn, http.StateNew, now)
	}
	var greedy []net.Conn
	for range 4 {
		conn, _ := dial("192.0.2.1:1")
		c.note(conn, http.StateActive, now)
		greedy = append(greedy, conn)
		now = now.Add(time.Millisecond)
	}
	if conn, surplus := dial("192.0.2.2:1"); surplus != conn {
		t.Error("a connection that has been busy only briefly was closed for another")
	} else {
		c.note(conn, http.StateClosed, now)
	}
	now = now.Add(longBusy)
	if conn, surplus := dial("192.0.2.1:2"); surplus != conn {
		t.Error("a client that holds all connections got another one")
	} else {
		c.note(conn, http.StateClosed, now)
	}
	conn, surplus := dial("192.0.2.2:2")
	if surplus != greedy[0] {
		t.Fatalf("closed %v, want the connection that has been busy longest", surplus)
	}
	c.note(conn, http.StateActive, now)
	c.note(surplus, http.StateClosed, now)
	if len(c.open) != 4 || c.peers[netip.MustParseAddr("192.0.2.1")].open != 3 {
		t.Errorf("%d connections from %v", len(c.open), c.peers)
	}
	for conn := range c.open {
		c.note(conn, http.StateClosed, now)
	}
	if len(c.open) != 0 || len(c.peers) != 0 {
		t.Errorf("%d connections of %d are left", len(c.open), len(c.peers))
	}
}

func TestShareOf(t *testing.T) {
	for _, tt := range []struct{ asked, descriptors, share, want int }{
		{4096, 0, 2, 4096}, {4096, 1024, 2, 512}, {4096, 1 << 20, 2, 4096}, {100, 1024, 8, 100},
	} {
		if got := shareOf(tt.asked, tt.descriptors, tt.share); got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
}

// A client that keeps opening connections never makes another client lose one, neither before its
// first request nor between requests. A client with few connections is never refused.
func TestFloodHitsItself(t *testing.T) {
	c := New(20, prometheus.NewCounter(prometheus.CounterOpts{Name: "closed"}))
	now := time.Now()
	dial := func(addr string) (conn, surplus net.Conn) {
		conn = &addressed{addr: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr))}
		surplus = c.note(conn, http.StateNew, now)
		if surplus != nil {
			c.note(surplus, http.StateClosed, now)
		}
		return conn, surplus
	}
	var honest []net.Conn
	for i, state := range []http.ConnState{http.StateNew, http.StateActive, http.StateIdle} {
		conn, _ := dial(netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + i)}), 1).String())
		if state != http.StateNew {
			c.note(conn, state, now)
		}
		honest = append(honest, conn)
	}
	flood := func(n int, busy bool) {
		for range n {
			now = now.Add(time.Millisecond)
			conn, surplus := dial("192.0.2.1:1")
			for i, h := range honest {
				if surplus == h {
					t.Fatalf("the flood closed connection %d of other clients", i)
				}
			}
			if busy && surplus != conn {
				c.note(conn, http.StateActive, now)
			}
		}
	}
	flood(200, true)
	flood(200, false)
	flood(200, true)
	now = now.Add(longBusy)
	for i := range 10 {
		conn, surplus := dial(netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(100 + i)}), 1).String())
		if surplus == nil || surplus == conn || surplus.RemoteAddr().String() != "192.0.2.1:1" {
			t.Fatalf("connection %d of other clients: %v was closed for it, not one of the flood", i, surplus)
		}
		c.note(conn, http.StateActive, now)
		flood(20, true)
	}
}
