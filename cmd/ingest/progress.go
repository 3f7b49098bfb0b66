package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// progress shows how far an errand is: all the time on a terminal, and now and then elsewhere.
type progress struct {
	w             io.Writer
	verb          string
	terminal      bool
	started, said time.Time
}

// How often it is said.
const (
	sayOnTerminal = 200 * time.Millisecond
	sayElsewhere  = 30 * time.Second
)

func newProgress(w io.Writer, verb string) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, verb: verb, terminal: ok && term.IsTerminal(int(f.Fd())), started: time.Now(), said: time.Now()}
}

// moving says how far it is, if it is time to.
func (p *progress) moving(done, of int, traces uint64) {
	now := time.Now()
	every := sayElsewhere
	if p.terminal {
		every = sayOnTerminal
	}
	if now.Sub(p.said) < every {
		return
	}
	p.said = now
	text := fmt.Sprintf("%s: %d of %d hours and days, %s traces, %s a second", p.verb, done, of,
		humanize.Comma(int64(traces)), humanize.Comma(int64(float64(traces)/now.Sub(p.started).Seconds())))
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintf(p.w, "ingest: %s\n", text)
}

// clear removes what is shown on a terminal.
func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
