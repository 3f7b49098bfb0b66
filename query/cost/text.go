package cost

import (
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
)

// WriteText writes the arms, a table of the Web Vitals, and then what is not known.
func (r *Report) WriteText(w io.Writer, screen terminal.Screen) error {
	for _, a := range r.Arms {
		fmt.Fprintf(w, "%-8s  %d page views have reported, for %d\n", a.Name, a.Views, a.PageViews)
	}
	switch {
	case r.Unfair != "":
		fmt.Fprintln(w, "\n"+screen.Wrap("The draw is not fair: "+r.Unfair+".", 0))
	case len(r.Vitals) > 0:
		fmt.Fprintln(w, "\n"+screen.Wrap("Profiled page views against page views of the arm "+r.Control+
			", at the same page, time, device, browser and connection:", 0)+"\n")
		if err := r.writeTable(w, screen); err != nil {
			return err
		}
		fmt.Fprintln(w, "\nIntervals are of 95 %: about one in twenty misses the true value.")
		if r.Fair == nil {
			fmt.Fprintln(w, "\nIt is unknown whether the draw is fair.")
		}
	}
	for _, m := range r.Missing {
		fmt.Fprintln(w, "\n"+screen.Wrap("Not known: "+m+".", 0))
	}
	return nil
}

func (r *Report) writeTable(w io.Writer, screen terminal.Screen) error {
	t := terminal.Table{Screen: screen, Columns: []terminal.Column{{Title: "VITAL"},
		{Title: "STATUS", Color: statusColor}, {Title: "DIFFERENCE", Right: true}, {Drop: 1},
		{Title: "PROFILED", Right: true, Drop: 3}, {Title: "OTHERS", Right: true, Drop: 3}, {Title: "IN PERCENT",
			Right: true, Drop: 2}, {Drop: 4}, {Title: "± 1 % WITH", Drop: 5}}}
	for i := range r.Vitals {
		v := &r.Vitals[i]
		for j := range v.Differences {
			d := &v.Differences[j]
			needs, unit, each := "", d.unit(v.Unit), 1.0
			if d.What == "poor" {
				each = 100
			}
			relative, bounds := "", ""
			if d.Relative != nil && d.What != "poor" {
				relative = terminal.Signed(100*d.Relative.Value) + " %"
				bounds = screen.Interval(100*d.Relative.Low, 100*d.Relative.High, terminal.Signed)
			}
			if d.What == "p75" && v.ViewsForOnePercent > 0 {
				needs = fmt.Sprintf("%d page views of each, %s", v.ViewsForOnePercent, span(v.Hours))
			}
			t.Row(strings.ToUpper(v.Name)+" "+d.What, d.Status, terminal.Signed(each*d.Value)+unit,
				screen.Interval(each*d.Low, each*d.High, terminal.Signed),
				terminal.Number(each*d.Profiled)+unit, terminal.Number(each*d.Control)+unit, relative, bounds, needs)
		}
	}
	_, err := t.WriteTo(w)
	return err
}

// unit returns the suffix of the values of a difference: "poor" is in percent.
func (d *Difference) unit(of string) string {
	switch {
	case d.What == "poor":
		return " %"
	case of == "score":
		return ""
	}
	return " ms"
}

func statusColor(status string) terminal.Color {
	switch status {
	case "slower":
		return terminal.Red
	case "faster":
		return terminal.Green
	}
	return terminal.Plain
}

// span formats a duration in hours or days.
func span(hours float64) string {
	if hours < 48 {
		return fmt.Sprintf("%.1f hours", hours)
	}
	return fmt.Sprintf("%.1f days", hours/24)
}
