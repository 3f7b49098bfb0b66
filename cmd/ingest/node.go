package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/upgrade"
)

// node is where a daemon keeps traces: a directory of this machine, or a bucket that machines share. Its metrics are in metrics.go.
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

// Close closes the store, for which it waits no longer than requests may take.
func (n *node) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return n.Node.Close(ctx)
}

// upgradeSays is how often it is said how far an upgrade is.
const upgradeSays = 10 * time.Second

// upgradeData makes the data directory anew, if it has the form that releases before wrote.
func (s *serving) upgradeData(ctx context.Context) error {
	c, log := s.config, s.log
	dir, onDisk := shared.Folder(c.data)
	if !onDisk {
		return nil
	}
	needed, err := upgrade.Needed(dir)
	if err != nil || !needed {
		return err
	}
	log.Info("the data directory is upgraded: it is written anew beside itself; whatever ends that, the next start goes on", "data", dir)
	started, said := time.Now(), time.Now()
	defer s.supervisor.beg(upgradeSays)()
	stats, err := upgrade.Run(ctx, dir, upgrade.Options{Program: "ingest", Now: c.now, Progress: func(done, of int, traces uint64) {
		if time.Since(said) >= upgradeSays {
			said = time.Now()
			log.Info("upgrading", "hours_and_days", fmt.Sprintf("%d of %d", done, of), "traces", humanize.Comma(int64(traces)))
		}
	}})
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("%w; the next start goes on from there", errors.Join(context.Cause(ctx), err))
	}
	if err != nil {
		return hinted(err)
	}
	log.Info("the data directory is upgraded", "hours", stats.Hours, "days", stats.Days, "traces", stats.Traces, "seconds", time.Since(started).Seconds())
	for _, what := range stats.Left {
		log.Warn("it can not be read, and is not in the new form", "what", what)
	}
	if stats.Former != "" {
		log.Warn("the files of the release before are kept, with what can not be read: delete them when they are of no use", "files", filepath.Join(dir, stats.Former))
	}
	return nil
}
