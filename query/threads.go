package query

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Pick says what of a recording is taken, and how. The zero value takes what a sampler
// saw on each thread, or the events of a recording without samples.
type Pick struct {
	// Threads are names, numbers, or process and number as "7792/775"; a thread is taken
	// if one of them fits. None: all threads with samples; if there are none, all.
	Threads []string
	// Profile is the source or the id of the profile that is taken of a thread that has
	// several at the same time; "" is the choice of Chrome DevTools.
	Profile string
	Events  bool // merge the events of a thread with the functions
	Idle    bool // show the time in which a thread had nothing to do
	// Rename replaces each function, unless it is nil.
	Rename func(trie.Frame) trie.Frame
	// Fold makes one of all calls that follow each other and that Rename gives one name.
	Fold bool
}

// trace returns t as p shows it.
func (p Pick) trace(t *trie.Trace) *trie.Trace {
	if p.Idle {
		t = t.ShowIdle()
	}
	return p.stream(trie.Stream{Trace: t}).Trace
}

// Rewrite returns a merged profile as p shows it.
func (p Pick) Rewrite(in *trie.Profile) *trie.Profile {
	switch {
	case p.Rename == nil:
		return in
	case p.Fold:
		return in.Fold(p.Rename)
	}
	return in.Coalesce(p.Rename)
}

func (p Pick) stream(s trie.Stream) trie.Stream {
	if p.Rename == nil {
		return s
	}
	return s.Rewrite(p.Rename, p.Fold)
}

// picked is a thread that was chosen, and the stream of it that speaks for it.
type picked struct {
	thread *trie.Thread
	stream *trie.Stream // nil if only the events do
}

// pick chooses the threads of r. The warnings say what it left out that the user may have
// wanted.
func (p Pick) pick(file string, r *trie.Recording) (out []picked, warnings []string, err error) {
	for _, w := range r.Warnings {
		warnings = append(warnings, file+": "+w)
	}
	nameThreads(file, r)
	sampled := slices.ContainsFunc(r.Threads, func(t trie.Thread) bool { return t.Best() >= 0 })
	matched := false
	for i := range r.Threads {
		t := &r.Threads[i]
		if !p.takes(t) {
			continue
		}
		matched = true
		best := t.Best()
		if best < 0 {
			if len(t.Events) > 0 && (!sampled || len(p.Threads) > 0) {
				out = append(out, picked{thread: t})
			}
			continue
		}
		if p.Profile != "" {
			best = slices.IndexFunc(t.Streams, func(s trie.Stream) bool {
				return s.Source == p.Profile || s.ID == p.Profile
			})
			if best < 0 {
				continue
			}
		} else if w := leftOut(file, t, best); w != "" {
			warnings = append(warnings, w)
		}
		s := p.stream(t.Streams[best])
		if p.Idle {
			s = trie.Stream{Source: s.Source, ID: s.ID, Trace: s.Trace.ShowIdle(), Anchors: s.Anchors}
		}
		out = append(out, picked{t, &s})
	}
	if !matched && len(p.Threads) > 0 {
		return nil, warnings, fmt.Errorf("no thread %s; --list threads shows them", strings.Join(p.Threads, ", "))
	}
	if len(out) == 0 && p.Profile != "" && sampled {
		return nil, warnings, fmt.Errorf("no profile %s; --list threads shows them", p.Profile)
	}
	return out, warnings, nil
}

// takes reports whether t is one of the threads that p names.
func (p Pick) takes(t *trie.Thread) bool {
	return len(p.Threads) == 0 || slices.ContainsFunc(p.Threads, func(want string) bool {
		return want == t.Name || want == strconv.FormatInt(t.ID, 10) || want == threadNumber(t)
	})
}

func threadNumber(t *trie.Thread) string { return fmt.Sprintf("%d/%d", t.Process, t.ID) }

// threadName names a thread for people; "" if nothing is known of it.
func threadName(t *trie.Thread) string {
	switch number := threadNumber(t); {
	case t.Process == 0 && t.ID == 0:
		return t.Name
	case t.Name == "":
		return number
	default:
		return t.Name + " " + number
	}
}

// leftOut says which streams of t are not those that best is, and why.
func leftOut(file string, t *trie.Thread, best int) string {
	var others []string
	for i, s := range t.Streams {
		if i != best && len(s.Trace.Samples) > 0 {
			others = append(others, streamName(s))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: thread %s has %d profiles of the same time; took %s, left out %s (--profile chooses)",
		file, threadName(t), len(others)+1, streamName(t.Streams[best]), strings.Join(others, ", "))
}

func streamName(s trie.Stream) string {
	name := cmp.Or(s.Source, s.ID, "the first")
	if s.Source != "" && s.ID != "" {
		name += " " + s.ID
	}
	return fmt.Sprintf("%s (%d samples)", name, len(s.Trace.Samples))
}

// nodeFile is how node --cpu-prof names its files: with the date, the process, the thread
// and a number.
var nodeFile = regexp.MustCompile(`^CPU\.\d{8}\.\d{6}\.(\d+)\.(\d+)\.\d+\.cpuprofile`)

// nameThreads takes the numbers of a thread from the name of the file if that alone has
// them.
func nameThreads(file string, r *trie.Recording) {
	m := nodeFile.FindStringSubmatch(path.Base(strings.ReplaceAll(file, `\`, "/")))
	if m == nil || len(r.Threads) != 1 || r.Threads[0].Process != 0 {
		return
	}
	t := &r.Threads[0]
	t.Process, _ = strconv.ParseInt(m[1], 10, 64)
	t.ID, _ = strconv.ParseInt(m[2], 10, 64)
}

// add merges the threads of r that p chooses. A recording has no pages and no labels but
// that of the thread.
func (p Pick) add(m *trie.Merger, file string, r *trie.Recording, sel Selection) ([]string, error) {
	chosen, warnings, err := p.pick(file, r)
	if err != nil {
		return warnings, err
	}
	for _, c := range chosen {
		var labels trie.Labels
		if name := threadName(c.thread); name != "" {
			labels = trie.Labels{{Key: "thread", Value: name}}
		}
		if !sel.takesLabels(labels) {
			continue
		}
		if !sel.Grouped {
			labels = nil
		}
		if c.stream != nil && !p.Events {
			m.AddTrace(c.stream.Trace, func(trie.Slice) int { return m.Group(labels) })
		} else {
			m.AddCalls(c.stream, p.eventsOf(c), m.Group(labels))
		}
	}
	return warnings, nil
}

// timelines returns the calls of the threads of r that p chooses.
func (p Pick) timelines(file string, r *trie.Recording) ([]*trie.Timeline, []string, error) {
	chosen, warnings, err := p.pick(file, r)
	var lines []*trie.Timeline
	for _, c := range chosen {
		lines = append(lines, p.timeline(c))
	}
	return lines, warnings, err
}

// eventsOf returns the events that are merged with the functions of c.
func (p Pick) eventsOf(c picked) []trie.Event {
	if p.Events || c.stream == nil {
		return c.thread.Events
	}
	return nil
}

func (p Pick) timeline(c picked) *trie.Timeline {
	line := trie.Calls(c.stream, p.eventsOf(c))
	line.Process, line.Thread, line.Name = c.thread.Process, c.thread.ID, c.thread.Name
	return line
}

// ThreadEntry describes a thread of a file, or one of its profiles.
type ThreadEntry struct {
	File    string `json:"file"`
	Process int64  `json:"process"`
	Thread  int64  `json:"thread"`
	Name    string `json:"name,omitempty"`
	Events  int    `json:"events"`
	Source  string `json:"source,omitempty"` // of the profile
	ID      string `json:"profile,omitempty"`
	Samples int    `json:"samples"`
	Micros  int64  `json:"us"`    // that the samples, or else the events, cover
	Chosen  bool   `json:"taken"` // unless the user chooses otherwise
}

// Threads lists the threads of files, each profile of a thread on its own.
func Threads(ctx context.Context, files []File, progress func(Progress)) ([]ThreadEntry, []string, error) {
	var out []ThreadEntry
	var warnings []string
	_, err := readFiles(ctx, files, progress, func(f File, doc encode.Document) error {
		r := doc.Recording
		switch {
		case doc.Profile != nil:
			warnings = append(warnings, f.Name+": a profile, which has no threads")
			return nil
		case doc.Trace != nil:
			r = &trie.Recording{Threads: []trie.Thread{{Name: doc.Trace.Context.Page, Streams: []trie.Stream{{Trace: doc.Trace}}}}}
		}
		chosen, _, err := Pick{}.pick(f.Name, r)
		for i := range r.Threads {
			t := &r.Threads[i]
			taken := slices.ContainsFunc(chosen, func(c picked) bool { return c.thread == t })
			e := ThreadEntry{File: f.Name, Process: t.Process, Thread: t.ID, Name: t.Name, Events: len(t.Events)}
			if len(t.Streams) == 0 {
				e.Micros, e.Chosen = trie.Calls(nil, t.Events).Self(), taken
				out = append(out, e)
			}
			for k, s := range t.Streams {
				e.Source, e.ID, e.Samples, e.Micros = s.Source, s.ID, len(s.Trace.Samples), 0
				if n := len(s.Trace.Samples); n > 0 {
					e.Micros = max(s.Trace.End, s.Trace.Samples[n-1].Time) - s.Trace.Samples[0].Time
				}
				e.Chosen = taken && k == t.Best()
				out = append(out, e)
			}
		}
		return err
	})
	return out, warnings, err
}
