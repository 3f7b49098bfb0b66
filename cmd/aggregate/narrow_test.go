package main

import (
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/cost"
	"github.com/fieldtrie/fieldtrie/query/file"
	"github.com/fieldtrie/fieldtrie/query/vital"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
)

// On a terminal of 80 columns no line is longer, whatever the names, unless a single word is.
func TestNarrow(t *testing.T) {
	long := "calculateDiscountsOfTheShoppingCartWithVouchersÜberAll"
	place := compare.Place{Name: long, Resource: "src/components/checkout/" + long + ".tsx", Line: 1234, Column: 567}
	page := "/catalogue/products/:id/reviews/:review/comments"
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	estimate := query.Estimate{Value: 1234.567, Low: 1111.1, High: 1333.3}
	changed := compare.Estimate{Value: 1234.567, Low: new(1111.1), High: new(1333.3)}
	change := changes.Item{Title: long + " became slower by 1235 ms on " + page + " and 12 more pages", Owner: long,
		Team: long,
		Change: watch.Change{ID: "4d430d0d6c8c01fb", State: watch.Acknowledged, Direction: watch.Slower,
			Detector: watch.ByRelease,
			Release:  "2026.11.28-" + long, CompareRelease: "2026.11.27-" + long, Begin: now, Found: now,
			What: watch.What{Kind: watch.OfFunction, Metric: "self", Function: &place},
			Pages: []watch.PageChange{{Page: page, Views: compare.Pair{A: 123456, B: 654321},
				Value: compare.Pair{A: 20, B: 1254.567}, Change: changed}, {Page: page}},
			Consequences: []watch.Consequence{{Page: page, What: watch.What{Kind: watch.OfFeature, Feature: long},
				Change: changed}},
			Causes: []watch.Cause{{Text: long + " was edited in " + place.Resource +
				" by a commit that has more words than a line", Commits: []watch.Commit{{SHA: "1a2b3c4d5e6f",
				Title: "checkout: calculate discounts once for each of the rows", Author: "Ann"}}}},
		}}
	difference := cost.Difference{Profiled: 12345.6, Control: 12111.1, Value: 234.5, Low: 123.4, High: 345.6,
		Status: "slower", Relative: &cost.Between{Value: 0.019, Low: 0.01, High: 0.028}}
	var differences []cost.Difference
	for _, what := range []string{"p50", "p75", "p95", "geomean", "poor"} {
		difference.What = what
		differences = append(differences, difference)
	}
	var parts []vital.Part
	for _, name := range []string{"time-to-first-byte", "resource-load-delay", "resource-load-time",
		"element-render-delay"} {
		parts = append(parts, vital.Part{Name: name, P75: estimate})
	}
	lcp := vital.Report{Name: "lcp", Unit: "ms", Views: 1234567, PageViews: 1234567, P50: estimate, P75: estimate,
		P95: estimate, Rating: "needs improvement", Parts: parts,
		Elements: []vital.Element{{Element: "main#" + long + ">section.reviews>img", Views: 1234567, Share: 0.5,
			P75: estimate, Rating: "needs improvement", Parts: parts}}}
	for name, write := range map[string]func(io.Writer, terminal.Screen) error{
		"budgets": func(w io.Writer, s terminal.Screen) error {
			return writeBudgets(w, s, []budget.Status{{Name: long, Owner: "@shop/" + long, Page: page,
				Metric: budget.P75, Of: budget.Self, Function: &budget.Function{Name: long}, Unit: "percent",
				Verdict: budget.TooFew, Value: &estimate, Limit: 1200, Views: 1234567,
				Text: strings.Repeat("an explanation ", 12)}})
		},
		"changes": func(w io.Writer, s terminal.Screen) error {
			list := changes.List{Changes: []changes.Item{change}, Evaluated: now}
			return list.WriteText(w, s, now)
		},
		"change": func(w io.Writer, s terminal.Screen) error {
			r := changes.Report{Item: change, Series: &changes.Series{Page: page, Unit: "ms",
				Points: []changes.Point{{Time: now, Value: changed, Views: 1234567}},
				Releases: []changes.Release{{Release: change.Release, Begin: now}, {Release: change.CompareRelease,
					Begin: now}}}}
			return r.WriteText(w, s)
		},
		"cost": func(w io.Writer, s terminal.Screen) error {
			r := cost.Report{Control: "header", Arms: []cost.Arm{{Name: "profiled", Views: 1234567,
				PageViews: 1234567}}, Missing: []string{strings.Repeat("a reason ", 12)},
				Vitals: []cost.Vital{{Name: "lcp", Unit: "ms", Differences: differences, ViewsForOnePercent: 1234567,
					Hours: 1234}}}
			return r.WriteText(w, s)
		},
		"edits": func(w io.Writer, s terminal.Screen) error {
			return writeEdits(w, s, query.Edits{Release: change.Release, CompareRelease: change.CompareRelease,
				Counts:    map[edits.Kind]int{edits.Edited: 12345},
				Functions: []query.EditedFunction{{Change: edits.Recompiled, Place: place, Owner: long}}})
		},
		"threads": func(w io.Writer, s terminal.Screen) error {
			return writeThreads(w, s, []file.ThreadEntry{{File: "Trace-20261128T120000-" + long + ".json.gz",
				Process: 1234567, ProcessName: "Renderer of " + page, Thread: 1234567,
				Name:   "CrRendererMain of " + long,
				Events: 12345678, Source: "Internal", ID: "0x123456789", Samples: 12345678, Micros: 123456789012,
				Main: true}})
		},
		"vitals": func(w io.Writer, s terminal.Screen) error {
			return vital.WriteText(w, s, []vital.Page{{Page: page, Vitals: []vital.Report{lcp}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := write(&b, terminal.Screen{Width: 80}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 &&
					len(strings.Fields(line)) > 1 {
					t.Errorf("%d characters: %s", n, line)
				}
			}
		})
	}
}
