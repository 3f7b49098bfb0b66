package query

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// File is a profile or trace of any format that can be read.
type File struct {
	Name string // for messages
	Open func() (io.ReadCloser, error)
}

// maxFile bounds how many bytes of one file are read.
const maxFile = 1 << 30

// MergeFiles merges files. Of traces it takes what sel asks for; times are not looked
// at, since files do not say when they were received. Of profiles, which have no traces
// left to select from, it takes the groups whose labels fit. The result has
// no stats but the number of traces and the bytes.
func MergeFiles(ctx context.Context, files []File, sel Selection, progress func(uint64)) (Result, error) {
	m := trie.NewMerger()
	var stats Stats
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		data, err := readFile(f)
		if err != nil {
			return Result{}, err
		}
		doc, err := encode.Decode(data, encode.FileLimits())
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		if doc.Trace != nil {
			sel.add(m, doc.Trace)
		} else {
			m.AddProfile(sel.regroup(doc.Profile))
		}
		stats.Traces++
		stats.Bytes += uint64(len(data))
		if progress != nil {
			progress(stats.Traces)
		}
	}
	return Result{m.Profile(), stats}, nil
}

func readFile(f File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err // names the file and what was tried
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("read %s: over %d bytes", f.Name, maxFile)
	}
	return data, nil
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
