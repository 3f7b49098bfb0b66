package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// openedFile is what CLEAN is renamed to while a partition of rollups is open for writing:
// it says what was in it before. A rollup may be all that is left of traces, so that a
// recovery that does not find it must say so.
const openedFile = "OPENED"

// markOpened takes the CLEAN mark of a partition of rollups away, durably, before anything
// is written.
func markOpened(dir string) error {
	err := os.Rename(filepath.Join(dir, cleanFile), filepath.Join(dir, openedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is new
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

// readOpened returns what was in the partition of rollups in dir before it was opened for
// writing, as far as that is known.
func readOpened(dir string) (c contents) {
	b, err := os.ReadFile(filepath.Join(dir, openedFile))
	if err != nil || json.Unmarshal(b, &c) != nil {
		return contents{}
	}
	return c
}

// missing notes what was there before and is not there now.
func (c *contents) missing(was contents) {
	for _, r := range slices.Concat(was.Rolled, was.Gone) {
		if !c.has(r.Start) && !slices.ContainsFunc(c.Gone, func(g rolled) bool { return g.Start == r.Start }) {
			c.Gone = append(c.Gone, r)
			c.extend(0, r.First)
			c.extend(0, r.Last)
		}
	}
	c.countGone()
}

func (c *contents) has(start uint32) bool {
	return slices.ContainsFunc(c.Rolled, func(r rolled) bool { return r.Start == start })
}

// countGone forgets what was made again, and counts the rest as lost.
func (c *contents) countGone() {
	var left []rolled // not in place: readers may have the old one
	c.LostTraces, c.LostCommits = 0, 0
	for _, r := range c.Gone {
		if !c.has(r.Start) {
			left = append(left, r)
			c.LostTraces += r.Traces
			c.LostCommits++
		}
	}
	c.Gone = left
}

// noteAside adds the partitions that were set aside to the stats.
func (s *scan) noteAside() {
	sh := s.r.shelf
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for i := range sh.aside {
		a := &sh.aside[i]
		if a.span != traces && len(a.Rolled) > 0 {
			s.noteGone(a.name, a.span, a.Rolled) // what was made anew is not missing
			continue
		}
		if a.span != traces && slices.ContainsFunc(sh.sums, func(p *partition) bool { return p.name == a.of }) {
			continue // it was made anew
		}
		if a.mayOverlap(s.q.Since, s.q.Until, a.span.width(s.r.opts.Partition)) {
			s.stats.Unreadable = append(s.stats.Unreadable, Unreadable{a.name, errors.New(a.reason)})
		}
	}
	for _, p := range sh.sums {
		s.noteGone(p.name, p.span, p.Gone)
		if p.fault == nil {
			continue
		}
		s.noteGone(p.name, p.span, p.Rolled) // no plan has it any more
		f := setAside{start: p.start, contents: p.contents}
		if len(p.Rolled) == 0 && f.mayOverlap(s.q.Since, s.q.Until, p.span.width(s.r.opts.Partition)) {
			s.stats.Unreadable = append(s.stats.Unreadable, Unreadable{p.name, p.fault})
		}
	}
}

// mayOverlap is overlaps for a partition whose contents may be unknown: then the
// time it was made for has to do.
func (a *setAside) mayOverlap(since, until time.Time, width time.Duration) bool {
	if !a.blank() {
		return a.overlaps(since, until)
	}
	return (since.IsZero() || a.start.Add(width).After(since)) && (until.IsZero() || a.start.Before(until))
}

// concerns reports whether a query for [since, until) has to look at p.
func (p *partition) concerns(since, until time.Time) bool {
	// A partition that could not even be recovered may hold anything.
	return p.overlaps(since, until) || p.fault != nil && p.blank()
}

// noteGone adds rollups that are lost, and of which there are no traces either, to the
// stats. It is called with the lock of the shelf held.
func (s *scan) noteGone(name string, sp span, gone []rolled) {
	sh := s.r.shelf
	for _, r := range gone {
		if r.overlaps(s.q.Since, s.q.Until) && !sh.knows(sp, r) {
			s.stats.Gaps = append(s.stats.Gaps, Gap{fmt.Sprint(name, " ", timeOfMinutes(r.Start).Format("2006-01-02T15:04")), s.q.Page, r.Traces, 0})
		}
	}
}

// knows reports whether there is a rollup for the time of r, or all of what it was made of.
func (s *shelf) knows(sp span, r rolled) bool {
	if sp == days && s.rolledDays()[r.Start] {
		return true
	}
	below := s.rolledUp()
	for _, p := range s.parts {
		if p.fault == nil {
			below[minutes(p.start)] = true
		}
	}
	sources := r.Sources
	if sp == hours {
		sources = []uint32{r.Start}
	}
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(start uint32) bool { return !below[start] })
}
