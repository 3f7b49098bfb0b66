package deletion

import (
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/trie"
)

// gone replaces the names of deleted pages.
const gone = "(deleted)"

// Without returns a row without the time on the selected pages. The row's own page must not be one
// of them.
func (m *Matcher) Without(r *layout.Row) (*layout.Row, error) {
	t, err := r.Decode(&m.decoder)
	if err != nil {
		return nil, fmt.Errorf("remove pages from trace %s: %w", r.ID, err)
	}
	out := *r
	out.Trace = nil
	if out.Payload, err = encode.EncodeTrace(without(t, m.Page)); err != nil {
		return nil, fmt.Errorf("remove pages from trace %s: %w", r.ID, err)
	}
	out.Others = slices.DeleteFunc(slices.Clone(r.Others), m.Page)
	return &out, nil
}

// without returns a copy of a trace without the data of some pages: their stacks, their names, and
// the features and labels that occurred only there. Everything else is unchanged, including the
// times of samples.
func without(t *trie.Trace, isGone func(page string) bool) *trie.Trace {
	cut := t.Slices()
	at := func(time int64) *trie.Slice {
		i, _ := slices.BinarySearchFunc(cut, time, func(s trie.Slice, time int64) int {
			if s.End <= time {
				return -1
			}
			return 1
		})
		return &cut[min(i, len(cut)-1)]
	}
	stays := func(s trie.Span) bool {
		first := at(s.Start)
		return !isGone(first.Page) || slices.ContainsFunc(cut, func(x trie.Slice) bool {
			return !isGone(x.Page) && x.Start < s.End() && x.End > s.Start
		})
	}
	out := &trie.Trace{Trie: *trie.New(), Context: t.Context, Cost: t.Cost, Gapless: t.Gapless, End: t.End,
		Unknown: t.Unknown}
	if isGone(out.Context.Page) {
		out.Context.Page = gone
	}
	out.Context.Spans = nil
	for _, s := range t.Context.Spans {
		switch {
		case s.Kind == trie.SpanPage && isGone(s.Name):
			s.Name = gone
		case s.Kind != trie.SpanPage && !stays(s):
			continue
		}
		out.Context.Spans = append(out.Context.Spans, s)
	}
	trie.SortSpans(out.Context.Spans)
	nodes := map[trie.NodeID]trie.NodeID{trie.Root: trie.Root}
	var nodeOf func(trie.NodeID) trie.NodeID
	nodeOf = func(n trie.NodeID) trie.NodeID {
		to, ok := nodes[n]
		if !ok {
			to = out.Child(nodeOf(t.Nodes[n].Parent), out.Intern(t.Frame(n)))
			nodes[n] = to
		}
		return to
	}
	for _, s := range t.Samples {
		if isGone(at(s.Time).Page) {
			s = trie.Sample{Time: s.Time}
		}
		s.Node = nodeOf(s.Node)
		out.Samples = append(out.Samples, s)
	}
	return out
}
