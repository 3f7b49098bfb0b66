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
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// backend is where traces are kept: a directory of this machine, or a bucket that machines share.
type backend interface {
	store.Store
	prometheus.Collector

	// Stuck returns why nothing was written for too long.
	Stuck() error
	// Unready returns why traces are not taken for the moment.
	Unready() error
	// Doubt returns why nothing is deleted by its age.
	Doubt() error
	// SendBackup writes a copy of all that is there to w, while the rest goes on.
	SendBackup(ctx context.Context, w io.Writer) (copied, error)
	// Room returns how much room the disk has, if traces are on one of this machine.
	Room() (disk.Room, bool)
	// Run does what is to be done in the background, until ctx is done.
	Run(ctx context.Context)
	Close() error
}

// node is the backend of a daemon.
type node struct {
	*shared.Node
	storeMetrics
}

// openWait bounds how long the start waits for the store.
const openWait = time.Minute

func (c *config) openNode(ctx context.Context, log *slog.Logger) (*node, error) {
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	place, err := c.openPlace(ctx, false, log)
	if err != nil {
		return nil, err
	}
	o := c.storeOptions()
	o.Logger = log
	n, err := shared.Open(ctx, place, o)
	if err != nil {
		return nil, err
	}
	return &node{n, storeMetrics{n}}, nil
}

// openPlace prepares to use the objects of --data.
func (c *config) openPlace(ctx context.Context, readOnly bool, log *slog.Logger) (objects.Store, error) {
	place, err := shared.OpenPlace(ctx, c.data, shared.PlaceOptions{Now: c.now, Program: "ingest", ReadOnly: readOnly, BelieveClock: c.believe,
		Warn: func(err error) { log.Warn("the data directory is not as it should be", "err", err) }})
	if err != nil {
		return nil, fmt.Errorf("--data: %w", hinted(err))
	}
	return place, nil
}

func (c *config) storeOptions() shared.Options {
	return shared.Options{Retention: c.retention, HourRetention: c.hourly, DayRetention: c.daily, Shorten: c.shorten, MaxDisk: c.maxDisk, Spool: c.spool, SpoolSize: c.spoolSize,
		Cache: c.cache, CacheSize: c.cacheSize, RollEvery: c.rollEvery, TakeOver: c.takeOver}
}

// Close implements [backend].
func (n *node) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return n.Node.Close(ctx)
}
