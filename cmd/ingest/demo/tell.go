package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// Changes compares the newest release with the one before it, on a page or on all pages for "",
// over the day before now.
func Changes(ctx context.Context, src query.Source, page string, now time.Time) (query.Comparison, error) {
	of := func(release string) selection.Selection {
		return selection.Selection{Page: page, Since: now.Add(-24 * time.Hour).Truncate(time.Hour),
			Where: []selection.Matcher{{Key: "release", Op: selection.Equal, Value: release}}}
	}
	return src.Compare(ctx, query.CompareQuery{A: of(Before), B: of(After), Method: query.MethodSums})
}

// told is the number of functions that Tell lists.
const told = 8

// Tell writes the changes of the newest release and links to the dashboard at url, the private
// address. bin is the path of the program.
func Tell(ctx context.Context, w io.Writer, src query.Source, url, bin string, now time.Time) error {
	c, err := Changes(ctx, src, Page, now)
	if err != nil {
		return err
	}
	total := c.Total.Shown
	fmt.Fprintf(w, "Release %s against %s, page %s, last 24 hours, %.0f and %.0f page views:\n", After, Before, Page,
		c.Views.B, c.Views.A)
	fmt.Fprintf(w, "JavaScript per page view %s: %+.0f ms%s.\n\n", c.Total.Status, total.Value, between(total))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  FUNCTION\tWHERE\tBEFORE, MS\tAFTER, MS\tCHANGE\n")
	n := 0
	for i := range c.Functions {
		f := &c.Functions[i]
		if !f.Status.Alarm() || n == told {
			continue
		}
		n++
		where := "" // empty unless it is a function of a script
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", f.Resource, f.Line)
		}
		fmt.Fprintf(table, "  %s\t%s\t%.1f\t%.1f\t%+.1f %s\n", f.Name, where, f.Mean.A, f.Mean.B,
			f.Shown.Value, f.Status)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	aggregate := "aggregate"
	if beside := filepath.Join(bin, aggregate); exists(beside) {
		aggregate = beside
	}
	compared := fmt.Sprintf("compare?page=%s&release=%s&compare_release=%s", Page, After, Before)
	_, err = fmt.Fprintf(w, `
The dashboard is at %[1]s/

Try next:
  open %[1]s/%[2]s&tab=flame
      what changed, as a flame graph
  open %[1]s/demo/ in Chrome or Edge, click about, and close the tab
      your own visit, on the page /demo/feed of the dashboard
  %[3]s --addr %[1]s --page %[4]s --since 24h --release %[5]s --compare-release %[6]s
      the same on a terminal
`, url, compared, aggregate, Page, After, Before)
	return err
}

func between(e compare.Estimate) string {
	if e.Low == nil || e.High == nil {
		return ""
	}
	return fmt.Sprintf(" (%+.0f to %+.0f)", *e.Low, *e.High)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
