package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// A daemon that is told to end does not wait for queries that take longer: they are told to give up, and say so.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	n, end := storetest.OpenDirectory(t, t.TempDir(), nil)
	defer end()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{log: slog.New(slog.DiscardHandler), store: &node{Node: n}, failed: make(chan error, 1), surplus: prometheus.NewCounter(prometheus.CounterOpts{})}
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
