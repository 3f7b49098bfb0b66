package read

import (
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

func TestAsOf(t *testing.T) {
	at := time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)
	const second = time.Second
	for _, tt := range []struct {
		what    string
		seen    time.Duration   // the manifest's time, relative to the listing
		waiting []time.Duration // times of segments that are not in the manifest
		taken   []time.Duration // times of segments that are in the manifest
		want    time.Duration
	}{
		{"no segment waits", -time.Minute, nil, nil, 0},
		{"everything is rolled up", -time.Minute, nil, []time.Duration{-second}, 0},
		{"a segment waits", -time.Minute, []time.Duration{-10 * second}, nil, -10 * second},
		{"the oldest of several waits", -time.Minute, []time.Duration{-5 * second, -20 * second}, nil, -20 * second},
		{"the roller saw more than the listing", second, []time.Duration{-10 * second}, nil, second},
		{"a roller's clock is ahead", layout.SureOfTime, []time.Duration{-10 * second}, nil, -10 * second},
		{"a roller's clock is far ahead", 24 * time.Hour, nil, nil, 0},
	} {
		l := &layout.Listing{At: at}
		m := &layout.Manifest{AsOf: at.Add(tt.seen).UnixMicro(), Instances: map[string]*layout.Consumed{}}
		seq := uint64(0)
		segment := func(put time.Duration) layout.Segment {
			seq++
			s := layout.Segment{Hour: layout.HourOf(at), Instance: "0123456789ab", Seq: seq}
			l.List = append(l.List, layout.Listed{Segment: s, Modified: at.Add(put)})
			return s
		}
		for _, put := range tt.waiting {
			segment(put)
		}
		for _, put := range tt.taken {
			m.Take(segment(put), at)
		}
		if got := asOf(l, m).Sub(at); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.what, got, tt.want)
		}
	}
}
