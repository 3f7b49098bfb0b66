package vital

import (
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/sums"
)

// WriteText writes tables for a terminal: the Web Vitals of pages and, if they have elements, the
// parts and elements of each.
func WriteText(w io.Writer, s terminal.Screen, pages []Page) error {
	t := terminal.Table{Screen: s, Columns: []terminal.Column{{Title: "PAGE", Least: 12}, {Title: "VITAL"},
		{Title: "P75", Right: true}, {Drop: 3}, {Title: "RATING", Color: ratingColor},
		{Title: "P50", Right: true, Drop: 5}, {Title: "P95", Right: true, Drop: 4}, {Title: "GOOD", Right: true,
			Drop: 1}, {Title: "POOR", Right: true, Drop: 1},
		{Title: "REPORTS", Right: true, Drop: 2}, {Title: "PAGE VIEWS", Right: true, Drop: 6}}}
	for _, p := range pages {
		for _, v := range p.Vitals {
			t.Row(output.Printable(p.Page), strings.ToUpper(v.Name), terminal.Number(v.P75.Value)+v.unit(),
				bounds(s, v.P75), v.Rating,
				terminal.Number(v.P50.Value), terminal.Number(v.P95.Value), percent(v.Good), percent(v.Poor),
				fmt.Sprint(v.Views), fmt.Sprint(v.PageViews))
		}
	}
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	parts := false
	for _, p := range pages {
		for i := range p.Vitals {
			if v := &p.Vitals[i]; len(v.Elements) > 0 {
				parts = parts || len(v.Parts) > 0
				if err := v.writeElements(w, s); err != nil {
					return err
				}
			}
		}
	}
	if parts {
		fmt.Fprintln(w, "\n"+s.Wrap(
			"In each page view the parts of LCP and INP add up to it. Their percentiles do not.", 0))
	}
	return nil
}

// unit returns the suffix of values.
func (v *Report) unit() string {
	if v.Unit == "score" {
		return ""
	}
	return " ms"
}

func ratingColor(rating string) terminal.Color {
	switch rating {
	case "good":
		return terminal.Green
	case "poor":
		return terminal.Red
	}
	return terminal.Plain
}

// bounds returns the interval of an estimate, or "" if there is none.
func bounds(s terminal.Screen, e sums.Estimate) string {
	if e.High == 0 {
		return ""
	}
	return s.Interval(e.Low, e.High, terminal.Number)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// writeElements writes the elements of v. The last row covers other and unknown elements.
func (v *Report) writeElements(w io.Writer, s terminal.Screen) error {
	fmt.Fprintln(w)
	t := terminal.Table{Screen: s, Columns: []terminal.Column{{Title: strings.ToUpper(v.Name) + " OF", Least: 16},
		{Title: "SHARE", Right: true}, {Title: "P75", Right: true}, {Drop: 5},
		{Title: "RATING", Color: ratingColor, Drop: 2}, {Title: "POOR", Right: true, Drop: 4}, {Title: "REPORTS",
			Right: true, Drop: 3}}}
	for _, part := range v.Parts {
		t.Columns = append(t.Columns, terminal.Column{Title: strings.ToUpper(strings.ReplaceAll(part.Name, "-", " ")),
			Right: true, Drop: 1})
	}
	line := func(name string, x Element) {
		cells := []string{name, fmt.Sprintf("%.1f %%", 100*x.Share), terminal.Number(x.P75.Value) + v.unit(),
			bounds(s, x.P75), x.Rating, percent(x.Poor), fmt.Sprint(x.Views)}
		for _, part := range v.Parts {
			value := ""
			for _, own := range x.Parts {
				if own.Name == part.Name {
					value = terminal.Number(own.P75.Value) + " ms"
				}
			}
			cells = append(cells, value)
		}
		t.Row(cells...)
	}
	alone := func(name string, share float64) {
		cells := make([]string, len(t.Columns))
		cells[0], cells[1] = name, fmt.Sprintf("%.1f %%", 100*share)
		t.Row(cells...)
	}
	rest := 1.0
	for _, x := range v.Elements {
		rest -= x.Share
		line(output.Printable(x.Element), x)
	}
	switch {
	case v.MoreElements > 0:
		alone(fmt.Sprintf("(%d others or unknown)", v.MoreElements), rest)
	case rest >= 0.0005:
		alone("(unknown)", rest)
	}
	line("(all)", Element{Views: v.Views, Share: 1, P75: v.P75, Poor: v.Poor, Rating: v.Rating, Parts: v.Parts})
	_, err := t.WriteTo(w)
	return err
}
