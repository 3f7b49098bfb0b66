package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

const (
	shards = 4               // into which the pages are divided, as in a new directory of objects
	giveUp = 2 * time.Minute // an object is put for so long: a disk may be slow
)

// steps is a place that keeps the last error of putting something, and tells a test what is put.
type steps struct {
	objects.Store
	u *upgrade
}

// Put implements [objects.Store].
func (s steps) Put(ctx context.Context, key string, body []byte, c objects.Condition) (objects.Tag, error) {
	err := s.u.step("put " + key)
	var tag objects.Tag
	if err == nil {
		tag, err = s.Store.Put(ctx, key, body, c)
	}
	if err != nil {
		s.u.mu.Lock()
		defer s.u.mu.Unlock()
		s.u.failed = err
	}
	return tag, err
}

// openPlace opens the directory of objects.
func (u *upgrade) openPlace(ctx context.Context) error {
	at, err := directory.Open(u.path(placeName), directory.Options{Program: u.o.Program, Now: u.o.Now, MinFree: u.o.MinFree})
	if err != nil {
		return err
	}
	u.place = at
	b, err := layout.Create(ctx, steps{at, u}, layout.Options{Shards: shards, GiveUp: giveUp, Rollups: u.o.Rollups})
	if err != nil {
		return err
	}
	b.Pause = func(context.Context, int, time.Duration) error {
		return errors.New("a disk is not asked twice")
	}
	roller := roll.New(b, "", roll.Options{})
	for shard := range b.Shards {
		u.shards = append(u.shards, roller.Errand(shard))
	}
	u.bucket = b
	return nil
}

// closePlace closes it.
func (u *upgrade) closePlace() error {
	c, ok := u.place.(io.Closer)
	if !ok || u.place == nil {
		return nil
	}
	u.place = nil
	return c.Close()
}

// tidy takes out of the place what was not done when something ended the process.
func (u *upgrade) tidy(ctx context.Context) error {
	for shard, r := range u.shards {
		if err := r.Begin(ctx); err != nil {
			return err
		}
		next := r.Manifest.Clone()
		changed := false
		for name := range r.Manifest.Hours {
			if _, done := u.state.Hours[name]; !done {
				delete(next.Hours, name)
				changed = true
			}
		}
		for name := range r.Manifest.Days {
			if !u.state.Days[name] {
				delete(next.Days, name)
				changed = true
			}
		}
		if changed {
			if err := r.Replace(ctx, next); err != nil {
				return err
			}
		}
		if err := u.sweep(ctx, shard, next.Names(shard)); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes the objects of a shard that its manifest does not name.
func (u *upgrade) sweep(ctx context.Context, shard int, named map[string]bool) error {
	var old []string
	for e, err := range u.bucket.ListNamed(ctx, shard) {
		if err != nil {
			return fmt.Errorf("list what is written: %w", err)
		}
		if !named[e.Key] {
			old = append(old, e.Key)
		}
	}
	return u.bucket.DeleteAll(ctx, old)
}
