package rollups

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// Sum says what a file has of one hour or day.
type Sum struct {
	Start   uint32   // when its time begins, in minutes since the epoch
	Sources []uint32 // of a day: the starts of the hours it was made of
	First   int64    // receive time of the oldest trace, µs since the epoch
	Last    int64    // receive time of the newest trace, µs since the epoch
	Traces  uint64   // a trace of two pages counts twice
	Missing uint64   // of Traces: counted, and not found when they were summed up
}

// Within reports whether all that was received is in [since, until). A zero time is no
// bound.
func (s *Sum) Within(since, until time.Time) bool {
	return store.Within(s.First, s.Last, since, until)
}

// Overlaps reports whether some of what was received can be in [since, until). A zero time
// is no bound.
func (s *Sum) Overlaps(since, until time.Time) bool {
	return store.Overlaps(s.First, s.Last, since, until)
}

func byStart(s Sum, start uint32) int { return cmp.Compare(s.Start, start) }

// withSum returns sums with s added, in place of what is there of the same start.
func withSum(sums []Sum, s Sum) []Sum {
	sums = slices.Clone(sums)
	i, found := slices.BinarySearchFunc(sums, s.Start, byStart)
	if found {
		sums[i] = s
		return sums
	}
	return slices.Insert(sums, i, s)
}

// sumBytes is the length of a sum without sources in a list of times.
const sumBytes = 4 + 4*8 + 4

// appendTimes appends a list of times. Its length depends on the numbers of sums and of
// their sources alone, so the header can be written when the other values are known.
func appendTimes(dst []byte, sums []Sum) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(sums)))
	for _, s := range sums {
		dst = binary.BigEndian.AppendUint32(dst, s.Start)
		dst = binary.BigEndian.AppendUint64(dst, uint64(s.First))
		dst = binary.BigEndian.AppendUint64(dst, uint64(s.Last))
		dst = binary.BigEndian.AppendUint64(dst, s.Traces)
		dst = binary.BigEndian.AppendUint64(dst, s.Missing)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(s.Sources)))
		for _, source := range s.Sources {
			dst = binary.BigEndian.AppendUint32(dst, source)
		}
	}
	return dst
}

// times reads a list of times.
func (d *decoder) times() []Sum {
	sums := make([]Sum, 0, d.Fit(uint64(d.Uint32(binary.BigEndian)), sumBytes))
	for range cap(sums) {
		s := Sum{Start: d.Uint32(binary.BigEndian), First: int64(d.Uint64(binary.BigEndian)), Last: int64(d.Uint64(binary.BigEndian)), Traces: d.Uint64(binary.BigEndian), Missing: d.Uint64(binary.BigEndian)}
		if n := d.Fit(uint64(d.Uint32(binary.BigEndian)), 4); n > 0 {
			s.Sources = make([]uint32, n)
		}
		for i := range s.Sources {
			s.Sources[i] = d.Uint32(binary.BigEndian)
		}
		if n := len(sums); n > 0 && sums[n-1].Start >= s.Start {
			d.Fail("times are not sorted")
		}
		if d.Err() != nil {
			return nil
		}
		sums = append(sums, s)
	}
	return sums
}

// String returns when the time of the sum begins.
func (s Sum) String() string {
	return fmt.Sprintf("%s: %d traces, %d missing", TimeOf(s.Start).Format("2006-01-02T15:04"), s.Traces, s.Missing)
}
