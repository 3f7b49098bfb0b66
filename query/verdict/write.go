package verdict

import (
	"fmt"
	"io"
	"math"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
)

// WriteText writes the word and its reasons, the page views of c and how many more are needed, and
// the warnings of c. v must have at least one reason.
func (v *Verdict) WriteText(w io.Writer, c *query.Comparison) error {
	fmt.Fprintf(w, "%s: %s\n", v.Word, output.Printable(v.Reasons[0]))
	for _, reason := range v.Reasons[1:] {
		fmt.Fprintf(w, "  %s\n", output.Printable(reason))
	}
	fmt.Fprintf(w, "  page views: A %.0f, B %.0f\n", c.Views.A, c.Views.B)
	if m := v.Missing; m != nil {
		fmt.Fprintf(w, "  missing: about %.0f of A, %.0f of B", m.A, m.B)
		switch {
		case v.Wait != nil:
			fmt.Fprintf(w, "; at the pace of the last %d hours that takes %s", recentHours, duration(*v.Wait))
		case v.Instead != "":
			fmt.Fprintf(w, "; %s", v.Instead)
		}
		fmt.Fprintln(w)
	}
	said := map[string]bool{}
	for _, r := range v.Reasons {
		said[r] = true
	}
	for _, warning := range c.Warnings {
		if !said[warning] {
			fmt.Fprintf(w, "  %s\n", output.Printable(warning))
		}
	}
	return nil
}

// duration formats hours.
func duration(hours float64) string {
	switch {
	case hours < 1:
		return fmt.Sprintf("%.0f minutes", math.Ceil(60*hours))
	case hours < 48:
		return fmt.Sprintf("%.0f hours", math.Ceil(hours))
	}
	return fmt.Sprintf("%.0f days", math.Ceil(hours/24))
}
