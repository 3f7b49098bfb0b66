package store

import (
	"fmt"
	"hash/fnv"
	"io"
	"time"
)

// Version returns a text that changes whenever what is stored of [since, until) changes, or
// can no more be read. Zero times are open ends. Of a time that is over it stays the same,
// until its traces expire.
func (r *Reader) Version(since, until time.Time) string {
	h := fnv.New128a()
	r.shelf.describe(h, since, until)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// describe writes all that is known of what was received in [since, until).
func (s *shelf) describe(w io.Writer, since, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		if !p.concerns(since, until) {
			continue
		}
		fmt.Fprintln(w, p.name, p.Traces, p.Entries, p.LastCommit, p.LostTraces, p.fault)
		if p.writer && p.db != nil { // page views without traces are no commits of theirs
			fmt.Fprintln(w, p.db.MaxVersion())
		}
	}
	for _, p := range s.sums {
		for _, r := range p.Rolled {
			if r.overlaps(since, until) {
				fmt.Fprintln(w, p.name, r.Start, r.Traces, r.Missing, p.fault)
			}
		}
	}
	for _, a := range s.aside {
		fmt.Fprintln(w, a.name)
	}
}

// HasTraces reports whether the traces of all that was received in [since, until) are
// there, and not only what they sum up to. Zero times are open ends.
func (r *Reader) HasTraces(since, until time.Time) bool {
	return r.shelf.canTell(since, until, false)
}

// HasHours reports whether what was received in [since, until) can be told apart by the
// hour: its traces are there, or what they sum up to by the hour. Zero times are open ends.
func (r *Reader) HasHours(since, until time.Time) bool {
	return r.shelf.canTell(since, until, true)
}

// canTell reports whether the traces, or, if they will do, rollups of hours are there of all
// that was received in [since, until).
func (s *shelf) canTell(since, until time.Time, hoursWillDo bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[uint32]bool{}
	for _, p := range s.parts {
		there[minutes(p.start)] = p.fault == nil
	}
	all := true
	look := func(start uint32) {
		from := timeOfMinutes(start)
		asked := (until.IsZero() || from.Before(until)) && from.Add(time.Hour).After(since)
		all = all && (there[start] || !asked)
	}
	eachRolled(s.sums, hours, func(_ *partition, x rolled) {
		if hoursWillDo {
			there[x.Start] = true
		}
		look(x.Start)
	})
	eachRolled(s.sums, days, func(_ *partition, x rolled) {
		for _, start := range x.Sources {
			look(start)
		}
	})
	return all
}
