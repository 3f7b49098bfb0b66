package view

import (
	"bufio"
	"fmt"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// writeHeads writes the content of two compared profiles. self and base are their self times in µs.
func writeHeads(b *bufio.Writer, p *trie.Profile, self, base int64, o output.Options) {
	writeHead(b, "now:  ", p, self, o.Threads, o)
	writeHead(b, "base: ", o.Base, base, o.BaseThreads, o)
}

// writeHead writes what a table does not show: for recordings the threads of the profile, and
// otherwise its coverage. self is the self time of p in µs.
func writeHead(b *bufio.Writer, mark string, p *trie.Profile, self int64, threads output.Threads, o output.Options) {
	_, c := p.Flat()
	if len(threads) > 0 && c.Views == 0 {
		writeThreads(b, mark, c, threads)
	} else {
		writeCoverage(b, mark, c, self, output.OwnSelf(p), output.Printable(o.Subject()), unitOf(p, o))
	}
	if c.Truncated > 0 {
		fmt.Fprintf(b, "%s%d samples have a stack that the browser cut off at %d frames\n", mark, c.Truncated,
			trie.MaxStackDepth)
	}
}

// mostThreads is the maximum number of listed threads of a sum.
const mostThreads = 10

// writeThreads writes the threads of a profile, how their time was spent, and how to show others.
func writeThreads(b *bufio.Writer, mark string, c trie.Coverage, threads output.Threads) {
	shown := threads.Shown()
	sum := shown.Sum()
	fmt.Fprintf(b, "%s%s: %s", mark, output.Printable(shown.Title()), sum.Took())
	if other := c.Stackless - c.Idle; other > 0 {
		fmt.Fprintf(b, ", %s ms without a stack", millis(other))
	}
	fmt.Fprintln(b)
	if len(shown) > 1 {
		for _, t := range shown[:min(len(shown), mostThreads)] {
			fmt.Fprintf(b, "%s  %s: %s\n", mark, output.Printable(output.Threads{t}.Title()), t.Took())
		}
		if more := len(shown) - mostThreads; more > 0 {
			fmt.Fprintf(b, "%s  and %s more\n", mark, counted(int64(more), "thread"))
		}
	}
	if others := len(threads) - len(shown); others > 0 {
		fmt.Fprintf(b, "%snot shown: %s (--list threads lists them, --thread NAME or --thread all chooses)\n", mark,
			counted(int64(others), "other thread"))
	}
}

// writeCoverage writes the number of page views of a profile, and the time not covered by stacks.
// of is the work that self times measure, such as JavaScript; own is the profiling script's part of
// self.
func writeCoverage(b *bufio.Writer, mark string, c trie.Coverage, self, own int64, of string, ms unit) {
	idle := ""
	if c.Idle != 0 { // 0 may also mean unknown
		idle = fmt.Sprintf(" (%s ms of that idle)", ms.text(c.Idle))
	}
	made := output.MadeOf(c)
	switch {
	case ms.views > 0:
		made += "; per page view "
	case made != "":
		made += ": "
	}
	fmt.Fprintf(b, "%s%s%s ms of %s%s, %s ms without a stack%s, %.1f %% not sampled\n",
		mark, made, ms.text(self-own), of, output.Script(own, ms.text(own)), ms.text(c.Stackless), idle,
		100*c.UnsampledShare(self))
	if c.Views > 0 && ms.views == 0 {
		fmt.Fprintf(b, "%s%s ms of %s per page view\n", mark, millis((self-own)/c.Views), of)
	}
}
