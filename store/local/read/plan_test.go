package read

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/local/part"
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

func startsOf(list []rollups.Sum) (out []uint32) {
	for _, x := range list {
		out = append(out, x.Start)
	}
	return out
}

// filesOf returns files of sums of some times.
func filesOf(t *testing.T, span rollups.Span, list ...rollups.Sum) []*rollups.File {
	t.Helper()
	shelf, err := rollups.Load(t.TempDir(), rollups.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		w, err := shelf.Edit(span, x.Start, x.Sources...)
		if err == nil {
			_, err = w.Commit(x)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return shelf.Files()
}

func tracesAt(h int) part.Info {
	x := hoursOf(h, h+1)[0]
	return part.Info{Partition: &part.Partition{Name: fmt.Sprintf("t%d", h), Start: rollups.TimeOf(x.Start)},
		Contents: part.Contents{Commits: 1, First: x.First, Last: x.Last}}
}

func planned(pieces []piece) string {
	var out []string
	for _, x := range pieces {
		text := ""
		if x.file == nil {
			text = x.p.Name
		} else {
			text = fmt.Sprintf("%.1s:%d", x.file.Span(), (int(x.sum.Start)-int(rollups.Minutes(midnight)))/60)
		}
		if x.widened {
			text += "!"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestPlan(t *testing.T) {
	t.Parallel()
	day := filesOf(t, rollups.Days, rollups.Sum{Start: rollups.Minutes(midnight), Sources: startsOf(hoursOf(0, 24)), First: at(0).UnixMicro(), Last: at(24).UnixMicro() - 1})
	hours := filesOf(t, rollups.Hours, hoursOf(22, 26)...)
	both := append(slices.Clone(day), hours...)
	parts := []part.Info{tracesAt(23), tracesAt(24), tracesAt(25), tracesAt(26)}
	jumped := tracesAt(30) // the clock went back while it was written to
	jumped.First = at(27).UnixMicro()
	faulty := tracesAt(22)
	faulty.Contents, faulty.Fault = part.Contents{}, part.ErrGone
	for _, tt := range []struct {
		name         string
		parts        []part.Info
		files        []*rollups.File
		since, until time.Time
		want         string
	}{
		{"all", parts, both, time.Time{}, time.Time{}, "d:0 h:24 h:25 t26"},
		{"a part of the day, of which hours are gone", parts, both, at(12), time.Time{}, "h:22 h:23 h:24 h:25 t26"},
		{"the day alone is left", parts[3:], day, at(12), time.Time{}, "d:0! t26"},
		{"the day alone is left, and not asked for", parts[3:], day, at(24), time.Time{}, "t26"},
		{"part of an hour", parts, both, at(23.5), at(25), "h:24 t23"},
		{"part of an hour without traces", parts[1:], both, at(23.5), at(25), "h:23! h:24"},
		{"no sums", parts, nil, at(23.5), at(25), "t23 t24"},
		{"a clock that went back", []part.Info{jumped}, filesOf(t, rollups.Hours, rollups.Sum{Start: rollups.Minutes(jumped.Start), First: jumped.First, Last: jumped.Last}),
			at(30), time.Time{}, "t30"},
		{"one that may hold anything", []part.Info{faulty, parts[3]}, nil, at(26), time.Time{}, "t22 t26"},
	} {
		if got := planned(planOf(tt.parts, tt.files, tt.since, tt.until)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
