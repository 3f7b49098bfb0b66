// Package connections bounds how many connections a server has, and closes those that are missed least.
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

// Bound bounds how many connections an address has. A descriptor that an idle client
// holds is one that the store and the other address lack.
type Bound struct {
	most   int
	closed prometheus.Counter

	mu    sync.Mutex
	open  map[net.Conn]*connection
	peers map[netip.Addr]*peer
}

// connection is one that is open.
type connection struct {
	peer  netip.Addr
	since time.Time     // when it became quiet or busy
	place *list.Element // in the list of its peer, of those that are quiet or of those that are busy
	quiet bool
}

// peer is who has connections.
type peer struct {
	open  int
	quiet *list.List // of net.Conn: those that no request comes in by, the longest quiet first
	busy  *list.List // the others, the longest busy first
}

// longBusy is from when on a request keeps a connection busy for long.
const longBusy = time.Second

// farMore is how many times as many connections a peer has as another one if those of its requests that came just now give way, too.
const farMore = 8

// New returns a bound of so many connections, two at least. closed counts those that are closed.
func New(most int, closed prometheus.Counter) *Bound {
	return &Bound{most: max(most, 2), closed: closed,
		open: map[net.Conn]*connection{}, peers: map[netip.Addr]*peer{}}
}

// Changed is the [http.Server.ConnState] of a server. If there are too many connections, it closes
// one of the peer that has the most: the one that was quiet for the longest time or, if none is,
// the one that has been busy for the longest time, and for long or if the peer has far more than the
// new one's. Peers that have fewer than that one lose none: then the new one goes. Requests have some
// seconds, and end by themselves then.
func (c *Bound) Changed(conn net.Conn, state http.ConnState) {
	if surplus := c.note(conn, state, time.Now()); surplus != nil {
		c.closed.Inc()
		_ = surplus.Close() // the server notices, and says so here
	}
}

// EndWrites ends the writes that wait for a client to read. They fail, as later ones do until the
// connection gets another deadline. Requests that are still being read continue.
func (c *Bound) EndWrites() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.SetWriteDeadline(time.Now()) // a connection that is closed has no writes
	}
}

// note keeps count, and returns a connection to close, if there is one.
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

// surplus returns the connection to close for a new one, which may be that itself.
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

// list puts a connection at the end of the list of those that are quiet, or that are busy for
// its peer.
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

// forget takes a connection off its list.
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

// Share returns how many connections an address may have: what is asked for, but no more than one of
// so many shares of the descriptors of the process.
func Share(asked, shares int) int { return shareOf(asked, descriptors(), shares) }

// shareOf returns how many connections an address may have: what is asked for, but no more than
// a share of the descriptors of the process, 0 if that is not known.
func shareOf(asked, descriptors, share int) int {
	if descriptors <= 0 {
		return asked
	}
	return min(asked, descriptors/share)
}
