package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/fieldtrie/fieldtrie/encode/output"
)

// progress shows the progress of the work on a terminal. It is safe for concurrent
// use.
type progress struct {
	lock          sync.Mutex
	w             io.Writer
	on, shown     bool
	started, last time.Time
}

// newProgress returns a progress on w, if w is a terminal.
func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, on: ok && term.IsTerminal(int(f.Fd())), started: time.Now()}
}

// show replaces the shown text, at most ten times a second and not in the first
// second.
func (p *progress) show(text string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	now := time.Now()
	if !p.on || now.Sub(p.started) < time.Second || now.Sub(p.last) < time.Second/10 {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%s", output.Printable(text))
}

// say writes a permanent line.
func (p *progress) say(line string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.erase()
	fmt.Fprintln(p.w, output.Printable(line))
}

// clear removes the shown text.
func (p *progress) clear() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.erase()
}

func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
