package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/connections"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/store"
)

// How long what goes on may take once the daemon is told to stop.
const (
	grace      = 10500 * time.Millisecond // requests: longer than a client has to send its body
	stuckGrace = time.Second              // requests if the store is stuck: those that can be are answered at once
	closeWait  = 70 * time.Second         // the rest: longer than the store takes to give up
)

// daemon is the running servers and what works beside them.
type daemon struct {
	log        *slog.Logger
	data       string // where the traces are
	store      *node
	heap       *heap
	supervisor *supervisor

	exitWhenStuck bool
	draining      atomic.Bool

	surplus prometheus.Counter // connections that were closed since there were too many
	servers []*http.Server
	failed  chan error
	hangUp  chan os.Signal // for reread
	reread  func()

	background sync.WaitGroup
	stop       context.CancelFunc // ends what is in the background
	asked      context.Context    // of all requests
	giveUp     context.CancelFunc // ends their work
}

// start answers requests on ln, by so many connections at once.
func (d *daemon) start(ln net.Listener, h http.Handler, most int) {
	if d.asked == nil {
		d.asked, d.giveUp = context.WithCancel(context.Background())
	}
	srv := &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return d.asked },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnState:         connections.New(most, d.surplus).Changed,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug), // clients that hang up
	}
	d.servers = append(d.servers, srv)
	go func() { d.failed <- srv.Serve(ln) }()
}

// work has each f go on in the background, until it is told to end.
func (d *daemon) work(ctx context.Context, fs ...func(context.Context)) {
	ctx, d.stop = context.WithCancel(ctx)
	for _, f := range fs {
		d.background.Go(func() { f(ctx) })
	}
}

// run does what the daemon is for until ctx is done or something fails. It returns when all
// has ended. If the store is stuck it waits for nothing that may never end: the process is
// to end then, and with it what goes on.
func (d *daemon) run(ctx context.Context) error {
	d.supervisor.tell(nowReady)
	cause := d.wait(ctx)
	d.draining.Store(true)
	d.supervisor.tell(nowStopping)
	cut := d.drain(context.WithoutCancel(ctx))
	if errors.Is(cause, store.ErrStuck) {
		return abandoned(cause)
	}
	return errors.Join(cause, cut, d.close())
}

// wait returns nil when ctx is done, or why the daemon has to end: a server or the store
// is stuck and a supervisor can start another one. A daemon that can not
// store must not look alive. Nothing here waits for the store.
func (d *daemon) wait(ctx context.Context) error {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	stuck := false
	due, stop := d.supervisor.signs()
	defer stop()
	for {
		select {
		case err := <-d.failed:
			return err
		case <-ctx.Done():
			d.log.Info("shutting down", "cause", context.Cause(ctx))
			return nil
		case <-d.hangUp:
			d.reread()
		case <-due:
			if d.store.Stuck() == nil {
				d.supervisor.tell(stillAlive)
			}
		case <-look.C:
			d.heap.shrink(time.Now())
			err := d.store.Stuck()
			if err != nil && d.exitWhenStuck {
				return err
			}
			if err != nil && !stuck {
				d.log.Error("traces are refused", "err", err)
			} else if err == nil && stuck {
				d.log.Info("the store goes on")
			}
			stuck = err != nil
		}
	}
}

// every calls f again and again, until ctx is done.
func every(ctx context.Context, period time.Duration, f func()) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f()
		}
	}
}

// abandoned adds to why the store is left as it is what that means.
func abandoned(err error) error {
	return fmt.Errorf("%w; what was acknowledged is on disk, and the next start goes on from there", err)
}

// drain finishes what is in flight, for at most grace, and then cuts off the rest: the
// store is closed next. Half of that is for work to end by itself; then queries are given up. It does not wait for a server that can not even be closed: one removes
// its socket from the data directory, and the disk may not answer.
func (d *daemon) drain(ctx context.Context) error {
	left := grace
	if d.store.Stuck() != nil {
		left = stuckGrace
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if d.giveUp != nil {
		defer d.giveUp()
		defer time.AfterFunc(left/2, d.giveUp).Stop()
	}
	ended := make(chan error, len(d.servers))
	for _, srv := range d.servers {
		go func() {
			err := srv.Shutdown(ctx)
			if err != nil {
				err = errors.Join(fmt.Errorf("finish requests: %w", err), srv.Close())
			}
			ended <- err
		}()
	}
	late := time.After(left + stuckGrace)
	var err error
	for range d.servers {
		select {
		case e := <-ended:
			err = errors.Join(err, e)
		case <-late:
			return errors.Join(err, errors.New("a server does not end"))
		}
	}
	return err
}

// close ends what is in the background and closes the store. It waits for neither when the
// store is stuck, and not for ever.
func (d *daemon) close() error {
	d.stop()
	ended := make(chan error, 1)
	go func() {
		d.background.Wait()
		ended <- d.store.Close()
	}()
	late := time.After(closeWait)
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		if err := d.store.Stuck(); err != nil {
			return abandoned(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("close store: %w", err)
			}
			d.log.Info("closed", "data", d.data)
			return nil
		case <-late:
			return abandoned(fmt.Errorf("the store is not closed after %v", closeWait))
		case <-look.C:
		}
	}
}
