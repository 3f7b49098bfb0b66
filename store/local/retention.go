package local

import (
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// kind says what a directory or file of the store is of.
type kind uint8

const (
	traces kind = iota
	hours
	days
)

func (k kind) String() string { return [...]string{"traces", "hours", "days"}[k] }

func kindOf(s rollups.Span) kind {
	if s == rollups.Days {
		return days
	}
	return hours
}

// endOf returns when the time that began at start is over.
func (k kind) endOf(start time.Time, partition time.Duration) time.Time {
	switch k {
	case hours:
		return rollups.Hours.EndOf(start)
	case days:
		return rollups.Days.EndOf(start)
	}
	return start.Add(partition)
}

// lifetime is what retention knows about a partition or file of sums.
type lifetime struct {
	name   string
	kind   kind
	start  time.Time
	last   time.Time // when the newest trace was received, zero if unknown
	open   bool      // being written to
	needed bool      // something is still to be made of it
	path   string
	bytes  int64 // on disk, if it was asked for
}

// keep says how long things are kept; zero is for ever.
type keep struct{ traces, hours, days time.Duration }

// applyRetention deletes what is expired at now, and what is over the budget.
func (s *Store) applyRetention(now time.Time) {
	k := keep{s.opts.Retention, s.opts.HourRetention, s.opts.DayRetention}
	if s.believes(now) {
		s.remove(expired(s.lifetimes(false), now, s.opts.Partition, k))
	}
	if s.opts.MaxDisk <= 0 {
		return
	}
	names := overBudget(s.lifetimes(true), s.opts.MaxDisk-disk.BallastBytes(s.dir))
	if len(names) > 0 {
		s.opts.Logger.Warn("over the byte budget, deleting the oldest", "budget", s.opts.MaxDisk, "partitions", len(names))
		s.remove(names)
	}
}

func (s *Store) remove(list []lifetime) {
	var ofParts, ofSums []string
	for _, l := range list {
		if l.kind == traces {
			ofParts = append(ofParts, l.name)
		} else {
			ofSums = append(ofSums, l.name)
			s.opts.Logger.Info("sums deleted", "path", l.path)
		}
	}
	if len(ofParts) > 0 {
		s.parts.Remove(ofParts...)
	}
	if len(ofSums) > 0 {
		if err := s.sums.Remove(ofSums...); err != nil {
			s.opts.Logger.Error("delete sums", logErr, err)
		}
	}
}

// lifetimes returns what retention needs to know; sizes take looking at each file.
func (s *Store) lifetimes(sizes bool) (all []lifetime) {
	parts, files := s.parts.All(), s.sums.Files()
	summed, days := rollups.StartsOf(files)
	for _, p := range parts {
		l := lifetime{name: p.Name, start: p.Start, open: p.Writing, path: p.Path()}
		if !p.Blank() {
			l.last = time.UnixMicro(p.Last)
		}
		l.needed = s.opts.RollEvery > 0 && p.Fault == nil && !p.Blank() && !summed[rollups.Minutes(p.Start)]
		all = append(all, l)
	}
	for _, a := range s.parts.Asides() {
		l := lifetime{name: a.Name, start: a.Start, path: a.Path}
		if !a.Blank() {
			l.last = time.UnixMicro(a.Last)
		}
		all = append(all, l)
	}
	for _, f := range files {
		l := lifetime{name: f.Name(), kind: kindOf(f.Span()), start: f.Start(), path: s.path(f.Name()), bytes: f.Size()}
		l.needed = f.Span() == rollups.Hours && !days[rollups.Minutes(f.Start())]
		all = append(all, l)
	}
	for _, a := range s.sums.Aside() {
		all = append(all, lifetime{name: a.Name, kind: kindOf(a.Span), start: a.Start, path: s.path(a.Name), bytes: a.Size})
	}
	for _, f := range s.sums.Faulty() {
		all = append(all, lifetime{name: f.Name, kind: kindOf(f.Span), start: f.Start, path: s.path(f.Name)})
	}
	if sizes {
		for i := range all {
			all[i].bytes = disk.TreeBytes(all[i].path)
		}
	}
	return all
}

// expired returns those of which nothing is younger than it is kept at now. It
// only decides: deleting is done elsewhere. A partition of unknown content counts as full
// to its end. What is still needed stays, but not for more than twice its time.
func expired(list []lifetime, now time.Time, width time.Duration, k keep) (out []lifetime) {
	for _, l := range list {
		after := [...]time.Duration{k.traces, k.hours, k.days}[l.kind]
		if after <= 0 || l.open {
			continue
		}
		last := l.last
		if last.IsZero() || l.kind != traces {
			last = l.kind.endOf(l.start, width)
		}
		if l.needed {
			after *= 2 // what could not be made of it by then never will
		}
		if last.Before(now.Add(-after)) {
			out = append(out, l)
		}
	}
	return out
}

// overBudget returns what to delete so that the others take at most budget
// bytes: the oldest traces first, then the oldest sums of hours, then those of days.
// The newest of each kind stays, and what is being written to.
func overBudget(list []lifetime, budget int64) (out []lifetime) {
	if budget <= 0 {
		return nil
	}
	var sum int64
	for _, l := range list {
		sum += l.bytes
	}
	for _, k := range []kind{traces, hours, days} {
		var of []lifetime
		for _, l := range list {
			if l.kind == k {
				of = append(of, l)
			}
		}
		slices.SortFunc(of, func(a, b lifetime) int { return a.start.Compare(b.start) })
		for i, l := range of {
			if sum <= budget {
				return out
			}
			if l.open || i == len(of)-1 || k != traces && l.needed {
				continue
			}
			out = append(out, l)
			sum -= l.bytes
		}
	}
	return out
}
