package watch

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

func estimated(value, half float64) compare.Estimate {
	return compare.Estimate{Value: value, Low: new(value - half), High: new(value + half)}
}

var noon = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

// of returns a finding that release b changed w on page by value, from 100 in release a.
func of(page string, w What, value float64) Finding {
	return Finding{What: w, Detector: ByRelease, Release: "b", CompareRelease: "a", Begin: noon, Script: 500,
		PageChange: PageChange{Page: page, Views: compare.Pair{A: 5000, B: 5000}, Value: compare.Pair{A: 100,
			B: 100 + value}, Change: estimated(value, abs(value)/4), Level: 0.99}}
}

func abs(x float64) float64 { return max(x, -x) }

func functionNamed(name, file string) What {
	return What{Kind: OfFunction, Metric: "self", Function: &compare.Place{Name: name, Resource: file, Line: 3,
		Column: 1}}
}

// One callee on forty pages, which makes all of them slower, is one change with forty pages, in any
// order of the findings.
func TestGroupOneCause(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 5))
	var findings []Finding
	for i := range 40 {
		page := fmt.Sprintf("/p%02d", i)
		findings = append(findings, of(page, functionNamed("format", "https://x.example/app-4f5e6d7c.js"),
			20+float64(i)),
			of(page, What{Kind: OfPage, Metric: "js"}, 19+float64(i)), of(page, What{Kind: OfFeature, Metric: "js",
				Feature: "list"}, 20+float64(i)),
			of(page, What{Kind: OfVital, Metric: "inp"}, 15))
	}
	var first string
	for range 20 {
		rng.Shuffle(len(findings), func(i, k int) { findings[i], findings[k] = findings[k], findings[i] })
		got := Group(findings, nil, noon.Add(time.Hour))
		if len(got) != 1 || len(got[0].Pages) != 40 || got[0].What.Kind != OfFunction || got[0].Direction != Slower ||
			got[0].Pages[0].Page != "/p39" {
			t.Fatalf("%d changes: %+v", len(got), got)
		}
		if len(got[0].ID) != 16 || first != "" && got[0].ID != first {
			t.Fatalf("id %q, before %q", got[0].ID, first)
		}
		first = got[0].ID
		if more := Group(findings, got, noon.Add(2*time.Hour)); len(more) != 0 {
			t.Errorf("known changes were reported again: %+v", more)
		}
		text, err := json.Marshal(got[0])
		if err != nil || len(text) > 100_000 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
	other := Group([]Finding{of("/p01", functionNamed("format", "https://x.example/app-9a8b7c6d.js"), 20)}, nil, noon)
	if other[0].ID != first {
		t.Errorf("a new hash in a file name makes another change: %s, %s", other[0].ID, first)
	}
}

// Findings that no function explains are changes of the page; changes of other functions, pages or
// releases are separate.
func TestGroupApart(t *testing.T) {
	page := of("/a", What{Kind: OfPage, Metric: "js"}, 200)
	small := of("/a", functionNamed("tick", "a.js"), 10)
	elsewhere := of("/b", functionNamed("tock", "a.js"), 10)
	later := small
	later.Release, later.Begin = "c", noon.Add(time.Hour)
	got := Group([]Finding{page, small, elsewhere, later}, nil, noon)
	if len(got) != 4 {
		t.Fatalf("%d changes", len(got))
	}
	ids := map[string]bool{}
	for _, c := range got {
		ids[c.ID] = true
		if len(c.Consequences) > 0 {
			t.Errorf("%+v has consequences", c.What)
		}
	}
	if len(ids) != 4 {
		t.Errorf("ids: %v", ids)
	}
}

// Functions between which time moved are one change that causes no notification, also when it is
// found again.
func TestGroupMoved(t *testing.T) {
	from, to := of("/a", functionNamed("old", "a.js"), -50), of("/a", functionNamed("extracted", "a.js"), 48)
	from.Moved, from.With = true, []Consequence{{Page: "/a", What: to.What, Change: to.Change}}
	to.Moved, to.With = true, []Consequence{{Page: "/a", What: from.What, Change: from.Change}}
	got := Group([]Finding{from, to}, nil, noon)
	if len(got) != 1 || got[0].Direction != Moved {
		t.Fatalf("%+v", got)
	}
	from.Moved, to.Moved = false, false
	if more := Group([]Finding{from, to}, got, noon.Add(3*time.Hour)); len(more) != 0 {
		t.Errorf("moved time was reported again: %+v", more)
	}
}

// Hours with bots or without traffic are not compared.
func TestUsualHours(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var traffic Traffic
	start := noon.Add(-8 * day)
	for h := range 8 * 24 {
		views := int64(200 + rng.IntN(40) + 100*(h%24)/24)
		switch {
		case h >= 150 && h < 153:
			views *= 5
		case h >= 170 && h < 175:
			continue
		}
		traffic.Hours = append(traffic.Hours, ReleaseHour{start.Add(time.Duration(h) * time.Hour), "a", views})
	}
	table := tableOf(traffic)
	for h, odd := range table.odd() {
		if want := h >= 150 && h < 153 || h >= 170 && h < 175; odd != want {
			t.Errorf("hour %d: odd %t", h, odd)
		}
	}
	got := table.usual(Span{"a", start.Add(140 * time.Hour), start.Add(190 * time.Hour)})
	if !got.Since.Equal(start.Add(153*time.Hour)) || !got.Until.Equal(start.Add(170*time.Hour)) {
		t.Errorf("hours %v to %v", got.Since.Sub(start), got.Until.Sub(start))
	}
}
