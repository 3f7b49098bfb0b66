package main

import (
	"container/list"
	"net"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// maxPrivateConnections is how many connections the private address and the socket have each,
// if the process may have eight times as many files open.
const maxPrivateConnections = 1024

// connections bounds how many connections an address has. A descriptor that an idle client
// holds is one that the store and the other address lack.
type connections struct {
	most   int
	closed prometheus.Counter

	mu    sync.Mutex
	open  int
	quiet *list.List                 // of net.Conn: those that no request comes in by, the longest quiet first
	at    map[net.Conn]*list.Element // in quiet
}

func newConnections(most int, closed prometheus.Counter) *connections {
	return &connections{most: max(most, 2), closed: closed, quiet: list.New(), at: map[net.Conn]*list.Element{}}
}

// changed is the [http.Server.ConnState] of a server. If there are too many connections, it
// closes the one that was quiet for the longest time, or, if none is, the new one: those by
// which a request comes in have some seconds for it, and are closed then.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	if surplus := c.note(conn, state); surplus != nil {
		c.closed.Inc()
		_ = surplus.Close() // the server notices, and says so here
	}
}

// note keeps count, and returns a connection to close, if there is one.
func (c *connections) note(conn net.Conn, state http.ConnState) (surplus net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open++
		if c.open > c.most {
			surplus = conn
			if longest := c.quiet.Front(); longest != nil {
				surplus = longest.Value.(net.Conn)
				c.forget(surplus)
			}
		}
		if surplus != conn {
			c.at[conn] = c.quiet.PushBack(conn)
		}
	case http.StateIdle:
		c.forget(conn)
		c.at[conn] = c.quiet.PushBack(conn)
	case http.StateActive:
		c.forget(conn)
	case http.StateHijacked, http.StateClosed:
		c.forget(conn)
		c.open--
	}
	return surplus
}

// forget takes a connection off the list of the quiet ones.
func (c *connections) forget(conn net.Conn) {
	if e := c.at[conn]; e != nil {
		c.quiet.Remove(e)
		delete(c.at, conn)
	}
}

// shareOf returns how many connections an address may have: what is asked for, but no more than
// a share of the descriptors of the process, 0 if that is not known.
func shareOf(asked, descriptors, share int) int {
	if descriptors <= 0 {
		return asked
	}
	return min(asked, descriptors/share)
}
