package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// hoursOf returns rollups of whole hours from midnight of the test's day on.
func hoursOf(from, to int) (out []rolled) {
	for h := from; h < to; h++ {
		begin := noon.Truncate(24 * time.Hour).Add(time.Duration(h) * time.Hour)
		out = append(out, rolled{Start: minutes(begin), First: begin.UnixMicro(), Last: begin.Add(time.Hour - time.Microsecond).UnixMicro()})
	}
	return out
}

func sumOf(p *partition, list ...rolled) *partition {
	for _, r := range list {
		p.put(r)
	}
	return p
}

func tracesAt(h int) *partition {
	r := hoursOf(h, h+1)[0]
	return &partition{name: fmt.Sprintf("t%d", h), start: timeOfMinutes(r.Start), contents: contents{Commits: 1, First: r.First, Last: r.Last}}
}

func planned(parts []part) string {
	var out []string
	for _, x := range parts {
		text := x.p.name
		if x.span != traces {
			text = fmt.Sprintf("%s:%d", x.p.name, (x.start-minutes(noon.Truncate(24*time.Hour)))/60)
		}
		if x.widened {
			text += "!"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestPlan(t *testing.T) {
	at := func(h float64) time.Time {
		return noon.Truncate(24 * time.Hour).Add(time.Duration(h * float64(time.Hour)))
	}
	day := rolled{Start: minutes(at(0)), Sources: startsOf(hoursOf(0, 24)), First: at(0).UnixMicro(), Last: at(24).UnixMicro() - 1}
	hour := sumOf(&partition{name: "h", span: hours}, hoursOf(22, 26)...)
	allDays := sumOf(&partition{name: "d", span: days}, day)
	parts := []*partition{tracesAt(23), tracesAt(24), tracesAt(25), tracesAt(26)}
	jumped := tracesAt(30) // the clock went back while it was written to
	jumped.First = at(27).UnixMicro()
	for _, tt := range []struct {
		name         string
		parts, sums  []*partition
		since, until time.Time
		want         string
	}{
		{"all", parts, []*partition{allDays, hour}, time.Time{}, time.Time{}, "d:0 h:24 h:25 t26"},
		{"a part of the day, of which hours are gone", parts, []*partition{allDays, hour}, at(12), time.Time{}, "h:22 h:23 h:24 h:25 t26"},
		{"the day alone is left", parts[3:], []*partition{allDays}, at(12), time.Time{}, "d:0! t26"},
		{"the day alone is left, and not asked for", parts[3:], []*partition{allDays}, at(24), time.Time{}, "t26"},
		{"part of an hour", parts, []*partition{allDays, hour}, at(23.5), at(25), "h:24 t23"},
		{"part of an hour without traces", parts[1:], []*partition{allDays, hour}, at(23.5), at(25), "h:23! h:24"},
		{"no rollups", parts, nil, at(23.5), at(25), "t23 t24"},
		{"a clock that went back", []*partition{jumped}, []*partition{sumOf(&partition{name: "h", span: hours},
			rolled{Start: minutes(jumped.start), First: jumped.First, Last: jumped.Last})}, at(30), time.Time{}, "t30"},
	} {
		if got := planned(plan(tt.parts, tt.sums, tt.since, tt.until)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestDaysToRoll(t *testing.T) {
	midnight := noon.Truncate(24 * time.Hour).Add(24 * time.Hour)
	made := func(of []rolled) rolled {
		return rolled{Start: minutes(midnight.Add(-24 * time.Hour)), Sources: startsOf(of)}
	}
	for _, tt := range []struct {
		name  string
		hours []rolled
		days  []rolled
		open  []lifetime
		now   time.Time
		want  int
	}{
		{"over", hoursOf(3, 7), nil, nil, midnight.Add(lateness), 1},
		{"not quite over", hoursOf(3, 7), nil, nil, midnight.Add(lateness - 1), 0},
		{"made", hoursOf(3, 7), []rolled{made(hoursOf(3, 7))}, nil, midnight.Add(time.Hour), 0},
		{"made before an hour came", hoursOf(3, 8), []rolled{made(hoursOf(3, 7))}, nil, midnight.Add(time.Hour), 1},
		{"an hour is not rolled up", hoursOf(3, 7), nil, []lifetime{{start: midnight.Add(-time.Hour)}}, midnight.Add(time.Hour), 0},
		{"an hour of the next day is not", hoursOf(3, 7), nil, []lifetime{{start: midnight}}, midnight.Add(time.Hour), 1},
		{"two days", hoursOf(23, 25), nil, nil, midnight.Add(25 * time.Hour), 2},
	} {
		got := daysToRoll(tt.hours, tt.days, tt.open, tt.now)
		if len(got) != tt.want || !slices.IsSortedFunc(got, func(a, b dayToRoll) int { return int(a.start) - int(b.start) }) {
			t.Errorf("%s: got %d days, want %d", tt.name, len(got), tt.want)
		}
	}
}
