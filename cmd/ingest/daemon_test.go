package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// A daemon that is told to end does not wait for long queries: it cancels them, and they respond
// with 503.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	n, end := storetest.OpenDirectory(t, t.TempDir(), nil)
	defer end()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{log: slog.New(slog.DiscardHandler), store: &node{Node: n}, failed: make(chan error, 1),
		surplus: prometheus.NewCounter(prometheus.CounterOpts{})}
	begun := make(chan struct{})
	d.start(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		http.Error(w, context.Cause(r.Context()).Error(), http.StatusServiceUnavailable)
	}), 10)
	answer := make(chan int, 1)
	go func() {
		res, err := http.Get("http://" + ln.Addr().String())
		if err != nil {
			answer <- 0
			return
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		answer <- res.StatusCode
	}()
	<-begun
	began := time.Now()
	if err := d.drain(t.Context()); err != nil {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if got := <-answer; got != http.StatusServiceUnavailable {
		t.Errorf("got status %d, want 503", got)
	}
	if err := <-d.failed; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// pipes is a listener without a network, so that the clock can be fake.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// dial opens a connection and sends the beginning of a request.
func (p pipes) dial(t *testing.T, begin string) net.Conn {
	conn, server := net.Pipe()
	t.Cleanup(func() { _ = conn.Close() })
	p <- server
	if _, err := io.WriteString(conn, begin); err != nil {
		t.Error(err)
	}
	return conn
}

// A daemon that ends closes connections whose clients do not read, and still answers a client that
// sends its body slowly. A connection that never finishes is cut off, which is not an error.
func TestDrainsSlowClients(t *testing.T) {
	n, end := storetest.OpenDirectory(t, t.TempDir(), nil)
	defer end()
	for _, endless := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			d := &daemon{log: slog.New(slog.NewTextHandler(&log, nil)), store: &node{Node: n},
				failed:  make(chan error, 1),
				surplus: prometheus.NewCounter(prometheus.CounterOpts{})}
			release := make(chan struct{})
			mux := http.NewServeMux()
			mux.HandleFunc("/unread", func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write(make([]byte, 1<<20))
			})
			mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err == nil {
					_, _ = w.Write(body)
				}
			})
			mux.HandleFunc("/endless", func(http.ResponseWriter, *http.Request) { <-release })
			ln := make(pipes)
			d.start(ln, mux, 10)
			ln.dial(t, "GET /unread HTTP/1.1\r\nHost: x\r\n\r\n")
			slow := ln.dial(t, "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na")
			if endless {
				ln.dial(t, "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
			}
			answer := make(chan string, 1)
			go func() {
				time.Sleep(9 * time.Second)
				_, _ = io.WriteString(slow, "b")
				text, _ := io.ReadAll(slow)
				answer <- string(text)
			}()
			synctest.Wait() // wait until all requests have begun
			began := time.Now()
			err := d.drain(t.Context())
			close(release)
			took, cut := time.Since(began), strings.Contains(log.String(), "cut off")
			if err != nil || cut != endless || !endless && took >= grace {
				t.Errorf("got %v after %v, with the log %s", err, took, log.String())
			}
			if got := <-answer; !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") ||
				!strings.HasSuffix(got, "\r\n\r\nab") {
				t.Errorf("the slow client received %q", got)
			}
			<-d.failed
		})
	}
}
