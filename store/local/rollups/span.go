package rollups

import (
	"strings"
	"time"
)

// Span says what a file has the sums of.
type Span uint8

const (
	Hours Span = iota // the partitions of traces of one day
	Days              // the days of one month
	spans
)

// suffix ends the name of every file of sums. Directories of an older layout are named
// 20261120.hours, without it.
const suffix = ".sums"

// String returns "hours" or "days".
func (s Span) String() string {
	switch s {
	case Hours:
		return "hours"
	case Days:
		return "days"
	}
	return "unknown span"
}

// layout is how the names of files write the start of their time.
func (s Span) layout() string {
	if s == Days {
		return "200601"
	}
	return "20060102"
}

// StartOf returns the start of the day or month that has t, in UTC.
func (s Span) StartOf(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	if s == Days {
		d = 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// EndOf returns the end of the day or month that has t, in UTC. It is not part of it.
func (s Span) EndOf(t time.Time) time.Time {
	if s == Days {
		return s.StartOf(t).AddDate(0, 1, 0)
	}
	return s.StartOf(t).AddDate(0, 0, 1)
}

// Name returns the name of the file of s whose time has t, such as "20261120.hours.sums".
func (s Span) Name(t time.Time) string {
	return s.StartOf(t).Format(s.layout()) + "." + s.String() + suffix
}

// ParseName returns what the file called name is of and the start of its time. It returns
// false for a name that [Span.Name] does not return.
func ParseName(name string) (Span, time.Time, bool) {
	for s := range spans {
		text, ok := strings.CutSuffix(name, "."+s.String()+suffix)
		if !ok {
			continue
		}
		t, err := time.Parse(s.layout(), text)
		return s, t, err == nil && s.Name(t) == name
	}
	return 0, time.Time{}, false
}

// Minutes returns t in minutes since the epoch, as times are named in files.
func Minutes(t time.Time) uint32 { return uint32(t.Unix() / 60) }

// TimeOf returns the time of a number of minutes since the epoch, in UTC.
func TimeOf(minutes uint32) time.Time { return time.Unix(int64(minutes)*60, 0).UTC() }
