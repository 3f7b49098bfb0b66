package local

import (
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// midnight is the beginning of the day of these tests.
var midnight = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

func at(hours float64) time.Time { return midnight.Add(time.Duration(hours * float64(time.Hour))) }

// hoursOf returns sums of whole hours from midnight on.
func hoursOf(from, to int) (out []rollups.Sum) {
	for h := from; h < to; h++ {
		begin := at(float64(h))
		out = append(out, rollups.Sum{Start: rollups.Minutes(begin), First: begin.UnixMicro(), Last: begin.Add(time.Hour - time.Microsecond).UnixMicro()})
	}
	return out
}

func TestDaysToRoll(t *testing.T) {
	t.Parallel()
	end := at(24)
	made := func(of []rollups.Sum) rollups.Sum {
		return rollups.Sum{Start: rollups.Minutes(midnight), Sources: sourcesOf(of)}
	}
	for _, tt := range []struct {
		name  string
		hours []rollups.Sum
		days  []rollups.Sum
		open  []time.Time
		now   time.Time
		want  int
	}{
		{"over", hoursOf(3, 7), nil, nil, end.Add(lateness), 1},
		{"not quite over", hoursOf(3, 7), nil, nil, end.Add(lateness - 1), 0},
		{"made", hoursOf(3, 7), []rollups.Sum{made(hoursOf(3, 7))}, nil, at(25), 0},
		{"made before an hour came", hoursOf(3, 8), []rollups.Sum{made(hoursOf(3, 7))}, nil, at(25), 1},
		{"made of more than there is", hoursOf(5, 9), []rollups.Sum{made(hoursOf(3, 7))}, nil, at(25), 0},
		{"an hour is not summed up", hoursOf(3, 7), nil, []time.Time{at(23)}, at(25), 0},
		{"an hour of the next day is not", hoursOf(3, 7), nil, []time.Time{at(24)}, at(25), 1},
		{"two days", hoursOf(23, 25), nil, nil, at(49), 2},
	} {
		got := daysToRoll(tt.hours, tt.days, tt.open, tt.now)
		if len(got) != tt.want || !slices.IsSortedFunc(got, func(a, b dayToRoll) int { return int(a.start) - int(b.start) }) {
			t.Errorf("%s: got %d days, want %d", tt.name, len(got), tt.want)
		}
	}
}
