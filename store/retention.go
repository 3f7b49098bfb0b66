package store

import "time"

// lifetime is what retention knows about a partition.
type lifetime struct {
	name   string
	span   span
	start  time.Time
	last   time.Time // when the newest trace was received, zero if unknown
	open   bool      // being written to
	needed bool      // something is still to be made of it
	bytes  int64     // on disk, if it was asked for
}

// applyRetention deletes what is expired at now, and what is over the budget.
func (s *Store) applyRetention(now time.Time) {
	k := keep{s.opts.Retention, s.opts.HourRetention, s.opts.DayRetention}
	if names := expired(s.lifetimes(false), now, s.opts.Partition, k); len(names) > 0 {
		s.shelf.remove(names)
	}
	if s.opts.MaxDisk <= 0 {
		return
	}
	names := overBudget(s.lifetimes(true), s.opts.MaxDisk-ballastBytes(s.dir))
	if len(names) > 0 {
		s.opts.Logger.Warn("over the byte budget, deleting the oldest", "budget", s.opts.MaxDisk, "partitions", len(names))
		s.shelf.remove(names)
	}
}

// lifetimes returns what retention needs to know; sizes take looking at each file.
func (s *Store) lifetimes(sizes bool) []lifetime {
	sh := s.shelf
	sh.mu.Lock()
	var all []lifetime
	var paths []string
	done, summed := sh.rolledUp(), sh.rolledDays()
	for _, p := range sh.parts {
		l := p.contents.lifetime(p.name, p.start, p.writer)
		l.needed = s.opts.RollEvery > 0 && p.fault == nil && !p.blank() && !done[minutes(p.start)]
		all, paths = append(all, l), append(paths, p.path)
	}
	for _, p := range sh.sums {
		l := p.contents.lifetime(p.name, p.start, p.writer)
		l.span = p.span
		l.needed = p.span == hours && p.fault == nil && len(p.Rolled) > 0 && !summed[minutes(p.start)]
		all, paths = append(all, l), append(paths, p.path)
	}
	for i := range sh.aside {
		a := &sh.aside[i]
		l := a.contents.lifetime(a.name, a.start, false)
		l.span = a.span
		all, paths = append(all, l), append(paths, a.path)
	}
	sh.mu.Unlock()
	if sizes {
		for i, path := range paths {
			all[i].bytes = treeBytes(path)
		}
	}
	return all
}

func (c *contents) lifetime(name string, start time.Time, open bool) lifetime {
	l := lifetime{name: name, start: start, open: open}
	if !c.blank() {
		l.last = time.UnixMicro(c.Last)
	}
	return l
}

// writeTarget returns the start of the partition to write to at now. newest is the
// start of the newest partition there is, zero if there is none. A clock that went
// backwards keeps writing to the newest, or, if that is sealed, to the one after
// it: a sealed partition is never written again.
func writeTarget(now, newest time.Time, sealed bool, width time.Duration) time.Time {
	at := partitionStart(now, width)
	switch {
	case newest.IsZero() || at.After(newest):
		return at
	case sealed:
		return partitionStart(newest, width).Add(width)
	}
	return newest
}
