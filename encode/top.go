package encode

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// EncodeTop writes the functions of p as a table for people, heaviest self time first.
// Times are per table row, in milliseconds, and shares are of the JavaScript time of p.
func EncodeTop(w io.Writer, p *trie.Profile, o Output) error {
	b := bufio.NewWriter(w)
	_, c := p.Flat()
	all := functions(p)
	var self int64
	for _, f := range all {
		self += f.Self
	}
	idle := ""
	if c.Idle != 0 { // 0 may also mean that nobody knows
		idle = fmt.Sprintf(" (%s ms of that idle)", millis(c.Idle))
	}
	fmt.Fprintf(b, "%d page views, %d traces: %s ms of JavaScript, %s ms without a stack%s, %.1f %% not sampled\n",
		c.Views, c.Traces, millis(self), millis(c.Stackless), idle, 100*c.UnsampledShare(self))
	if c.Views > 0 {
		fmt.Fprintf(b, "%s ms of JavaScript per page view\n", millis(self/c.Views))
	}
	if c.Truncated > 0 {
		fmt.Fprintf(b, "%d samples have a stack that the browser cut off at %d frames\n", c.Truncated, trie.MaxStackDepth)
	}
	rows := o.Rows
	if rows == 0 {
		rows = 40
	}
	if rows < 0 || rows > len(all) {
		rows = len(all)
	}
	fmt.Fprintf(b, "\n%12s %7s %12s %7s %8s %6s  %s\n", "self ms", "self%", "total ms", "total%", "samples", "views", "function")
	share := func(v int64) string {
		if self == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f%%", 100*float64(v)/float64(self))
	}
	for _, f := range all[:rows] {
		fmt.Fprintf(b, "%12s %7s %12s %7s %8d %6d  %s\n",
			millis(f.Self), share(f.Self), millis(f.Total), share(f.Total), f.Samples, f.Reach, oneLine(location(f.Frame)))
	}
	if rest := all[rows:]; len(rest) > 0 {
		var sum, samples int64
		for _, f := range rest {
			sum += f.Self
			samples += f.Samples
		}
		fmt.Fprintf(b, "%12s %7s %12s %7s %8d %6s  %d more functions\n", millis(sum), share(sum), "", "", samples, "", len(rest))
	}
	return b.Flush()
}

// millis returns µs as milliseconds with one decimal.
func millis(us int64) string {
	if us > -50 && us < 0 {
		us = 0 // not "-0.0"
	}
	return fmt.Sprintf("%.1f", float64(us)/1000)
}

// oneLine keeps control characters of a name from moving the terminal's cursor.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return '�'
		}
		return r
	}, s)
}

func isControl(r rune) bool { return r < ' ' || (r >= 0x7f && r < 0xa0) }
