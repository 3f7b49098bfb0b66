package store

import (
	"slices"
	"time"
)

// What is read, rolled up and deleted is decided here, by what is known about partitions
// without opening them.

// dayToRoll is a day of which a rollup is to be made.
type dayToRoll struct {
	start   uint32 // minutes since the epoch
	sources []rolled
}

const minutesOfDay = 24 * 60

// lateness is how long after its end a day may still get traces, as when the clock is set
// back. A day that changes later than that is made again, as long as there are its hours.
const lateness = 5 * time.Minute

// daysToRoll returns the days that are over and of which there is no rollup, or one that
// was made before some of their partitions were there. What a rollup was made of may be
// gone by now; it is not made again of less. parts are the partitions of traces that are
// not rolled up.
func daysToRoll(hours, days []rolled, parts []lifetime, now time.Time) (out []dayToRoll) {
	byDay := map[uint32][]rolled{}
	for _, h := range hours {
		byDay[h.Start/minutesOfDay*minutesOfDay] = append(byDay[h.Start/minutesOfDay*minutesOfDay], h)
	}
	for start, sources := range byDay {
		end := timeOfMinutes(start).Add(24 * time.Hour)
		if now.Before(end.Add(lateness)) || slices.ContainsFunc(parts, func(p lifetime) bool {
			return !p.start.Before(timeOfMinutes(start)) && p.start.Before(end)
		}) {
			continue
		}
		i := slices.IndexFunc(days, func(d rolled) bool { return d.Start == start })
		if starts := startsOf(sources); i < 0 || len(starts) > len(days[i].Sources) && containsAll(starts, days[i].Sources) {
			out = append(out, dayToRoll{start, sources})
		}
	}
	slices.SortFunc(out, func(a, b dayToRoll) int { return int(int64(a.start) - int64(b.start)) })
	return out
}

// containsAll reports whether all of b are in a.
func containsAll(a, b []uint32) bool {
	return !slices.ContainsFunc(b, func(x uint32) bool { return !slices.Contains(a, x) })
}

func startsOf(list []rolled) []uint32 {
	out := make([]uint32, 0, len(list))
	for _, r := range list {
		out = append(out, r.Start)
	}
	slices.Sort(out)
	return out
}

// part is something that a query reads: the rollup of a day or of a partition of traces,
// or a partition of traces itself.
type part struct {
	p     *partition
	span  span
	start uint32
	has   rolled // of a rollup
	// widened is set if some of it was received at another time than asked for, and cannot
	// be told apart any more.
	widened bool
	// expected is how many traces of a page there should be, for a rollup that is damaged.
	expected uint64
}

// plan chooses what a query of [since, until) reads, so that each trace is read once: the
// rollup of a day where all of it is asked for, else those of its partitions, else these
// themselves. What has no traces any more is taken as a whole, if some of it is asked for.
func plan(parts, sums []*partition, since, until time.Time) (out []part) {
	covered := map[uint32]bool{} // starts of partitions of traces
	there := map[uint32]bool{}
	for _, p := range parts {
		there[minutes(p.start)] = true
	}
	add := func(p *partition, r rolled, widened bool) {
		out = append(out, part{p: p, span: p.span, start: r.Start, has: r, widened: widened})
		covered[r.Start] = true
		for _, s := range r.Sources {
			covered[s] = true
		}
	}
	known := map[uint32]bool{} // partitions of traces that are there, or of which there is a rollup
	eachRolled(sums, hours, func(_ *partition, r rolled) { known[r.Start] = true })
	for s := range there {
		known[s] = true
	}
	eachRolled(sums, days, func(p *partition, r rolled) {
		gone := !slices.ContainsFunc(r.Sources, func(s uint32) bool { return known[s] })
		if r.within(since, until) || gone && r.overlaps(since, until) {
			add(p, r, !r.within(since, until))
		}
	})
	eachRolled(sums, hours, func(p *partition, r rolled) {
		if covered[r.Start] || !r.overlaps(since, until) {
			return
		}
		if r.within(since, until) || !there[r.Start] {
			add(p, r, !r.within(since, until))
		}
	})
	for _, p := range parts {
		if !covered[minutes(p.start)] && p.concerns(since, until) {
			out = append(out, part{p: p, span: traces, start: minutes(p.start)})
		}
	}
	return out
}

func eachRolled(sums []*partition, sp span, f func(*partition, rolled)) {
	for _, p := range sums {
		if p.span == sp && p.fault == nil {
			for _, r := range p.Rolled {
				f(p, r)
			}
		}
	}
}

// keep says how long things are kept; zero is for ever.
type keep struct{ traces, hours, days time.Duration }

// expired returns the partitions of which nothing is younger than it is kept at now. It
// only decides: deleting is done elsewhere. A partition of unknown content counts as full
// to its end. What is still needed stays, but not for more than twice its time.
func expired(parts []lifetime, now time.Time, width time.Duration, k keep) (names []string) {
	for _, p := range parts {
		after := map[span]time.Duration{traces: k.traces, hours: k.hours, days: k.days}[p.span]
		if after <= 0 || p.open {
			continue
		}
		last := p.last
		if last.IsZero() || p.span != traces {
			last = p.span.endOf(p.start, width)
		}
		if p.needed {
			after *= 2 // what could not be made of it by then never will
		}
		if last.Before(now.Add(-after)) {
			names = append(names, p.name)
		}
	}
	return names
}

// overBudget returns the partitions to delete so that the others take at most budget
// bytes: the oldest traces first, then the oldest rollups of hours, then those of days.
// The newest partition of each kind stays, and what is being written to.
func overBudget(parts []lifetime, budget int64) (names []string) {
	if budget <= 0 {
		return nil
	}
	var sum int64
	for _, p := range parts {
		sum += p.bytes
	}
	for _, sp := range []span{traces, hours, days} {
		var of []lifetime
		for _, p := range parts {
			if p.span == sp {
				of = append(of, p)
			}
		}
		slices.SortFunc(of, func(a, b lifetime) int { return a.start.Compare(b.start) })
		for i, p := range of {
			if sum <= budget {
				return names
			}
			if p.open || i == len(of)-1 || sp != traces && p.needed {
				continue
			}
			names = append(names, p.name)
			sum -= p.bytes
		}
	}
	return names
}
