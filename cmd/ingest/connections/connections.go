// Package connections limits the number of open connections of a server. Above the limit it closes
// idle connections of the clients with the most connections first.
package connections

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/collect"
)

// Bound limits the number of connections of an address, because idle clients would otherwise take
// file descriptors from the store and from the other address. It is safe for concurrent use.
type Bound struct {
	most   int
	closed prometheus.Counter

	mu    sync.Mutex
	open  map[net.Conn]*connection
	peers map[netip.Addr]*peer
}

// connection is an open connection.
type connection struct {
	peer  netip.Addr
	since time.Time     // when it became quiet or busy
	place *list.Element // in the list of quiet or of busy connections of its peer
	quiet bool
}

// peer is a client address with connections.
type peer struct {
	open  int
	quiet *list.List // of net.Conn: connections without a request, the longest quiet first
	busy  *list.List // the others, the longest busy first
}

// longBusy is the age from which a request counts as long.
const longBusy = time.Second

// farMore is a ratio: a peer with this many times the connections of another one also loses
// connections with recent requests.
const farMore = 8

// New returns a Bound of at most that many connections, at least two. closed counts the connections
// that it closes.
func New(most int, closed prometheus.Counter) *Bound {
	return &Bound{most: max(most, 2), closed: closed,
		open: map[net.Conn]*connection{}, peers: map[netip.Addr]*peer{}}
}

// Changed is the [http.Server.ConnState] hook of a server. Above the limit, it closes a connection
// of the peer with the most connections: the one that was quiet for the longest time or, if none is
// quiet, the one busy for the longest time. A busy connection is only closed if its request is
// long, or if the peer has far more connections than the new one's peer. A peer with fewer
// connections than the new one's peer loses none; then the new connection is closed. Requests end
// after some seconds anyway, by their timeout.
func (c *Bound) Changed(conn net.Conn, state http.ConnState) {
	if surplus := c.note(conn, state, time.Now()); surplus != nil {
		c.closed.Inc()
		_ = surplus.Close() // the server notices and calls Changed again
	}
}

// EndWrites makes writes that wait for a client fail, and all later writes until the connection
// gets a new deadline. Requests that are still being read continue.
func (c *Bound) EndWrites() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.SetWriteDeadline(time.Now()) // an error means that the connection is closed
	}
}

// note updates the counts and returns a connection to close, if any.
func (c *Bound) note(conn net.Conn, state http.ConnState, now time.Time) (surplus net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		x := &connection{peer: collect.ClientAddr(conn.RemoteAddr().String())}
		c.open[conn] = x
		if c.peers[x.peer] == nil {
			c.peers[x.peer] = &peer{quiet: list.New(), busy: list.New()}
		}
		c.peers[x.peer].open++
		if len(c.open) > c.most {
			surplus = c.surplus(conn, x.peer, now)
			c.forget(surplus)
		}
		if surplus != conn {
			c.list(conn, true, now)
		}
	case http.StateIdle:
		c.list(conn, true, now)
	case http.StateActive:
		c.list(conn, false, now)
	case http.StateHijacked, http.StateClosed:
		c.forget(conn)
		if x := c.open[conn]; x != nil {
			delete(c.open, conn)
			if p := c.peers[x.peer]; p.open > 1 {
				p.open--
			} else {
				delete(c.peers, x.peer)
			}
		}
	}
	return surplus
}

// surplus returns the connection to close for a new one, which may be the new one.
func (c *Bound) surplus(conn net.Conn, of netip.Addr, now time.Time) net.Conn {
	least := c.peers[of].open
	best, most, quiet, since := conn, 0, false, now
	for addr, p := range c.peers {
		isQuiet, from := true, p.quiet
		if from.Len() == 0 {
			isQuiet, from = false, p.busy
		}
		if from.Len() == 0 || p.open < least || !isQuiet && (addr == of || p.open == least) {
			continue
		}
		longest := from.Front().Value.(net.Conn)
		x := c.open[longest]
		if !isQuiet && now.Sub(x.since) < longBusy && p.open <= farMore*least {
			continue
		}
		if p.open > most || p.open == most && (isQuiet && !quiet || isQuiet == quiet && x.since.Before(since)) {
			best, most, quiet, since = longest, p.open, isQuiet, x.since
		}
	}
	return best
}

// list appends a connection to its peer's list of quiet or of busy connections.
func (c *Bound) list(conn net.Conn, quiet bool, now time.Time) {
	x := c.open[conn]
	if x == nil {
		return
	}
	c.forget(conn)
	x.since, x.quiet = now, quiet
	if quiet {
		x.place = c.peers[x.peer].quiet.PushBack(conn)
	} else {
		x.place = c.peers[x.peer].busy.PushBack(conn)
	}
}

// forget removes a connection from its list.
func (c *Bound) forget(conn net.Conn) {
	x := c.open[conn]
	if x == nil || x.place == nil {
		return
	}
	if x.quiet {
		c.peers[x.peer].quiet.Remove(x.place)
	} else {
		c.peers[x.peer].busy.Remove(x.place)
	}
	x.place = nil
}

// Share returns the limit for an address: the requested number, but at most one of that many equal
// shares of the file descriptors of the process.
func Share(asked, shares int) int { return shareOf(asked, descriptors(), shares) }

// shareOf returns the limit for an address: the requested number, but at most a share of the file
// descriptors of the process, whose number is 0 if unknown.
func shareOf(asked, descriptors, share int) int {
	if descriptors <= 0 {
		return asked
	}
	return min(asked, descriptors/share)
}
