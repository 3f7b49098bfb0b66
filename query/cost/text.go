package cost

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes r for people.
func (r *Report) WriteText(w io.Writer) error {
	for _, a := range r.Arms {
		fmt.Fprintf(w, "%-8s  %d page views have reported, for %d\n", a.Name, a.Views, a.PageViews)
	}
	switch {
	case r.Unfair != "":
		fmt.Fprintf(w, "\nThe draw is not fair: %s.\n", r.Unfair)
	case len(r.Vitals) > 0:
		fmt.Fprintf(w, "\nProfiled page views against those of the arm %s, at the same page, time, device, browser and connection:\n\n", r.Control)
		if err := r.writeTable(w); err != nil {
			return err
		}
		fmt.Fprintln(w, "\nIntervals are those of 95 %: about one of twenty does not hold the truth.")
		if r.Fair == nil {
			fmt.Fprintln(w, "\nWhether the draw is fair is not known.")
		}
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "\nNot known: %s.\n", m)
	}
	return nil
}

func (r *Report) writeTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "VITAL\t\tSTATUS\tPROFILED\tOTHERS\tDIFFERENCE\t\tIN PERCENT\t\t± 1 % WITH")
	for _, v := range r.Vitals {
		for i, d := range v.Differences {
			name, needs := "", ""
			if i == 0 {
				name = strings.ToUpper(v.Name)
			}
			digits, unit, each := d.shown(v.Unit)
			relative, bounds := "", ""
			if d.Relative != nil && d.What != "poor" {
				relative = fmt.Sprintf("%+.1f %%", 100*d.Relative.Value)
				bounds = fmt.Sprintf("(%+.1f to %+.1f)", 100*d.Relative.Low, 100*d.Relative.High)
			}
			if d.What == "p75" && v.ViewsForOnePercent > 0 {
				needs = fmt.Sprintf("%d page views of each, %s", v.ViewsForOnePercent, span(v.Hours))
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%.*f%s\t%.*f%s\t%+.*f%s\t(%+.*f to %+.*f)\t%s\t%s\t%s\n", name, d.What, d.Status, digits, each*d.Profiled, unit, digits, each*d.Control, unit,
				digits, each*d.Value, unit, digits, each*d.Low, digits, each*d.High, relative, bounds, needs)
		}
	}
	return t.Flush()
}

// shown says how many digits of a difference and its values are shown, what stands behind them, and what they are multiplied by.
func (d *Difference) shown(of string) (digits int, unit string, each float64) {
	switch {
	case d.What == "poor":
		return 2, " %", 100
	case of == "score":
		return 4, "", 1
	}
	return 0, " ms", 1
}

// span says how long something takes.
func span(hours float64) string {
	if hours < 48 {
		return fmt.Sprintf("%.1f hours", hours)
	}
	return fmt.Sprintf("%.1f days", hours/24)
}
