package read

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// Version implements [store.Reader].
func (r *Reader) Version(since, until time.Time) string {
	h := fnv.New128a()
	for _, p := range r.o.Parts.All() {
		if p.Concerns(since, until) {
			fmt.Fprintln(h, p.Name, p.Traces, p.Entries, p.LastCommit, p.LostTraces, p.Fault)
		}
	}
	for _, f := range r.o.Sums.Files() {
		for _, x := range f.Sums() {
			if x.Overlaps(since, until) {
				fmt.Fprintln(h, f.Name(), x.Start, x.Traces, x.Missing)
			}
		}
	}
	for _, a := range r.o.Parts.Asides() {
		fmt.Fprintln(h, a.Name)
	}
	for _, a := range r.o.Sums.Aside() {
		fmt.Fprintln(h, a.Name)
	}
	for _, f := range r.o.Sums.Faulty() {
		fmt.Fprintln(h, f.Name, f.Err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// HasTraces implements [store.Reader].
func (r *Reader) HasTraces(since, until time.Time) bool { return r.canTell(since, until, false) }

// HasHours implements [store.Reader].
func (r *Reader) HasHours(since, until time.Time) bool { return r.canTell(since, until, true) }

// canTell reports whether the traces, or, if they will do, sums of hours are there of all
// that was received in [since, until).
func (r *Reader) canTell(since, until time.Time, hoursWillDo bool) bool {
	there := map[uint32]bool{}
	for _, p := range r.o.Parts.All() {
		there[rollups.Minutes(p.Start)] = p.Fault == nil
	}
	all := true
	look := func(start uint32) {
		from := rollups.TimeOf(start)
		asked := (until.IsZero() || from.Before(until)) && from.Add(time.Hour).After(since)
		all = all && (there[start] || !asked)
	}
	files := r.o.Sums.Files()
	rollups.EachSum(files, rollups.Hours, func(_ *rollups.File, x rollups.Sum) {
		if hoursWillDo {
			there[x.Start] = true
		}
		look(x.Start)
	})
	rollups.EachSum(files, rollups.Days, func(_ *rollups.File, x rollups.Sum) {
		for _, start := range x.Sources {
			look(start)
		}
	})
	return all
}
