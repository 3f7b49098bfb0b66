package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// node is where a daemon keeps traces: a directory of this machine, or a bucket that machines
// share. Its metrics are in metrics.go.
type node struct {
	*shared.Node
	backedUp atomic.Pointer[time.Time] // when the last whole backup that is known of was begun; nil: none
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
	out := &node{Node: n}
	switch last, err := n.BackedUp(ctx); {
	case err != nil:
		log.Warn("metrics do not have the age of the last backup", "err", err)
	case !last.IsZero():
		out.backedUp.Store(&last)
	}
	return out, nil
}

// openPlace prepares to use the objects of --data.
func (c *config) openPlace(ctx context.Context, readOnly bool, log *slog.Logger) (objects.Store, error) {
	place, err := shared.OpenPlace(ctx, c.data, shared.PlaceOptions{Now: c.now, Program: "ingest", ReadOnly: readOnly,
		BelieveClock: c.believe,
		Warn:         func(err error) { log.Warn("the data directory is not as it should be", "err", err) }})
	if err != nil {
		return nil, fmt.Errorf("--data: %w", hinted(err))
	}
	return place, nil
}

func (c *config) storeOptions() shared.Options {
	return shared.Options{Retention: c.retention, HourRetention: c.hourly, DayRetention: c.daily, Shorten: c.shorten,
		MaxDisk: c.maxDisk, Spool: c.spool, SpoolSize: c.spoolSize,
		Cache: c.cache, CacheSize: c.cacheSize, RollEvery: c.rollEvery, TakeOver: c.takeOver}
}

// Close closes the store, for which it waits no longer than requests may take.
func (n *node) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return n.Node.Close(ctx)
}
