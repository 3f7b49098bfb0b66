package local

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// What is read, rolled up and deleted is decided here, by what is known about partitions and
// files of sums without reading them.

// minutes returns t in minutes since the epoch, as times are named in sums.
func minutes(t time.Time) uint32 { return uint32(t.Unix() / 60) }

func timeOfMinutes(m uint32) time.Time { return time.Unix(int64(m)*60, 0).UTC() }

const minutesOfDay = 24 * 60

// piece is something that a query reads: the sums of a day or of a partition of traces, or a
// partition of traces itself.
type piece struct {
	p    part.Info
	file *rollups.File // nil if it is a partition
	sum  rollups.Sum
	// widened is set if some of it was received at another time than asked for, and cannot
	// be told apart any more.
	widened bool
}

// name names the time of what is read.
func (x *piece) name() string {
	if x.file == nil {
		return x.p.Name
	}
	return nameOfSum(x.file.Name(), x.sum.Start)
}

func nameOfSum(file string, start uint32) string {
	return fmt.Sprint(file, " ", timeOfMinutes(start).Format("2006-01-02T15:04"))
}

// plan returns what a query of [since, until) reads, and keeps it until unpin is called.
func (r *Reader) plan(since, until time.Time, noSums bool) (pieces []piece, unpin func()) {
	// Partitions come first: one that is deleted before is in the files by then.
	pinned, unpin := r.parts.Pin(func(*part.Info) bool { return true })
	var files []*rollups.File
	if !noSums {
		files = r.sums.Files()
	}
	return planOf(pinned, files, since, until), unpin
}

// planOf chooses what a query of [since, until) reads, so that each trace is read once: the
// sums of a day where all of it is asked for, else those of its partitions, else these
// themselves. What has no traces any more is taken as a whole, if some of it is asked for.
func planOf(parts []part.Info, files []*rollups.File, since, until time.Time) (out []piece) {
	covered := map[uint32]bool{} // starts of partitions of traces
	there := map[uint32]bool{}
	for _, p := range parts {
		there[minutes(p.Start)] = true
	}
	add := func(f *rollups.File, s rollups.Sum) {
		out = append(out, piece{file: f, sum: s, widened: !s.Within(since, until)})
		covered[s.Start] = true
		for _, source := range s.Sources {
			covered[source] = true
		}
	}
	known := map[uint32]bool{} // partitions of traces that are there, or of which there are sums
	for s := range there {
		known[s] = true
	}
	eachSum(files, rollups.Hours, func(_ *rollups.File, s rollups.Sum) { known[s.Start] = true })
	eachSum(files, rollups.Days, func(f *rollups.File, s rollups.Sum) {
		gone := !slices.ContainsFunc(s.Sources, func(s uint32) bool { return known[s] })
		if s.Within(since, until) || gone && s.Overlaps(since, until) {
			add(f, s)
		}
	})
	eachSum(files, rollups.Hours, func(f *rollups.File, s rollups.Sum) {
		if !covered[s.Start] && s.Overlaps(since, until) && (s.Within(since, until) || !there[s.Start]) {
			add(f, s)
		}
	})
	for _, p := range parts {
		if !covered[minutes(p.Start)] && p.Concerns(since, until) {
			out = append(out, piece{p: p})
		}
	}
	return out
}

// eachSum calls f with the sums of a kind.
func eachSum(files []*rollups.File, span rollups.Span, f func(*rollups.File, rollups.Sum)) {
	for _, file := range files {
		if file.Span() == span {
			for _, s := range file.Sums() {
				f(file, s)
			}
		}
	}
}

// startsOf returns what there are sums of: partitions by their own or by their day's, and
// days.
func startsOf(files []*rollups.File) (hours, days map[uint32]bool) {
	hours, days = make(map[uint32]bool), make(map[uint32]bool)
	eachSum(files, rollups.Hours, func(_ *rollups.File, s rollups.Sum) { hours[s.Start] = true })
	eachSum(files, rollups.Days, func(_ *rollups.File, s rollups.Sum) {
		days[s.Start] = true
		for _, source := range s.Sources {
			hours[source] = true
		}
	})
	return hours, days
}

// dayToRoll is a day that is to be summed up.
type dayToRoll struct {
	start   uint32 // minutes since the epoch
	sources []rollups.Sum
}

// lateness is how long after its end a day may still get traces, as when the clock is set
// back. A day that changes later than that is made again, as long as there are its hours.
const lateness = 5 * time.Minute

// daysToRoll returns the days that are over and of which there are no sums, or some that
// were made before some of their partitions were there. What sums were made of may be
// gone by now; they are not made again of less. open are the starts of partitions of traces
// that are not rolled up.
func daysToRoll(hours, days []rollups.Sum, open []time.Time, now time.Time) (out []dayToRoll) {
	byDay := map[uint32][]rollups.Sum{}
	for _, h := range hours {
		day := h.Start / minutesOfDay * minutesOfDay
		byDay[day] = append(byDay[day], h)
	}
	for start, sources := range byDay {
		end := timeOfMinutes(start).Add(24 * time.Hour)
		if now.Before(end.Add(lateness)) || slices.ContainsFunc(open, func(p time.Time) bool {
			return !p.Before(timeOfMinutes(start)) && p.Before(end)
		}) {
			continue
		}
		i := slices.IndexFunc(days, func(d rollups.Sum) bool { return d.Start == start })
		if starts := sourcesOf(sources); i < 0 || len(starts) > len(days[i].Sources) && containsAll(starts, days[i].Sources) {
			out = append(out, dayToRoll{start, sources})
		}
	}
	slices.SortFunc(out, func(a, b dayToRoll) int { return cmp.Compare(a.start, b.start) })
	return out
}

// containsAll reports whether all of b are in a.
func containsAll(a, b []uint32) bool {
	return !slices.ContainsFunc(b, func(x uint32) bool { return !slices.Contains(a, x) })
}

func sourcesOf(list []rollups.Sum) []uint32 {
	out := make([]uint32, 0, len(list))
	for _, s := range list {
		out = append(out, s.Start)
	}
	slices.Sort(out)
	return out
}
