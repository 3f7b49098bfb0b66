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

// Timeouts of a shutdown.
const (
	grace      = 10500 * time.Millisecond // requests: longer than a client has to send its body
	readGrace  = 6 * time.Second          // clients to read responses: longer than queries have
	lastWrite  = time.Second              // the response to a request that ends while the daemon stops
	stuckGrace = time.Second              // requests if the store is stuck: the others end immediately
	closeWait  = 70 * time.Second         // background work: longer than the timeout of the store
)

// daemon has the running servers and the background work.
type daemon struct {
	log        *slog.Logger
	data       string // where the traces are
	store      *node
	heap       *heap
	supervisor *supervisor

	exitWhenStuck bool
	draining      atomic.Bool

	surplus prometheus.Counter // connections closed because there were too many
	servers []*http.Server
	bounds  []*connections.Bound // by server
	failed  chan error
	hangUp  chan os.Signal // for reread
	reread  func()

	background sync.WaitGroup
	stop       context.CancelFunc // ends what is in the background
	asked      context.Context    // of all requests
	giveUp     context.CancelFunc // ends their work
}

// start serves requests on ln, with at most most connections.
func (d *daemon) start(ln net.Listener, h http.Handler, most int) {
	if d.asked == nil {
		d.asked, d.giveUp = context.WithCancel(context.Background())
	}
	bound := connections.New(most, d.surplus)
	srv := &http.Server{
		Handler:           d.answeringLate(h),
		BaseContext:       func(net.Listener) context.Context { return d.asked },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnState:         bound.Changed,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug), // clients that hang up
	}
	d.servers, d.bounds = append(d.servers, srv), append(d.bounds, bound)
	go func() { d.failed <- srv.Serve(ln) }()
}

// answeringLate extends the write deadline of requests that end during the shutdown, so that they
// can write their response after readGrace, too.
func (d *daemon) answeringLate(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if d.asked.Err() != nil {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(lastWrite))
		}
	})
}

// work runs each f in the background until its context is done.
func (d *daemon) work(ctx context.Context, fs ...func(context.Context)) {
	ctx, d.stop = context.WithCancel(ctx)
	for _, f := range fs {
		d.background.Go(func() { f(ctx) })
	}
}

// run serves until ctx is done or a server fails, and returns when all work has ended. If the store
// is stuck, it does not wait for work that may never end, because the process exits next.
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

// wait returns nil when ctx is done, or the reason to exit: a server failed, or the store is stuck
// and a service manager can restart the daemon. A daemon that cannot store must not look alive.
// wait never waits for the store.
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

// every calls f periodically until ctx is done.
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

// abandoned wraps the reason for not closing the store, and adds the consequences.
func abandoned(err error) error {
	return fmt.Errorf("%w; acknowledged traces are on disk, and the next start continues from there", err)
}

// drain waits for requests to finish, for at most grace, and then cancels the rest, which is not an
// error: the store is closed next. Queries are cancelled after half of that time, and connections
// whose clients do not read are closed after readGrace. drain does not wait for a server that
// cannot be closed: closing it removes its socket from the data directory, and the disk may not
// respond.
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
	for _, bound := range d.bounds {
		defer time.AfterFunc(readGrace, bound.EndWrites).Stop()
	}
	ended := make(chan error, len(d.servers))
	for _, srv := range d.servers {
		go func() {
			err := srv.Shutdown(ctx)
			if err != nil {
				d.log.Warn("requests were cut off", "err", err)
				err = srv.Close()
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

// close ends background work and closes the store. It waits for both with a timeout, and not at all
// if the store is stuck.
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
