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

// progress shows on a terminal how far the work is. Several goroutines may use it.
type progress struct {
	lock          sync.Mutex
	w             io.Writer
	on, shown     bool
	started, last time.Time
}

// newProgress returns what shows on w how far the work is, if w is a terminal.
func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, on: ok && term.IsTerminal(int(f.Fd())), started: time.Now()}
}

// show replaces what is shown, ten times a second, once a second has passed.
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

// say writes a line that stays.
func (p *progress) say(line string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.erase()
	fmt.Fprintln(p.w, output.Printable(line))
}

// clear removes what is shown.
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
