package read

import (
	"errors"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// noteMissing says in the stats what of the time that is asked for can not be read: partitions
// and sums that were set aside or can not be opened, as far as nothing else has the same.
func (s *scan) noteMissing() {
	r := s.r
	for _, a := range r.o.Parts.Asides() {
		if a.MayOverlap(s.q.Since, s.q.Until, r.o.Partition) {
			s.unreadable(a.Name, errors.New(a.Reason))
		}
	}
	files := r.o.Sums.Files()
	for _, a := range r.o.Sums.Aside() {
		if len(a.Sums) > 0 {
			s.noteLost(a.Name, a.Span, a.Sums, files) // what was made anew is not missing
			continue
		}
		anew := slices.ContainsFunc(files, func(f *rollups.File) bool { return f.Name() == a.Of })
		if !anew && s.mayBeOf(a.Span, rollups.Minutes(a.Start)) {
			s.unreadable(a.Name, errors.New(a.Reason))
		}
	}
	for _, f := range r.o.Sums.Faulty() {
		if s.mayBeOf(f.Span, rollups.Minutes(f.Start)) {
			s.unreadable(f.Name, f.Err)
		}
	}
}

// mayBeOf reports whether a file of sums of which only the name is known can have something
// of the time that is asked for.
func (s *scan) mayBeOf(span rollups.Span, start uint32) bool {
	from := rollups.TimeOf(start)
	return (s.q.Since.IsZero() || span.EndOf(from).After(s.q.Since)) && (s.q.Until.IsZero() || from.Before(s.q.Until))
}

// noteLost adds sums that are lost to the stats, if there is nothing either that they were
// made of.
func (s *scan) noteLost(name string, span rollups.Span, lost []rollups.Sum, files []*rollups.File) {
	summed, days := rollups.StartsOf(files)
	for _, p := range s.r.o.Parts.All() {
		if p.Fault == nil {
			summed[rollups.Minutes(p.Start)] = true
		}
	}
	for _, x := range lost {
		sources := x.Sources
		if span == rollups.Hours {
			sources = []uint32{x.Start}
		}
		made := span == rollups.Days && days[x.Start] ||
			len(sources) > 0 && !slices.ContainsFunc(sources, func(start uint32) bool { return !summed[start] })
		if x.Overlaps(s.q.Since, s.q.Until) && !made {
			s.stats.Gaps = append(s.stats.Gaps, store.Gap{Partition: nameOfSum(name, x.Start), Page: s.q.Page, Expected: x.Traces, Found: 0})
		}
	}
}
