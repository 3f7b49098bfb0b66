package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"sync"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/build"
)

// parallelQueries is the number of concurrent queries.
const parallelQueries = 8

// askKnown queries which tables the daemon already has.
func (c *command) askKnown(ctx context.Context) error {
	if c.daemon == nil {
		return nil
	}
	defer c.progress.clear()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan *script)
	var workers sync.WaitGroup
	for range parallelQueries {
		workers.Go(func() {
			for s := range next {
				known, err := c.daemon.has(ctx, s.hash)
				if err != nil {
					cancel(fmt.Errorf("ask %s which tables it has: %w", c.daemon.base, err))
				}
				s.known = known
			}
		})
	}
	for i, s := range c.scripts {
		c.progress.show(fmt.Sprintf("asked for %d of %d tables", i, len(c.scripts)))
		next <- s
		if ctx.Err() != nil {
			break
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// send sends the tables that the daemon lacks, and then the list of the build's
// scripts.
func (c *command) send(ctx context.Context) error {
	defer c.progress.clear()
	for i, s := range c.scripts {
		if c.sent[s.hash] || s.known && !c.force || c.tables[s.hash] == nil {
			continue
		}
		c.progress.show(fmt.Sprintf("%d of %d scripts sent", i, len(c.scripts)))
		if err := c.sendTable(ctx, s); err != nil {
			return err
		}
	}
	upload, err := json.Marshal(c.describe())
	if err != nil {
		return err
	}
	id, missing, err := c.daemon.post(ctx, upload)
	if err == nil && len(missing) > 0 {
		if err := c.sendMissing(ctx, missing); err != nil {
			return err
		}
		id, missing, err = c.daemon.post(ctx, upload)
	}
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("the daemon lacks %d tables that it accepted; is its disk full, or --max-symbols too small?",
			len(missing))
	}
	if err != nil {
		return fmt.Errorf("send the list of scripts to %s: %w", c.daemon.base, err)
	}
	c.id = id
	return nil
}

func (c *command) sendTable(ctx context.Context, s *script) error {
	if err := c.daemon.put(ctx, s.hash, c.tables[s.hash]); err != nil {
		return fmt.Errorf("send the table of %s to %s: %w", s.Path, c.daemon.base, err)
	}
	c.sent[s.hash] = true
	return nil
}

// sendMissing sends again tables that the daemon lost before the upload arrived.
func (c *command) sendMissing(ctx context.Context, missing []string) error {
	for _, hash := range missing {
		i := slices.IndexFunc(c.scripts, func(s *script) bool {
			return s.hash == hash && (c.tables[hash] != nil || s.Way != build.NoMap)
		})
		if i < 0 {
			return fmt.Errorf(
				"the daemon no longer has a table that it reported before (script %s), and there is no map to "+
					"recreate it; build and upload again", hash)
		}
		s := c.scripts[i]
		if c.tables[hash] == nil {
			if err := c.makeTable(s); err != nil {
				return err
			}
		}
		if c.tables[hash] == nil {
			return fmt.Errorf("%s: the daemon has lost its table, and its map cannot be used to recreate it", s.Path)
		}
		if err := c.sendTable(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// describe returns the upload: the scripts whose tables the daemon has.
func (c *command) describe() symbols.Upload {
	u := symbols.Upload{Release: c.release, Owners: c.owners, Repository: c.repository, Commit: c.commit,
		RepositoryURL: c.repo, Commits: c.commits}
	for _, s := range c.scripts {
		if !s.known && !c.sent[s.hash] {
			continue
		}
		x := symbols.Script{Path: s.Path, Prefix: c.urlPrefix, DebugID: s.DebugID, SHA256: s.hash}
		if n := len(u.Scripts); n == 0 || u.Scripts[n-1] != x {
			u.Scripts = append(u.Scripts, x)
		}
	}
	return u
}

// removeMaps deletes the maps of scripts.
func (c *command) removeMaps() error {
	var problems []error
	gone := map[string]bool{}
	for _, s := range c.scripts {
		name := s.folder.dir + "\x00" + s.MapPath
		if s.MapPath == "" || gone[name] {
			continue
		}
		gone[name] = true
		if path.Ext(s.MapPath) != ".map" { // a comment may name any file
			c.warn(fmt.Sprintf("%s: its map %s does not end with .map and was not deleted", s.Path, s.MapPath))
			continue
		}
		if err := s.folder.root.Remove(s.MapPath); err != nil && !errors.Is(err, os.ErrNotExist) {
			problems = append(problems, fmt.Errorf("delete map %s: %w", s.MapPath, cause(err)))
			continue
		}
		c.deleted++
	}
	return errors.Join(problems...)
}
