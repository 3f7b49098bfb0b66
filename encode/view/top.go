package view

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// EncodeTop writes the functions of p as a table for people, heaviest self time first. Times are in
// milliseconds, with o.PerView per page view, and otherwise in total. Shares are of the self time
// of all of p, without the profiling script. With o.Base the functions with the largest change of
// self time come first, with their change from the base.
func EncodeTop(w io.Writer, p *trie.Profile, o output.Options) error {
	b := bufio.NewWriter(w)
	t := output.Weigh(p, o)
	self, ms := output.SelfSum(t.Self), unitOf(p, o)
	if o.Base != nil {
		writeHeads(b, p, self, output.SelfSum(t.BaseSelf), o)
		writeTopChanges(b, ms, output.Changes(t), o.Rows)
		return b.Flush()
	}
	writeHead(b, "", p, self, o.Threads, o)
	self -= output.OwnSelf(p)
	all := p.Functions()
	rows := tableRows(o.Rows, len(all))
	in := "views"
	if p.Views == 0 {
		in = "in" // so many profiles of threads
	}
	fmt.Fprintf(b, "\n%12s %7s %12s %7s %8s %6s  %s\n", "self ms", "self%", "total ms", "total%", "samples", in,
		"function")
	for _, f := range all[:rows] {
		fmt.Fprintf(b, "%12s %7s %12s %7s %8d %6d  %s\n",
			ms.text(f.Self), share(f.Self, self), ms.text(f.Total), share(f.Total, self), f.Samples, f.Reach,
			output.Printable(output.Location(f.Frame)))
	}
	if rest := all[rows:]; len(rest) > 0 {
		var sum, samples int64
		for _, f := range rest {
			sum += f.Self
			samples += f.Samples
		}
		fmt.Fprintf(b, "%12s %7s %12s %7s %8d %6s  %d more functions\n", ms.text(sum), share(sum, self), "", "",
			samples, "", len(rest))
	}
	return b.Flush()
}

// writeTopChanges writes the table of a comparison.
func writeTopChanges(b *bufio.Writer, ms unit, all []output.Change, most int) {
	rows := tableRows(most, len(all))
	fmt.Fprintf(b, "\n%12s %12s %12s %12s  %s\n", "self ms", "base self", "self +-", "total +-", "function")
	for _, c := range all[:rows] {
		fmt.Fprintf(b, "%12s %12s %12s %12s  %s\n", ms.text(c.Self), ms.text(c.Base.Self),
			ms.signed(c.Self-c.Base.Self), ms.signed(c.Total-c.Base.Total), output.Printable(output.Location(c.Frame)))
	}
	if rest := all[rows:]; len(rest) > 0 {
		var now, base int64
		for _, c := range rest {
			now, base = now+c.Self, base+c.Base.Self
		}
		fmt.Fprintf(b, "%12s %12s %12s %12s  %d more functions\n", ms.text(now), ms.text(base), ms.signed(now-base),
			"", len(rest))
	}
}

// tableRows returns how many of n rows to write for the requested number rows: see
// [output.Options].
func tableRows(rows, n int) int {
	if rows == 0 {
		rows = 40
	}
	if rows < 0 || rows > n {
		return n
	}
	return rows
}

// share returns v as a percentage of all.
func share(v, all int64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100*float64(v)/float64(all))
}

// unit is the unit of times: milliseconds per page view if there are views, and otherwise in total.
type unit struct{ views int64 }

// unitOf returns the unit for the times of p.
func unitOf(p *trie.Profile, o output.Options) unit {
	if o.PerView {
		return unit{p.Views}
	}
	return unit{}
}

// text returns µs of all page views as milliseconds.
func (u unit) text(us int64) string {
	if u.views == 0 {
		return millis(us)
	}
	if text := fmt.Sprintf("%.3f", float64(us)/1000/float64(u.views)); text != "-0.000" {
		return text
	}
	return "0.000"
}

// signed returns the same with a sign.
func (u unit) signed(us int64) string {
	text := u.text(us)
	if us > 0 && strings.ContainsAny(text, "123456789") {
		return "+" + text
	}
	return text
}

// millis returns µs as milliseconds with one decimal.
func millis(us int64) string {
	if us > -50 && us < 0 {
		us = 0 // not "-0.0"
	}
	return fmt.Sprintf("%.1f", float64(us)/1000)
}
