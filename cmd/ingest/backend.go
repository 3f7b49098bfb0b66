package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// backend is where traces are kept: a directory of this machine, or a bucket that machines share.
type backend interface {
	store.Store
	prometheus.Collector

	// Err returns why nothing can be stored any more, and Stuck why nothing was written for too long.
	Err() error
	Stuck() error
	// Unready returns why traces are not taken for the moment.
	Unready() error
	// Doubt says what is wrong although traces are taken, after "; ", or nothing.
	Doubt() string
	// SendBackup writes a copy of all that is there to w, while the rest goes on.
	SendBackup(ctx context.Context, w io.Writer) (copied, error)
	// Room returns how much room the disk has, if traces are on one of this machine.
	Room() (disk.Room, bool)
	// Work does what is to be done in the background, until ctx is done.
	Work(ctx context.Context)
	Close() error
}

// directory is a backend on the disk of this machine.
type directory struct {
	*local.Store
	storeMetrics
	log *slog.Logger
}

func (c *config) openDirectory(log *slog.Logger) (*directory, error) {
	o := c.storeOptions()
	o.Logger = log
	s, err := local.Open(c.data, o)
	if err != nil {
		return nil, hinted(err)
	}
	return &directory{s, storeMetrics{s}, log}, nil
}

// Unready implements [backend]: a directory that can not be written to has failed, but a full disk may get room again.
func (d *directory) Unready() error {
	if d.Space().Refusing {
		return store.ErrNoSpace
	}
	return nil
}

// Room implements [backend].
func (d *directory) Room() (disk.Room, bool) { return roomOf(d.Store), true }

func roomOf(s *local.Store) disk.Room {
	space := s.Space()
	return disk.Room{Free: space.Free, Needed: space.Needed, Refusing: space.Refusing}
}

// Doubt implements [backend].
func (d *directory) Doubt() string {
	if text := d.ClockDoubt(); text != "" {
		return "; " + text
	}
	return ""
}

// Work implements [backend].
func (d *directory) Work(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.maintain(ctx)
	}()
	d.roll(ctx)
	<-done
}

// maintain has the store maintain itself until ctx is done.
func (d *directory) maintain(ctx context.Context) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := d.Maintain(ctx); err != nil && ctx.Err() == nil {
			d.log.Error("maintain store", "err", err)
		}
	}
}

// lastRoll bounds how long an ending daemon rolls up what waits for it, so that the next one answers at once.
const lastRoll = 10 * time.Second

// roll keeps the rollups up to date until ctx is done.
func (d *directory) roll(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var said time.Time
	for {
		if err := d.Roll(ctx); err != nil && ctx.Err() == nil && time.Since(said) > time.Minute {
			d.log.Error("roll up traces; queries read the traces instead, and it is tried again", "err", err)
			said = time.Now()
		}
		select {
		case <-ctx.Done():
			d.rollUp(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
	}
}

// rollUp rolls up all that waits, as far as it gets.
func (d *directory) rollUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastRoll)
	defer cancel()
	if err := d.RollUp(ctx); err != nil && ctx.Err() == nil {
		d.log.Warn("not all traces are rolled up", "err", err)
	}
	if n := d.Counters().Unrolled; n > 0 {
		d.log.Info("the next start rolls up the rest", "traces", n)
	}
}

// inBucket is a backend in a bucket, which machines share.
type inBucket struct {
	*shared.Node
	clusterMetrics
}

// openWait bounds how long the start waits for the store.
const openWait = time.Minute

func (c *config) openShared(ctx context.Context, log *slog.Logger) (*inBucket, error) {
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	b, err := c.openPlace(ctx, false, log)
	if err != nil {
		return nil, err
	}
	o := c.sharedOptions()
	o.Logger = log
	n, err := shared.Open(ctx, b, o)
	if err != nil {
		return nil, err
	}
	return &inBucket{n, clusterMetrics{n}}, nil
}

// openPlace prepares to use the objects of --data.
func (c *config) openPlace(ctx context.Context, readOnly bool, log *slog.Logger) (objects.Store, error) {
	warn := func(err error) { log.Warn("the data directory is not as it should be", "err", err) }
	b, err := shared.OpenPlace(ctx, c.data, shared.PlaceOptions{Now: c.now, Program: "ingest", ReadOnly: readOnly, Warn: warn})
	if err != nil {
		return nil, fmt.Errorf("--data: %w", hinted(err))
	}
	return b, nil
}

func (c *config) sharedOptions() shared.Options {
	return shared.Options{Retention: c.retention, HourRetention: c.hourly, DayRetention: c.daily, Shorten: c.shorten, MaxDisk: c.maxDisk, Spool: c.spool, SpoolSize: c.spoolSize,
		Cache: c.cache, CacheSize: c.cacheSize, RollEvery: c.rollEvery, TakeOver: c.takeOver}
}

// Doubt implements [backend]: a machine on a bucket whose clock is wrong is not ready.
func (s *inBucket) Doubt() string { return "" }

// Err implements [backend]: what does not work now may work later.
func (s *inBucket) Err() error { return nil }

// Stuck implements [backend]. Whoever waits for the store gives up by himself.
func (s *inBucket) Stuck() error { return nil }

// Work implements [backend].
func (s *inBucket) Work(ctx context.Context) { s.Run(ctx) }

// Close implements [backend].
func (s *inBucket) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return s.Node.Close(ctx)
}
