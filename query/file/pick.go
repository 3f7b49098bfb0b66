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

// Pick selects parts of recordings. The zero value selects the samples of each thread, or the
// events of a recording without samples.
type Pick struct {
	// Threads lists names, numbers, or process and number as "7792/775". A thread is selected if
	// one of them matches. If Threads is empty, all threads with samples are selected, and
	// everything in files without samples.
	Threads []string
	// Profile is the source or the id of the profile to use of a thread with several simultaneous
	// profiles. "" chooses the same one as Chrome DevTools.
	Profile string
	// Apart puts each thread into its own group with [output.LabelThread], and describes it in
	// [Merged.Threads]. This includes threads without samples in files where other threads have
	// samples. Everything outside threads is in groups without that label.
	Apart  bool
	Events bool // merge the events of a thread with the functions
	Idle   bool // show idle time of threads
	// Symbols names the functions of minified scripts, before Rename. It may be nil.
	Symbols *naming.Symbolizer
	// Minified keeps the names of functions as reported by browsers. Neither Symbols nor the source
	// maps in a file apply.
	Minified bool
	// Rename replaces each function, unless Rename is nil.
	Rename func(trie.Frame) trie.Frame
	selection.Parts
	// Owners assigns code to owners, for Parts; nil is [owner.Default].
	Owners *owner.Rules
}

// Rewrite returns a merged profile of a store with the transformations of p. If several nodes
// become one, its reach is their sum, see [trie.Profile.Coalesce].
func (p Pick) Rewrite(in *trie.Profile) *trie.Profile {
	if p.Rename == nil {
		return in
	}
	return in.Coalesce(p.Rename)
}

// name names the functions of a merged profile of files by their sources and merges it with the
// profiles that are already named.
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

// show returns a profile with the transformations of p.
func (p *picking) show(named *trie.Profile) *trie.Profile {
	return p.Parts.Show(p.Rewrite(named), naming.Finder(p.Owners, p.names...))
}

// regroup returns the groups of a merged profile that sel and p select.
func (p *picking) regroup(file string, in *trie.Profile, sel selection.Selection) *trie.Profile {
	if !p.Apart {
		return sel.Regroup(in, p.takesLabels)
	}
	sel.GroupBy = []string{output.LabelThread} // keep the groups of threads
	return p.apartOf(file, sel.Regroup(in, p.takesLabels))
}

// coverage returns how much of all files is named, or nil if there are no symbols.
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

// idle returns t, with idle time if p includes it.
func (p Pick) idle(t *trie.Trace) *trie.Trace {
	if p.Idle {
		return t.ShowIdle()
	}
	return t
}

// picking applies a Pick to one file after the other.
type picking struct {
	Pick
	found    map[string]bool // values of Threads that match a thread
	apart    output.Threads  // threads with their own group
	taken    int             // number of threads and traces: the lines of [Timelines]
	profile  bool            // a thread has Profile
	merged   uint64          // number of profiles of recordings
	inOrder  int             // number of calls in time order
	named    []*trie.Profile // of files that carry source maps
	names    []*naming.Names // of named; the last one is for all other files
	warnings []string        // about skipped data that the user may want
}

func newPicking(p Pick) *picking { return &picking{Pick: p, found: map[string]bool{}} }

func (p *picking) warn(file, format string, args ...any) {
	p.warnings = append(p.warnings, file+": "+fmt.Sprintf(format, args...))
}

// shownFiles limits the files that an error names.
const shownFiles = 5

// shownStreams limits the profiles of a thread that a warning names.
const shownStreams = 20

// missing returns an error about requested threads or profiles that no file has.
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

// takes reports whether p selects the thread t.
func (p *picking) takes(t *trie.Thread) bool {
	taken := len(p.Threads) == 0
	for _, want := range p.Threads {
		if want == t.Name || want == strconv.FormatInt(t.ID, 10) || want == threadNumber(t) || want == threadName(t) {
			p.found[want], taken = true, true
		}
	}
	return taken
}

// takesTrace reports whether p selects a trace from a browser, whose thread is unknown.
func (p *picking) takesTrace(file string) bool {
	if len(p.Threads) > 0 || p.Profile != "" {
		return false
	}
	if p.Events {
		p.warn(file, "no events to merge")
	}
	return true
}

// takesLabels reports whether p selects a group of a merged profile. A group may have a thread, but
// no sampler.
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

// picked is a selected thread with its selected streams in time order. It has no streams if only
// its events are used.
type picked struct {
	thread  *trie.Thread
	streams []int
}

// pick selects the threads of r.
func (p *picking) pick(file string, r *trie.Recording) (out []picked) {
	p.warnAll(file, r.Warnings)
	nameThreads(file, r)
	sampled, empty := false, len(r.Threads) > 0
	for i := range r.Threads {
		t := &r.Threads[i]
		sampled = sampled || t.Best() >= 0
		empty = empty && t.Best() < 0 && len(t.Events) == 0
		p.profile = p.profile || slices.ContainsFunc(t.Streams, func(s trie.Stream) bool {
			return len(s.Trace.Samples) > 0 && p.fits(&s)
		})
	}
	if empty {
		p.warn(file, "no samples")
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

// streams returns the indexes of the selected streams of t, and warns about the others.
func (p *picking) streams(file string, t *trie.Thread) []int {
	name := strings.TrimSpace("thread " + threadName(t))
	streams := t.Chosen(p.fits)
	if len(streams) == 0 {
		p.warn(file, "skipped %s: no profile %s", name, p.Profile)
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
		p.warn(file, "%s has %d simultaneous profiles%s; using %s, ignoring %s (choose with --profile)", name,
			len(taken)+len(others), some, someNames(taken), someNames(others))
	}
	return streams
}

// someNames joins names, or the first shownStreams of them with the number of the others.
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

// add merges the threads of r that p selects. A recording has no pages, and no label but the
// thread.
func (p *picking) add(m *trie.Merger, file string, r *trie.Recording, sel selection.Selection) error {
	picked := p.pick(file, r)
	named := len(picked) <= maxNamedThreads
	if !named && (p.Apart || len(sel.GroupBy) > 0) {
		p.warn(file, "merged all %d threads into one; files with at most %d threads keep them separate", len(picked),
			maxNamedThreads)
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

// maxNamedThreads limits the separate threads of a file. Each takes memory for all stacks of the
// file, although little for stacks that it does not have.
const maxNamedThreads = 1 << 12

// inThread adds the name of the thread to err.
func inThread(t *trie.Thread, err error) error {
	return fmt.Errorf("%s: %w", strings.TrimSpace("thread "+threadName(t)), err)
}

// calls returns the calls of a stream and events. The limit for all files together is
// [trie.MaxCalls], because they are written as one.
func (p *picking) calls(s *trie.Stream, events []trie.Event) (*trie.Timeline, error) {
	line, err := trie.Calls(s, events, trie.MaxCalls-p.inOrder)
	if err == nil {
		p.inOrder += len(line.Calls)
	}
	return line, err
}

// timelines returns the calls of the threads of r that p selects.
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

// parts returns the parts of c to merge. Events are combined with functions if p.Events is set.
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
