package part

import (
	"slices"
	"testing"
	"time"
)

func TestNames(t *testing.T) {
	t.Parallel()
	var names []string
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for m := 0; m < 24*60; m += 15 {
		names = append(names, Name(day.Add(time.Duration(m)*time.Minute)))
	}
	if !slices.IsSorted(names) {
		t.Errorf("names do not sort by time: %v", names)
	}
	for i, name := range names {
		got, ok := ParseName(name)
		if want := day.Add(time.Duration(i) * 15 * time.Minute); !ok || !got.Equal(want) {
			t.Errorf("parse %s: got %v, %v, want %v", name, got, ok, want)
		}
	}
	for _, bad := range []string{"", "FORMAT", "20261121", "20261121T24", "20261121T1000", "20261121T10.corrupt", "20261121T10x", "20261121.hours"} {
		if _, ok := ParseName(bad); ok {
			t.Errorf("%q is taken for a partition", bad)
		}
	}
	for name, want := range map[string]string{"20261121T10.corrupt": "20261121T10", "20261121T1030.corrupt.2": "20261121T1030",
		"20261121T10": "", "20261121T10.corrupt.deleting": "", "20261121T10.corrupt.x": ""} {
		if got, ok := ParseAsideName(name); got != want || ok != (want != "") {
			t.Errorf("parse %s: got %q, %v, want %q", name, got, ok, want)
		}
	}
	zone := time.FixedZone("", 5*3600+1800)
	if got, want := Name(StartOf(noon.In(zone), time.Hour)), "20261121T12"; got != want {
		t.Errorf("in another zone: got %s, want %s", got, want)
	}
	taken := []string{"a.corrupt", "a.corrupt.2"}
	if got, want := AsideName("a", func(s string) bool { return slices.Contains(taken, s) }), "a.corrupt.3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWriteTarget(t *testing.T) {
	t.Parallel()
	hour := func(h int) time.Time { return noon.Truncate(time.Hour).Add(time.Duration(h) * time.Hour) }
	for _, tt := range []struct {
		name   string
		newest time.Time
		sealed bool
		width  time.Duration
		want   time.Time
	}{
		{"the first", time.Time{}, false, time.Hour, hour(0)},
		{"within the hour", hour(0), false, time.Hour, hour(0)},
		{"within the hour, sealed", hour(0), true, time.Hour, hour(1)},
		{"a new hour", hour(-3), true, time.Hour, hour(0)},
		{"the clock went back", hour(3), false, time.Hour, hour(3)},
		{"the clock went back, sealed", hour(3), true, time.Hour, hour(4)},
		{"narrower than before", hour(0), false, 15 * time.Minute, hour(0).Add(30 * time.Minute)},
		{"wider than before", hour(0).Add(30 * time.Minute), false, time.Hour, hour(0).Add(30 * time.Minute)},
		{"wider than before, sealed", hour(0).Add(30 * time.Minute), true, time.Hour, hour(1)},
	} {
		if got := WriteTarget(noon, tt.newest, tt.sealed, tt.width); !got.Equal(tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestContents(t *testing.T) {
	t.Parallel()
	at := func(m int) time.Time { return noon.Add(time.Duration(m) * time.Minute) }
	c := Contents{Commits: 1, First: at(0).UnixMicro(), Last: at(10).UnixMicro()}
	for _, tt := range []struct {
		since, until time.Time
		want         bool
	}{
		{time.Time{}, time.Time{}, true},
		{at(10), time.Time{}, true},
		{at(10).Add(time.Microsecond), time.Time{}, false},
		{time.Time{}, at(0), false},
		{time.Time{}, at(0).Add(time.Microsecond), true},
		{at(3), at(4), true},
	} {
		if got := c.Overlaps(tt.since, tt.until); got != tt.want {
			t.Errorf("from %v to %v: got %v, want %v", tt.since, tt.until, got, tt.want)
		}
	}
	if (&Contents{}).Overlaps(time.Time{}, time.Time{}) {
		t.Error("a partition without commits has something of some time")
	}
	unknown := Aside{Start: at(-30)} // of which nothing but its name is known
	for since, want := range map[time.Time]bool{at(29): true, at(30): false} {
		if got := unknown.MayOverlap(since, time.Time{}, time.Hour); got != want {
			t.Errorf("unknown contents since %v: got %v, want %v", since, got, want)
		}
	}
}
