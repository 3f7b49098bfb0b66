package query

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// File is a profile, trace or recording of any format that can be read.
type File struct {
	Name string // for messages, and for what some tools say in it
	Open func() (io.ReadCloser, error)
}

// Progress is how far the reading of files is.
type Progress struct {
	Files int   // read to their end
	Bytes int64 // of all files, as they are stored
}

// readFiles reads one file after the other and gives what they hold to take.
func readFiles(ctx context.Context, files []File, progress func(Progress), take func(File, encode.Document) error) (bytes int64, err error) {
	p := Progress{}
	tell := func() {
		if progress != nil {
			progress(p)
		}
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		doc, err := readFile(ctx, f, func(n int) {
			p.Bytes += int64(n)
			tell()
		})
		if err != nil {
			return 0, err
		}
		if err := take(f, doc); err != nil {
			return 0, fmt.Errorf("%s: %w", f.Name, err)
		}
		p.Files++
		tell()
	}
	return p.Bytes, nil
}

func readFile(ctx context.Context, f File, read func(int)) (encode.Document, error) {
	r, err := f.Open()
	if err != nil {
		return encode.Document{}, err // names the file and what was tried
	}
	defer func() { _ = r.Close() }()
	doc, err := encode.Decode(&watched{ctx, r, read}, encode.FileLimits())
	if err != nil && encode.KindOf(err) == 0 {
		return doc, fmt.Errorf("read %s: %w", f.Name, err)
	}
	if err != nil {
		return doc, fmt.Errorf("%s: %w", f.Name, err)
	}
	return doc, nil
}

// watched counts what is read, and stops when ctx is done.
type watched struct {
	ctx  context.Context
	r    io.Reader
	read func(int)
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.r.Read(p)
	w.read(n)
	return n, err
}

// MergeFiles merges files. Of traces it takes what sel asks for; times are not looked
// at, since files do not say when they were received. Of profiles, which have no traces
// left to select from, it takes the groups whose labels fit, and of recordings the threads
// that pick chooses. The result has no stats but the number of files, the bytes and
// warnings.
func MergeFiles(ctx context.Context, files []File, sel Selection, pick Pick, progress func(Progress)) (Result, error) {
	m := trie.NewMerger()
	var stats Stats
	bytes, err := readFiles(ctx, files, progress, func(f File, doc encode.Document) error {
		switch {
		case doc.Trace != nil:
			sel.add(m, pick.trace(doc.Trace))
		case doc.Profile != nil:
			m.AddProfile(pick.Rewrite(sel.regroup(doc.Profile)))
		default:
			warnings, err := pick.add(m, f.Name, doc.Recording, sel)
			stats.Warnings = append(stats.Warnings, warnings...)
			return err
		}
		return nil
	})
	stats.Traces, stats.Bytes = uint64(len(files)), uint64(bytes)
	return Result{m.Profile(), stats}, err
}

// TimeFiles returns the calls of all threads in files that pick chooses, in time order. A
// file that holds no times is an error.
func TimeFiles(ctx context.Context, files []File, pick Pick, progress func(Progress)) ([]*trie.Timeline, Stats, error) {
	var lines []*trie.Timeline
	var stats Stats
	bytes, err := readFiles(ctx, files, progress, func(f File, doc encode.Document) error {
		switch {
		case doc.Profile != nil:
			return fmt.Errorf("a profile has no times, so it can not be shown in time order")
		case doc.Trace != nil:
			line := trie.Calls(&trie.Stream{Trace: pick.trace(doc.Trace)}, nil)
			line.Name = doc.Trace.Context.Page
			lines = append(lines, line)
		default:
			more, warnings, err := pick.timelines(f.Name, doc.Recording)
			lines = append(lines, more...)
			stats.Warnings = append(stats.Warnings, warnings...)
			return err
		}
		return nil
	})
	stats.Traces, stats.Bytes = uint64(len(files)), uint64(bytes)
	return lines, stats, err
}

// add merges the parts of t that s asks for.
func (s Selection) add(m *trie.Merger, t *trie.Trace) {
	if !s.matches(&t.Context) {
		return
	}
	m.AddTrace(t, func(slice trie.Slice) int {
		if !s.takes(slice, &t.Context) {
			return -1
		}
		return m.Group(s.labels(slice, &t.Context))
	})
}

// regroup returns the groups of p that s asks for, as one group unless s is grouped.
func (s Selection) regroup(p *trie.Profile) *trie.Profile {
	out := &trie.Profile{Trie: p.Trie}
	all := true
	for _, g := range p.Groups {
		if !s.takesLabels(g.Labels) {
			all = false
			continue
		}
		out.Views, out.Traces = out.Views+g.Coverage.Views, out.Traces+g.Coverage.Traces
		if s.Grouped {
			out.Groups = append(out.Groups, g)
			continue
		}
		out.Group(nil).Coverage.Add(g.Coverage)
		for n, w := range g.Weights.All() {
			out.Add(nil, n, w)
		}
	}
	if all { // else the sum over groups is the best that is left
		out.Views, out.Traces = p.Views, p.Traces
	}
	return out
}

// takesLabels reports whether a group with labels l is what s asks for.
func (s Selection) takesLabels(l trie.Labels) bool {
	for _, want := range s.Labels {
		if want.Value == "" && l.Value(want.Key) != "" || want.Value != "" && !slices.Contains(l, want) {
			return false
		}
	}
	has := func(key, value string) bool {
		return value == "" || slices.Contains(l, trie.Label{Key: key, Value: value})
	}
	return has("page", s.Page) && has("feature", s.Feature)
}
