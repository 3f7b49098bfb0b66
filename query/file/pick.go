package file

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Pick says what of a recording is taken, and how. The zero value takes what a sampler
// saw on each thread, or the events of a recording without samples.
type Pick struct {
	// Threads are names, numbers, or process and number as "7792/775"; a thread is taken
	// if one of them fits. None: all threads with samples; if a file has none, all of it.
	Threads []string
	// Profile is the source or the id of the profiles that are taken of a thread that has
	// several at the same time; "" is the choice of Chrome DevTools.
	Profile string
	// Apart makes a group of each thread, with [output.LabelThread], and describes it in
	// [Merged.Threads], also of those without samples beside others. What does not come of
	// threads is in groups without that label.
	Apart  bool
	Events bool // merge the events of a thread with the functions
	Idle   bool // show the time in which a thread had nothing to do
	// Symbols name the functions of minified scripts, before Rename sees them; nil does not.
	Symbols *naming.Symbolizer
	// Minified keeps functions as browsers said them: neither Symbols nor the source maps that a
	// file carries name them.
	Minified bool
	// Rename replaces each function, unless it is nil.
	Rename func(trie.Frame) trie.Frame
	selection.Parts
	// Owners say whose code is whose, for Parts; nil is [owner.Default].
	Owners *owner.Rules
}

// Rewrite returns a merged profile of a store as p shows it. The reach of a node that several
// become is a sum, see [trie.Profile.Coalesce].
func (p Pick) Rewrite(in *trie.Profile) *trie.Profile {
	if p.Rename == nil {
		return in
	}
	return in.Coalesce(p.Rename)
}

// name returns a merged profile of files, with those that are named already, under the names of
// their sources.
func (p *picking) name(in *trie.Profile) *trie.Profile {
	named, names := p.symbols(nil).Profile(in)
	p.names = append(p.names, names)
	if len(p.named) == 0 {
		return named
	}
	m := trie.NewMerger()
	for _, part := range append(p.named, named) {
		m.AddProfile(part)
	}
	return m.Profile()
}

// show returns a profile as p shows it.
func (p *picking) show(named *trie.Profile) *trie.Profile {
	return p.Parts.Show(p.Rewrite(named), naming.Finder(p.Owners, p.names...))
}

// regroup returns the groups of a merged profile that sel and p ask for.
func (p *picking) regroup(file string, in *trie.Profile, sel selection.Selection) *trie.Profile {
	if !p.Apart {
		return sel.Regroup(in, p.takesLabels)
	}
	sel.GroupBy = []string{output.LabelThread} // so that the groups stay
	return p.apartOf(file, sel.Regroup(in, p.takesLabels))
}

// coverage says how much of all files is named; nil if there is nothing to name them by.
func (p *picking) coverage() *naming.Coverage {
	var sum *naming.Coverage
	for _, names := range p.names {
		if c := names.Coverage(); c != nil {
			if sum == nil {
				sum = &naming.Coverage{}
			}
			sum.Add(c)
		}
	}
	return sum
}

// idle returns t with the idle time, if that is asked for.
func (p Pick) idle(t *trie.Trace) *trie.Trace {
	if p.Idle {
		return t.ShowIdle()
	}
	return t
}

// picking takes what a Pick asks for from one file after the other.
type picking struct {
	Pick
	found    map[string]bool // the values of Threads that some thread fits
	apart    output.Threads  // those that have a group of their own
	taken    int             // threads and traces, as [Timelines] has a line for each
	profile  bool            // some thread has Profile
	merged   uint64          // profiles of recordings
	inOrder  int             // calls that are in order of time
	named    []*trie.Profile // of files that carry source maps
	names    []*naming.Names // of these, and at the end of the others
	warnings []string        // what was left out that the user may have wanted
}

func newPicking(p Pick) *picking { return &picking{Pick: p, found: map[string]bool{}} }

func (p *picking) warn(file, format string, args ...any) {
	p.warnings = append(p.warnings, file+": "+fmt.Sprintf(format, args...))
}

// shownFiles is how many files an error names.
const shownFiles = 5

// shownStreams is how many profiles of a thread a warning names.
const shownStreams = 20

// missing returns an error about what was asked for and is in no file.
func (p *picking) missing(files []Input) error {
	where := fmt.Sprintf("%d files", len(files))
	if len(files) <= shownFiles {
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		where = strings.Join(names, ", ")
	}
	var lost []string
	for _, want := range p.Threads {
		if !p.found[want] {
			lost = append(lost, want)
		}
	}
	switch {
	case len(lost) > 0:
		return fmt.Errorf("no thread %s in %s; --list threads shows them", strings.Join(lost, ", "), where)
	case p.Profile != "" && !p.profile:
		return fmt.Errorf("no profile %s in %s; --list threads shows them", p.Profile, where)
	}
	return nil
}

// takes reports whether t is one of the threads that p names.
func (p *picking) takes(t *trie.Thread) bool {
	taken := len(p.Threads) == 0
	for _, want := range p.Threads {
		if want == t.Name || want == strconv.FormatInt(t.ID, 10) || want == threadNumber(t) || want == threadName(t) {
			p.found[want], taken = true, true
		}
	}
	return taken
}

// takesTrace reports whether p wants a trace of the field, which does not know its thread.
func (p *picking) takesTrace(file string) bool {
	if len(p.Threads) > 0 || p.Profile != "" {
		return false
	}
	if p.Events {
		p.warn(file, "no events to merge")
	}
	return true
}

// takesLabels reports whether p wants a group of a merged profile. It may know its thread,
// but not the sampler that saw it.
func (p *picking) takesLabels(l trie.Labels) bool {
	if len(p.Threads) > 0 {
		name := l.Value(output.LabelThread)
		if name == "" || !p.takes(parseThread(name)) {
			return false
		}
	}
	return p.Profile == ""
}

func (p *picking) fits(s *trie.Stream) bool {
	return p.Profile == "" || s.Source == p.Profile || s.ID == p.Profile
}

// picked is a thread that was chosen, and the streams of it that speak for it, in time
// order; none if only the events do.
type picked struct {
	thread  *trie.Thread
	streams []int
}

// pick chooses the threads of r.
func (p *picking) pick(file string, r *trie.Recording) (out []picked) {
	p.warnAll(file, r.Warnings)
	nameThreads(file, r)
	sampled, empty := false, len(r.Threads) > 0
	for i := range r.Threads {
		t := &r.Threads[i]
		sampled = sampled || t.Best() >= 0
		empty = empty && t.Best() < 0 && len(t.Events) == 0
		p.profile = p.profile || slices.ContainsFunc(t.Streams, func(s trie.Stream) bool { return len(s.Trace.Samples) > 0 && p.fits(&s) })
	}
	if empty {
		p.warn(file, "has no samples")
	}
	for i := range r.Threads {
		t := &r.Threads[i]
		if !p.takes(t) {
			continue
		}
		if t.Best() >= 0 {
			if streams := p.streams(file, t); len(streams) > 0 {
				out = append(out, picked{t, streams})
			}
			continue
		}
		if named := len(p.Threads) > 0; len(t.Events) > 0 && (named || (!sampled || p.Apart) && p.Profile == "") {
			out = append(out, picked{thread: t})
		}
	}
	if p.Events && len(out) > 0 && !slices.ContainsFunc(out, func(c picked) bool { return len(c.thread.Events) > 0 }) {
		p.warn(file, "no events to merge")
	}
	return out
}

// streams returns the places of the streams that are taken of t, and says which are not.
func (p *picking) streams(file string, t *trie.Thread) []int {
	name := strings.TrimSpace("thread " + threadName(t))
	streams := t.Chosen(p.fits)
	if len(streams) == 0 {
		p.warn(file, "%s has no profile %s; left out", name, p.Profile)
		return nil
	}
	chosen := make([]bool, len(t.Streams))
	for _, i := range streams {
		chosen[i] = true
	}
	var taken, others []string
	for i := range t.Streams {
		s := &t.Streams[i]
		switch {
		case chosen[i]:
			taken = append(taken, streamName(s))
		case len(s.Trace.Samples) > 0 && p.fits(s):
			others = append(others, streamName(s))
		}
	}
	if len(others) > 0 {
		some := ""
		if len(taken) > 1 {
			some = ", some"
		}
		p.warn(file, "%s has %d profiles%s of the same time; took %s, left out %s (--profile chooses)", name,
			len(taken)+len(others), some, someNames(taken), someNames(others))
	}
	return streams
}

// someNames lists names, or the first few of many.
func someNames(names []string) string {
	if more := len(names) - shownStreams; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shownStreams], ", "), more)
	}
	return strings.Join(names, ", ")
}

func streamName(s *trie.Stream) string {
	name := cmp.Or(s.Source, s.ID, "the first")
	if s.Source != "" && s.ID != "" {
		name += " " + s.ID
	}
	return fmt.Sprintf("%s (%d samples)", name, len(s.Trace.Samples))
}

// add merges the threads of r that p chooses. A recording has no pages and no labels but
// that of the thread.
func (p *picking) add(m *trie.Merger, file string, r *trie.Recording, sel selection.Selection) error {
	picked := p.pick(file, r)
	named := len(picked) <= maxNamedThreads
	if !named && (p.Apart || len(sel.GroupBy) > 0) {
		p.warn(file, "%d threads, which are merged as one; of up to %d each is kept apart", len(picked), maxNamedThreads)
	}
	before := len(p.apart)
	for _, c := range picked {
		key := p.taken
		p.taken++
		var labels trie.Labels
		if name := threadName(c.thread); name != "" {
			labels = trie.MakeLabels(output.LabelThread, name)
		}
		if !sel.TakesLabels(labels) {
			continue
		}
		parts, err := p.parts(c)
		if err != nil {
			return inThread(c.thread, err)
		}
		switch {
		case p.Apart && (named || len(p.apart) == before):
			labels = p.keepApart(file, c.thread, key)
			if !named {
				last := p.last()
				last.Name, last.Process, last.ProcessName, last.ID = fmt.Sprintf("%d threads", len(picked)), 0, "", 0
			}
		case p.Apart:
			labels = labelsOf(p.last())
		case len(sel.GroupBy) == 0 || !named:
			labels = nil
		}
		if err := p.addParts(m, parts, m.Group(labels)); err != nil {
			return inThread(c.thread, err)
		}
	}
	return nil
}

// addParts merges the parts of a thread into a group.
func (p *picking) addParts(m *trie.Merger, parts []trie.Part, group int) error {
	for _, part := range parts {
		p.merged++
		if p.Apart {
			p.describe(part)
		}
		if part.Stream != nil && !p.Events {
			m.AddStream(part.Stream, group)
		} else if err := m.AddCalls(part.Stream, part.Events, group); err != nil {
			return err
		}
	}
	return nil
}

// maxNamedThreads is how many threads of a file are kept apart: each takes memory for all
// stacks of the file, a little for those that it does not have.
const maxNamedThreads = 1 << 12

// inThread says in which thread err was.
func inThread(t *trie.Thread, err error) error {
	return fmt.Errorf("%s: %w", strings.TrimSpace("thread "+threadName(t)), err)
}

// calls returns the calls of a stream and events. All files together may have
// [trie.MaxCalls], as they are written at once.
func (p *picking) calls(s *trie.Stream, events []trie.Event) (*trie.Timeline, error) {
	line, err := trie.Calls(s, events, trie.MaxCalls-p.inOrder)
	if err == nil {
		p.inOrder += len(line.Calls)
	}
	return line, err
}

// timelines returns the calls of the threads of r that p chooses.
func (p *picking) timelines(file string, r *trie.Recording) (lines []*trie.Timeline, err error) {
	for _, c := range p.pick(file, r) {
		var calls []*trie.Timeline
		parts, err := p.parts(c)
		if err != nil {
			return nil, inThread(c.thread, err)
		}
		for _, part := range parts {
			line, err := p.calls(part.Stream, part.Events)
			if err != nil {
				return nil, inThread(c.thread, err)
			}
			calls = append(calls, line)
		}
		line := trie.Concat(calls...)
		line.Process, line.Thread, line.Name = c.thread.Process, c.thread.ID, c.thread.Name
		lines = append(lines, line)
	}
	return lines, nil
}

// parts returns what is shown of c. Events are shown with functions if that is asked for.
func (p *picking) parts(c picked) ([]trie.Part, error) {
	parts, err := c.thread.Parts(c.streams)
	for i := range parts {
		part := &parts[i]
		if part.Stream == nil {
			continue
		}
		if p.Idle {
			s := *part.Stream
			s.Trace = s.Trace.ShowIdle()
			part.Stream = &s
		}
		if !p.Events {
			part.Events = nil
		}
	}
	return parts, err
}
