package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/upgrade"
)

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
