package read

import (
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// What is read, rolled up and deleted is decided here, by what is known about partitions and
// files of sums without reading them.

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
	return fmt.Sprint(file, " ", rollups.TimeOf(start).Format("2006-01-02T15:04"))
}

// plan returns what a query of [since, until) reads, and keeps it until unpin is called.
func (r *Reader) plan(since, until time.Time, noSums bool) (pieces []piece, unpin func()) {
	// Partitions come first: one that is deleted before is in the files by then.
	pinned, unpin := r.o.Parts.Pin(func(*part.Info) bool { return true })
	var files []*rollups.File
	if !noSums {
		files = r.o.Sums.Files()
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
		there[rollups.Minutes(p.Start)] = true
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
	rollups.EachSum(files, rollups.Hours, func(_ *rollups.File, s rollups.Sum) { known[s.Start] = true })
	rollups.EachSum(files, rollups.Days, func(f *rollups.File, s rollups.Sum) {
		gone := !slices.ContainsFunc(s.Sources, func(s uint32) bool { return known[s] })
		if s.Within(since, until) || gone && s.Overlaps(since, until) {
			add(f, s)
		}
	})
	rollups.EachSum(files, rollups.Hours, func(f *rollups.File, s rollups.Sum) {
		if !covered[s.Start] && s.Overlaps(since, until) && (s.Within(since, until) || !there[s.Start]) {
			add(f, s)
		}
	})
	for _, p := range parts {
		if !covered[rollups.Minutes(p.Start)] && p.Concerns(since, until) {
			out = append(out, piece{p: p})
		}
	}
	return out
}
