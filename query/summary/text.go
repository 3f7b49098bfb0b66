package summary

import (
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
)

// WriteText writes a comparison as text for a terminal, with at most rows functions, or all if rows
// is not above 0. sides has the selections of A and B as text; "" means all page views.
func WriteText(w io.Writer, s terminal.Screen, sides [2]string, r *query.Comparison, rows int) error {
	fmt.Fprintf(w, "A: %.0f page views%s\nB: %.0f page views%s\n\n", r.Views.A, output.Printable(sides[0]), r.Views.B,
		output.Printable(sides[1]))
	t, byRest := changesTable(s, r, rows)
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	if n := r.NotEdited; n != nil && r.Enough && rows > 0 && n.Functions > 0 {
		fmt.Fprintf(w, "%s.\n(--rows 0 lists them)\n", notEdited(n))
	}
	if err := writeVitalChanges(w, s, r, rows); err != nil {
		return err
	}
	if !r.Enough {
		_, err := fmt.Fprintf(w, `
Not known yet: CHANGE is the difference as it was measured, with its interval of 95 %%. What of it is
code and what traffic can be said from %d page views on each side: ask for a longer time, wait, or
lower that by --min-views.
`, r.MinViews)
		return err
	}
	if byRest {
		fmt.Fprint(w, `
† Adjusted for longer or shorter page views. The unadjusted change is within noise.
`)
	}
	alarms := 0
	for _, f := range r.Functions {
		if f.Status.Alarm() {
			alarms++
		}
	}
	_, err := fmt.Fprintf(w, `
%d of %d functions changed by more than noise. At most %.0f %% of such findings are
false. CHANGE is B less A, in mean self time. B is adjusted to the traffic of A; MIX
is the part of the measured difference that comes from other traffic. Intervals are
corrected for the number of tests: those of changes exclude 0, those within noise
include it.
Here %s.
`, alarms, r.Tested, 100*r.FalseDiscovery, output.PrintableLines(r.Note))
	return err
}

func changeColor(status string) terminal.Color {
	switch compare.Status(status) {
	case compare.Slower, compare.New:
		return terminal.Red
	case compare.Faster, compare.Gone:
		return terminal.Green
	}
	return terminal.Plain
}

// between returns the interval of a change, "" without one.
func between(s terminal.Screen, low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return s.Interval(*low, *high, terminal.Signed)
}

// changesTable returns the table of the changes that are listed, and whether one is at an equal
// rest.
func changesTable(s terminal.Screen, r *query.Comparison, rows int) (t terminal.Table, byRest bool) {
	t = terminal.Table{Screen: s, Columns: []terminal.Column{
		{Title: "MS PER PAGE VIEW", Least: 13}, {Title: "STATUS", Color: changeColor}, {Title: "CODE", Drop: 6},
		{Title: "CHANGE", Right: true}, {Title: "", Drop: 5}, {Title: "%", Right: true, Drop: 3},
		{Title: "A", Right: true, Drop: 4}, {Title: "B", Right: true, Drop: 4},
		{Title: "SHARE", Right: true, Drop: 7}, {Title: "MIX", Right: true, Drop: 9}, {Title: "VIEWS A", Right: true,
			Drop: 8}, {Title: "VIEWS B", Right: true, Drop: 8}}}
	row := func(name string, code compare.Code, x *compare.Change, share *float64, seen *compare.Pair) {
		relative, shared, mix, a, b := "", "", "", "", ""
		if x.Relative != nil {
			relative = terminal.Signed(100 * *x.Relative)
		}
		if share != nil {
			shared = fmt.Sprintf("%.0f %%", 100**share)
		}
		if x.Mix != nil {
			mix = terminal.Signed(x.Mix.Value)
		}
		if seen != nil {
			a, b = fmt.Sprintf("%.0f", seen.A), fmt.Sprintf("%.0f", seen.B)
		}
		if x.ByRest {
			byRest = true
			name += " †"
		}
		t.Row(output.Printable(name), string(x.Status), string(code), terminal.Signed(x.Shown.Value),
			between(s, x.Shown.Low, x.Shown.High), relative,
			terminal.Number(x.Mean.A), terminal.Number(x.Mean.B), shared, mix, a, b)
	}
	row("JavaScript", "", &r.Total, nil, &r.Views)
	for i := range r.Features {
		row("feature "+r.Features[i].Name, "", &r.Features[i].Change, nil, nil)
	}
	for i, left := 0, rows; r.Enough && i < len(r.Functions) && (rows <= 0 || left > 0); i++ {
		f := &r.Functions[i]
		if rows > 0 && r.Folded(f) {
			continue
		}
		left--
		name := place(f.Place)
		if f.From != nil {
			name += ", was " + place(*f.From)
		}
		row(name, f.Code, &f.Change, f.Share, &f.Reach)
	}
	return t, byRest
}

// writeVitalChanges writes the changes of Web Vitals, and of the functions in slow
// interactions, if the comparison has them.
func writeVitalChanges(w io.Writer, s terminal.Screen, r *query.Comparison, rows int) error {
	if len(r.Vitals) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := terminal.Table{Screen: s, Columns: []terminal.Column{{Title: "WEB VITAL, P75"},
		{Title: "STATUS", Color: changeColor},
		{Title: "CHANGE", Right: true}, {Title: "", Drop: 1}, {Title: "A", Right: true}, {Title: "B", Right: true}}}
	for _, v := range r.Vitals {
		name := strings.ToUpper(v.Name)
		if v.Unit == "ms" {
			name += ", ms"
		}
		var low, high *float64
		if d := &v.Difference; d.Low != 0 || d.High != 0 {
			low, high = &d.Low, &d.High
		}
		t.Row(name, string(v.Status), terminal.Signed(v.Difference.Value), between(s, low, high),
			terminal.Number(v.A.Value), terminal.Number(v.B.Value))
	}
	if _, err := t.WriteTo(w); err != nil || r.Slow == nil {
		return err
	}
	slow := r.Slow
	fmt.Fprintf(w, "\nSlow interactions in 1,000 page views: %.0f of A, %.0f of B. Their JavaScript:\n\n", slow.Views.A,
		slow.Views.B)
	t = terminal.Table{Screen: s, Columns: []terminal.Column{{Title: "MS PER 1,000 PAGE VIEWS", Least: 20},
		{Title: "CHANGE", Right: true}, {Title: "A", Right: true}, {Title: "B", Right: true}}}
	t.Row("JavaScript", terminal.Signed(slow.Time.B-slow.Time.A), terminal.Number(slow.Time.A),
		terminal.Number(slow.Time.B))
	functions := slow.Functions
	if rows > 0 && len(functions) > rows {
		functions = functions[:rows]
	}
	for _, f := range functions {
		t.Row(output.Printable(place(f.Place)), terminal.Signed(f.Time.B-f.Time.A), terminal.Number(f.Time.A),
			terminal.Number(f.Time.B))
	}
	_, err := t.WriteTo(w)
	return err
}

// notEdited sums up the folded functions in a sentence without its full stop.
func notEdited(n *compare.NotEdited) string {
	were := fmt.Sprintf("%d more functions were not edited", n.Functions)
	if n.Functions == 1 {
		were = "1 more function was not edited"
	}
	if n.Changed == 0 {
		return were + "; none changed by more than noise"
	}
	return fmt.Sprintf("%s; %d of them changed, by at most %s ms: %s", were, n.Changed, terminal.Signed(n.Change.Value),
		output.Printable(place(*n.Largest)))
}

// place writes the name of a function and where it is.
func place(p compare.Place) string {
	return output.Location(trie.Frame{Name: p.Name, Resource: p.Resource, Line: p.Line, Column: p.Column})
}
