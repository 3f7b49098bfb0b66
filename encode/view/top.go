package view

import (
	"bufio"
	"fmt"
	"io"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// EncodeTop writes the functions of p as a table for people, heaviest self time first.
// Times are per table row, in milliseconds, and shares are of the self time of all of p.
// With o.Base the functions with the largest change of self time come first, with their
// change from the base.
func EncodeTop(w io.Writer, p *trie.Profile, o output.Options) error {
	b := bufio.NewWriter(w)
	t := output.Weigh(p, o)
	self := output.SelfSum(t.Self)
	if o.Base != nil {
		writeTopHead(b, "now:  ", p, self, o.Subject())
		writeTopHead(b, "base: ", o.Base, output.SelfSum(t.BaseSelf), o.Subject())
		writeTopChanges(b, output.Changes(t), o.Rows)
		return b.Flush()
	}
	writeTopHead(b, "", p, self, o.Subject())
	all := p.Functions()
	rows := tableRows(o.Rows, len(all))
	in := "views"
	if p.Views == 0 {
		in = "in" // so many profiles
	}
	fmt.Fprintf(b, "\n%12s %7s %12s %7s %8s %6s  %s\n", "self ms", "self%", "total ms", "total%", "samples", in, "function")
	for _, f := range all[:rows] {
		fmt.Fprintf(b, "%12s %7s %12s %7s %8d %6d  %s\n",
			millis(f.Self), share(f.Self, self), millis(f.Total), share(f.Total, self), f.Samples, f.Reach, output.Printable(output.Location(f.Frame)))
	}
	if rest := all[rows:]; len(rest) > 0 {
		var sum, samples int64
		for _, f := range rest {
			sum += f.Self
			samples += f.Samples
		}
		fmt.Fprintf(b, "%12s %7s %12s %7s %8d %6s  %d more functions\n", millis(sum), share(sum, self), "", "", samples, "", len(rest))
	}
	return b.Flush()
}

// writeTopHead writes the coverage of p, which the table does not show. self is the self
// time of p in µs, and of names what it measures, such as JavaScript.
func writeTopHead(b *bufio.Writer, mark string, p *trie.Profile, self int64, of string) {
	of = output.Printable(of)
	_, c := p.Flat()
	idle := ""
	if c.Idle != 0 { // 0 may also mean that nobody knows
		idle = fmt.Sprintf(" (%s ms of that idle)", millis(c.Idle))
	}
	made := output.MadeOf(c)
	if made != "" {
		made += ": "
	}
	fmt.Fprintf(b, "%s%s%s ms of %s, %s ms without a stack%s, %.1f %% not sampled\n",
		mark, made, millis(self), of, millis(c.Stackless), idle, 100*c.UnsampledShare(self))
	if c.Views > 0 {
		scaled := ""
		if c.UnsampledShare(self) >= output.WorthSaying {
			scaled = fmt.Sprintf(", %s if it had as large a share of what was not sampled as of the rest", millis(int64(c.Scaled(self))/c.Views))
		}
		fmt.Fprintf(b, "%s%s ms of %s per page view%s\n", mark, millis(self/c.Views), of, scaled)
	}
	if c.Truncated > 0 {
		fmt.Fprintf(b, "%s%d samples have a stack that the browser cut off at %d frames\n", mark, c.Truncated, trie.MaxStackDepth)
	}
}

// writeTopChanges writes the table of a comparison.
func writeTopChanges(b *bufio.Writer, all []output.Change, most int) {
	rows := tableRows(most, len(all))
	fmt.Fprintf(b, "\n%12s %12s %12s %12s  %s\n", "self ms", "base self", "self +-", "total +-", "function")
	for _, c := range all[:rows] {
		fmt.Fprintf(b, "%12s %12s %12s %12s  %s\n", millis(c.Self), millis(c.Base.Self),
			signed(c.Self-c.Base.Self), signed(c.Total-c.Base.Total), output.Printable(output.Location(c.Frame)))
	}
	if rest := all[rows:]; len(rest) > 0 {
		var now, base int64
		for _, c := range rest {
			now, base = now+c.Self, base+c.Base.Self
		}
		fmt.Fprintf(b, "%12s %12s %12s %12s  %d more functions\n", millis(now), millis(base), signed(now-base), "", len(rest))
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

// signed returns µs as milliseconds with a sign.
func signed(us int64) string {
	if s := millis(us); us >= 50 {
		return "+" + s
	} else {
		return s
	}
}

// millis returns µs as milliseconds with one decimal.
func millis(us int64) string {
	if us > -50 && us < 0 {
		us = 0 // not "-0.0"
	}
	return fmt.Sprintf("%.1f", float64(us)/1000)
}
