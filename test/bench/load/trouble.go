package main

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fieldtrie/fieldtrie/test/loadgen"
)

// trouble is the fault injection into daemons and their store during the load.
type trouble struct {
	killEvery            time.Duration
	pauseEvery, pauseFor time.Duration
	downAt, downFor      time.Duration // of the store
	wipeAt               time.Duration // of one of its directories
}

// longest returns the longest time for which the faults may prevent acknowledgements.
func (t *trouble) longest(nodes int) time.Duration {
	if nodes == 1 && t.pauseEvery > 0 {
		return t.downFor + t.pauseFor
	}
	return t.downFor
}

// troubled is the record of injected faults.
type troubled struct {
	mu      sync.Mutex
	kills   int
	slowest time.Duration // from a start after a kill until it was ready
	pauses  int
	paused  time.Duration // the longest
	down    time.Duration // of the store
	wiped   int
}

// start injects faults until everything is sent. The returned function waits for the recovery.
func (t *trouble) start(x *cluster, g *loadgen.Generator, h *health) (*troubled, func() error) {
	did := &troubled{}
	var all sync.WaitGroup
	var mu sync.Mutex
	var errs error
	do := func(wanted time.Duration, f func() error) {
		if wanted == 0 {
			return
		}
		all.Go(func() {
			err := f()
			mu.Lock()
			defer mu.Unlock()
			errs = errors.Join(errs, err)
		})
	}
	do(t.killEvery, func() error { return t.killOften(x, g, did) })
	do(t.pauseEvery, func() error { return t.pauseOften(x, g, h, did) })
	do(t.downFor, func() error { return t.storeDown(x, g, did) })
	do(t.wipeAt, func() error { return t.wipe(x, g, did) })
	return did, func() error {
		all.Wait()
		return errs
	}
}

// wait waits for d, and reports whether it ended before everything was sent.
func wait(d time.Duration, g *loadgen.Generator) bool {
	select {
	case <-g.Sent():
		return false
	case <-time.After(d):
		return true
	}
}

// about returns a time around d.
func about(d time.Duration) time.Duration { return time.Duration((0.5 + rand.Float64()) * float64(d)) }

// killOften kills a daemon and starts it again, at intervals until everything is sent. It returns
// once the daemon is ready for the last time.
func (t *trouble) killOften(x *cluster, g *loadgen.Generator, did *troubled) error {
	for next := time.Now(); ; {
		// Intervals count from start to start, so that a daemon to be killed every second is killed
		// about every second.
		next = next.Add(about(t.killEvery))
		if !wait(time.Until(next), g) {
			return nil
		}
		d := x.nodes[rand.IntN(len(x.nodes))]
		if !d.busy.TryLock() {
			continue // it is suspended
		}
		took, err := d.killOnce()
		d.busy.Unlock()
		if err != nil {
			return err
		}
		did.mu.Lock()
		did.kills++
		did.slowest = max(did.slowest, took)
		did.mu.Unlock()
	}
}

// killOnce kills a daemon and starts it again. It returns the time until it was ready.
func (d *daemon) killOnce() (time.Duration, error) {
	d.watch.look()
	d.kill()
	d.watch.ended()
	began := time.Now()
	err := d.startReady()
	return time.Since(began), err
}

// pauseOften suspends a daemon for a while, as if its node hung. It picks the owner of the most
// shards, because the others have to wait for it.
func (t *trouble) pauseOften(x *cluster, g *loadgen.Generator, h *health, did *troubled) error {
	for wait(about(t.pauseEvery), g) {
		shards := h.shards()
		order := rand.Perm(len(x.nodes))
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shards[b], shards[a]) })
		for _, i := range order {
			d := x.nodes[i]
			if !d.busy.TryLock() {
				continue
			}
			began := time.Now()
			err := d.pause(t.pauseFor, g)
			took := time.Since(began)
			d.busy.Unlock()
			if err != nil {
				return err
			}
			did.mu.Lock()
			did.pauses++
			did.paused = max(did.paused, took)
			did.mu.Unlock()
			break
		}
	}
	return nil
}

// pause suspends a daemon for a while.
func (d *daemon) pause(length time.Duration, g *loadgen.Generator) error {
	if _, err := d.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	wait(length, g)
	_, err := d.signal(syscall.SIGCONT)
	return err
}

// storeDown kills the store once, and starts it again after a while.
func (t *trouble) storeDown(x *cluster, g *loadgen.Generator, did *troubled) error {
	if !wait(t.downAt, g) {
		return nil
	}
	// Starting daemons need the store.
	for _, d := range x.nodes {
		d.busy.Lock()
		defer d.busy.Unlock()
	}
	began := time.Now()
	err := x.store.down(t.downFor, g.Sent())
	did.mu.Lock()
	defer did.mu.Unlock()
	did.down = time.Since(began)
	return err
}

// wipe empties a directory of the store.
func (t *trouble) wipe(x *cluster, g *loadgen.Generator, did *troubled) error {
	if !wait(t.wipeAt, g) {
		return nil
	}
	did.mu.Lock()
	defer did.mu.Unlock()
	did.wiped++
	return x.store.wipe()
}
