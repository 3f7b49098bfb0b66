package file

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
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

func threadNumber(t *trie.Thread) string { return fmt.Sprintf("%d/%d", t.Process, t.ID) }

// threadName returns the display name of a thread, or "" if nothing is known about it.
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

var namedThread = regexp.MustCompile(`^(?s:(.*) )?(-?\d+)/(-?\d+)$`)

// parseThread parses a name returned by threadName.
func parseThread(name string) *trie.Thread {
	m := namedThread.FindStringSubmatch(name)
	if m == nil {
		return &trie.Thread{Name: name}
	}
	t := &trie.Thread{Name: m[1]}
	t.Process, _ = strconv.ParseInt(m[2], 10, 64)
	t.ID, _ = strconv.ParseInt(m[3], 10, 64)
	return t
}

// nodeFile matches file names of node --cpu-prof, which consist of the date, the process, the
// thread and a number. Users add prefixes.
var nodeFile = regexp.MustCompile(`(?:^|\PL)CPU\.\d{8}\.\d{6}\.(\d+)\.(\d+)\.\d+\.cpuprofile`)

// nameThreads takes the number of a thread from the file name if the file does not contain it.
func nameThreads(file string, r *trie.Recording) {
	m := nodeFile.FindStringSubmatch(path.Base(strings.ReplaceAll(file, `\`, "/")))
	if m == nil || len(r.Threads) != 1 || r.Threads[0].Process != 0 {
		return
	}
	t := &r.Threads[0]
	t.Process, _ = strconv.ParseInt(m[1], 10, 64)
	t.ID, _ = strconv.ParseInt(m[2], 10, 64)
}

// ThreadEntry describes a thread of a file, or one of its profiles.
type ThreadEntry struct {
	File    string `json:"file"`
	Process int64  `json:"process"`
	// ProcessName is the name of the process in the file, such as "Renderer", or "".
	ProcessName  string `json:"process_name,omitempty"`
	Thread       int64  `json:"thread"`
	Name         string `json:"name,omitempty"`
	Events       int    `json:"events"`
	Source       string `json:"source,omitempty"` // of the profile
	ID           string `json:"profile,omitempty"`
	Samples      int    `json:"samples"`
	Micros       int64  `json:"us"` // time covered by samples, or by events if there are no samples
	output.Spent        // of the profile
	Chosen       bool   `json:"taken"` // part of the default selection of all threads
	Main         bool   `json:"main"`  // the default where one thread per file is selected
}

// Threads lists the threads of files, each profile of a thread separately, the main thread of each
// file first. The threads of a merged profile are its labels.
func Threads(ctx context.Context, files []Input, progress func(Progress)) ([]ThreadEntry, []string, error) {
	var out []ThreadEntry
	var warnings []string
	_, err := readFiles(ctx, files, progress, func(f Input, doc encode.Document) error {
		r := doc.Recording
		switch {
		case doc.Profile != nil:
			entries := labelEntries(f.Name, doc.Profile)
			if len(entries) == 0 {
				warnings = append(warnings, f.Name+": a profile has no threads")
			}
			out = append(out, mainEntryFirst(entries)...)
			return nil
		case doc.Trace != nil:
			r = &trie.Recording{Threads: []trie.Thread{{Name: doc.Trace.Context.Page,
				Streams: []trie.Stream{{Trace: doc.Trace}}}}}
		}
		out = append(out, mainEntryFirst(threadEntries(f.Name, r))...)
		return nil
	})
	return out, warnings, err
}

func threadEntries(file string, r *trie.Recording) (out []ThreadEntry) {
	chosen := map[*trie.Stream]bool{}
	taken := map[*trie.Thread]bool{}
	for _, c := range newPicking(Pick{}).pick(file, r) {
		taken[c.thread] = true
		for _, k := range c.streams {
			chosen[&c.thread.Streams[k]] = true
		}
	}
	for i := range r.Threads {
		t := &r.Threads[i]
		e := ThreadEntry{File: file, Process: t.Process, Thread: t.ID, ProcessName: t.ProcessName, Name: t.Name,
			Events: len(t.Events)}
		if len(t.Streams) == 0 {
			e.Micros, e.Chosen = trie.Covered(t.Events), taken[t]
			out = append(out, e)
		}
		for k, s := range t.Streams {
			e.Source, e.ID, e.Samples, e.Micros = s.Source, s.ID, len(s.Trace.Samples), 0
			if n := len(s.Trace.Samples); n > 0 {
				e.Micros = max(s.Trace.End, s.Trace.Samples[n-1].Time) - s.Trace.Samples[0].Time
			}
			e.Spent, e.Chosen = output.SpentBy(s.Trace), chosen[&t.Streams[k]]
			out = append(out, e)
		}
	}
	return out
}

// labelEntries lists the threads in the group labels of a profile.
func labelEntries(file string, p *trie.Profile) (out []ThreadEntry) {
	at := map[string]int{}
	for i := range p.Groups {
		name := p.Groups[i].Labels.Value(output.LabelThread)
		if name == "" {
			continue
		}
		k, ok := at[name]
		if !ok {
			k, at[name] = len(out), len(out)
			t := parseThread(name)
			out = append(out, ThreadEntry{File: file, Process: t.Process, Thread: t.ID, Name: t.Name, Chosen: true})
		}
		self, samples := p.Groups[i].Sum()
		if samples > 0 { // without samples, functions and events cannot be distinguished
			out[k].Spent.Add(output.SpentIn(p, &p.Groups[i]))
		}
		out[k].Micros, out[k].Samples = out[k].Micros+self, out[k].Samples+int(samples)
	}
	return out
}

// mainEntryFirst sorts the entries of a file like [mainFirst], entries that are not selected last,
// and marks the main thread.
func mainEntryFirst(entries []ThreadEntry) []ThreadEntry {
	type id struct {
		process, thread int64
		name            string
	}
	idOf := func(e *ThreadEntry) id { return id{e.Process, e.Thread, e.Name} }
	var threads output.Threads
	places := map[id]int{} // of the selected entries
	for i := range entries {
		e := &entries[i]
		if !e.Chosen {
			continue
		}
		k, ok := places[idOf(e)]
		if !ok {
			k = len(threads)
			places[idOf(e)] = k
			threads = append(threads, output.Thread{Process: e.Process, ID: e.Thread, Name: e.Name,
				Sampled: e.Samples > 0})
		}
		threads[k].Spent.Add(e.Spent)
		if e.Samples == 0 {
			threads[k].Work += e.Micros
		}
	}
	for i, t := range mainFirst(threads) {
		places[id{t.Process, t.ID, t.Name}] = i
	}
	place := func(e *ThreadEntry) int {
		if !e.Chosen {
			return len(threads)
		}
		return places[idOf(e)]
	}
	slices.SortStableFunc(entries, func(a, b ThreadEntry) int { return cmp.Compare(place(&a), place(&b)) })
	for i := range entries {
		entries[i].Main = entries[i].Chosen && place(&entries[i]) == 0
	}
	return entries
}
