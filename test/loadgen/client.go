package loadgen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// client sends requests one after the other over one connection. [http.Client] would
// take about as much processor time as the daemon.
type client struct {
	addr, path string
	timeout    time.Duration // of a response
	forwarded  string        // client address as added by a proxy; "" for none

	conn net.Conn // nil if not connected
	in   *bufio.Reader
	used time.Time
	head []byte
	body bytes.Buffer
}

const (
	dialTimeout     = 2 * time.Second
	responseTimeout = 60 * time.Second
	// idleTimeout is shorter than the daemon's: a request on a connection that the
	// daemon is about to close would have no clear outcome.
	idleTimeout = 30 * time.Second
)

// response is the result of an attempt.
type response struct {
	status int           // 0 if there was no response
	after  time.Duration // Retry-After
	body   []byte        // valid until the next request
	sent   bool          // the daemon may have received the request
}

// post sends a body. An error is an error of the connection.
func (c *client) post(body []byte, contentType string) (a response, err error) {
	if c.conn != nil && c.stale() {
		c.close()
	}
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.addr, dialTimeout); err != nil {
			c.conn = nil
			return a, err
		}
		c.in = bufio.NewReader(c.conn)
	}
	a, err = c.exchange(body, contentType)
	c.used = time.Now()
	if err != nil {
		c.close()
	}
	return a, err
}

// stale reports whether the connection must not be reused. An attempt on a connection
// that the daemon has closed would fail with an unknown outcome.
func (c *client) stale() bool {
	const short = 100 * time.Millisecond // too short for a check
	switch idle := time.Since(c.used); {
	case idle > idleTimeout:
		return true
	case idle < short:
		return false
	}
	if c.conn.SetReadDeadline(time.Now().Add(50*time.Microsecond)) != nil {
		return true
	}
	_, err := c.in.Peek(1)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func (c *client) exchange(body []byte, contentType string) (response, error) {
	a := response{sent: true}
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return a, err
	}
	c.head = append(append(append(c.head[:0], "POST "...), c.path...), " HTTP/1.1\r\nHost: "...)
	c.head = append(append(append(c.head, c.addr...), "\r\nContent-Type: "...), contentType...)
	c.head = strconv.AppendInt(append(c.head, "\r\nContent-Length: "...), int64(len(body)), 10)
	if c.forwarded != "" {
		c.head = append(append(c.head, "\r\nX-Forwarded-For: "...), c.forwarded...)
	}
	c.head = append(c.head, "\r\n\r\n"...)
	parts := net.Buffers{c.head, body}
	if _, err := parts.WriteTo(c.conn); err != nil {
		return a, err
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return a, err
	}
	c.body.Reset()
	if _, err := c.body.ReadFrom(io.LimitReader(res.Body, 1<<20)); err != nil {
		return a, err
	}
	a.status, a.body = res.StatusCode, c.body.Bytes()
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		a.after = time.Duration(s) * time.Second
	}
	if res.Close {
		c.close()
	}
	return a, nil
}

// networkOf returns an address in network n.
func networkOf(n int) string { return fmt.Sprintf("10.%d.%d.7", n>>8&255, n&255) }

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}
