package vital

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fieldtrie/fieldtrie/encode/output"
)

// WriteText writes tables for people: the Web Vitals of pages, and if they have elements, what each is made up of and of which elements
// it is.
func WriteText(w io.Writer, pages []Page) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PAGE\tVITAL\tP75\t\tRATING\tP50\tP95\tGOOD\tPOOR\tREPORTS\tPAGE VIEWS")
	for _, p := range pages {
		for _, v := range p.Vitals {
			digits, unit := v.digits()
			fmt.Fprintf(t, "%s\t%s\t%.*f%s\t%s\t%s\t%.*f\t%.*f\t%.0f %%\t%.0f %%\t%d\t%d\n", output.Printable(p.Page), strings.ToUpper(v.Name),
				digits, v.P75.Value, unit, v.P75.Bounds(digits), v.Rating, digits, v.P50.Value, digits, v.P95.Value, 100*v.Good, 100*v.Poor, v.Views, v.PageViews)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	parts := false
	for _, p := range pages {
		for i := range p.Vitals {
			if v := &p.Vitals[i]; len(v.Elements) > 0 {
				parts = parts || len(v.Parts) > 0
				if err := v.writeElements(w); err != nil {
					return err
				}
			}
		}
	}
	if parts {
		fmt.Fprintln(w, "\nIn each page view the parts of LCP and INP add up to it. Their percentiles do not.")
	}
	return nil
}

// digits returns how many digits of values are written after the point, and the unit.
func (v *Report) digits() (digits int, unit string) {
	if v.Unit == "score" {
		return 3, ""
	}
	return 0, " ms"
}

// writeElements writes which elements v is of. Those that are not listed, and page views of which it is not known, are the rest.
func (v *Report) writeElements(w io.Writer) error {
	digits, unit := v.digits()
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s OF\tSHARE\tP75\t\tRATING\tPOOR\tREPORTS", strings.ToUpper(v.Name))
	for _, part := range v.Parts {
		fmt.Fprintf(t, "\t%s", strings.ToUpper(strings.ReplaceAll(part.Name, "-", " ")))
	}
	fmt.Fprintln(t)
	line := func(name string, x Element) {
		fmt.Fprintf(t, "%s\t%.1f %%\t%.*f%s\t%s\t%s\t%.0f %%\t%d", name, 100*x.Share, digits, x.P75.Value, unit, x.P75.Bounds(digits), x.Rating, 100*x.Poor, x.Views)
		for _, part := range v.Parts {
			value := ""
			for _, own := range x.Parts {
				if own.Name == part.Name {
					value = fmt.Sprintf("%.0f ms", own.P75.Value)
				}
			}
			fmt.Fprintf(t, "\t%s", value)
		}
		fmt.Fprintln(t)
	}
	rest := 1.0
	for _, x := range v.Elements {
		rest -= x.Share
		line(output.Printable(x.Element), x)
	}
	switch {
	case v.MoreElements > 0:
		fmt.Fprintf(t, "(%d others, or not known)\t%.1f %%\n", v.MoreElements, 100*rest)
	case rest >= 0.0005:
		fmt.Fprintf(t, "(not known)\t%.1f %%\n", 100*rest)
	}
	line("(all)", Element{Views: v.Views, Share: 1, P75: v.P75, Poor: v.Poor, Rating: v.Rating, Parts: v.Parts})
	return t.Flush()
}
