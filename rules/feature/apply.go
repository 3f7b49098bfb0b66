package feature

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// Bounds limits the spans of a trace.
type Bounds struct {
	Spans  int // total
	AtOnce int // overlapping
}

// Apply adds spans to the context of t for the features of r that are active in it. It merges
// existing and added spans of a feature into spans that do not overlap. It skips a feature that
// exceeds the bounds, since part of its time would look like all of it, and returns the number of
// skipped features. The trace must be valid, and stays valid.
func (r Rules) Apply(t *trie.Trace, most Bounds) (skipped int) {
	var found [MaxFeatures][]timeRange
	r.onPages(t, &found)
	over := r.inStacks(t, most.Spans, &found)
	spans := t.Context.Spans
	for i, name := range r.names {
		if len(found[i]) == 0 {
			continue
		}
		with := spans
		if !over.has(i) {
			with = unite(spans, name, found[i])
		}
		if over.has(i) || len(with) > most.Spans || atOnce(with) > most.AtOnce {
			skipped++
			continue
		}
		spans = with
	}
	t.Context.Spans = spans
	return skipped
}

// timeRange is the time [start, end) in µs.
type timeRange struct{ start, end int64 }

// set is a set of features by number.
type set uint64

func (s set) has(i int) bool { return s&(1<<i) != 0 }

// onPages adds to found the time that the samples of t cover on the pages of features.
func (r *Rules) onPages(t *trie.Trace, found *[MaxFeatures][]timeRange) {
	if len(r.pages) == 0 {
		return
	}
	from, to := covered(t)
	for _, s := range t.Slices() {
		start, end := max(s.Start, from), min(s.End, to)
		if start >= end {
			continue
		}
		for _, rule := range r.pages {
			if FitsPage(rule.pattern, s.Page) {
				found[rule.feature] = append(found[rule.feature], timeRange{start, end})
			}
		}
	}
}

// covered returns the time that the samples of t cover. A trace without samples counts for its
// first page.
func covered(t *trie.Trace) (from, to int64) {
	if len(t.Samples) == 0 {
		return 0, 1
	}
	from, last := t.Samples[0].Time, t.Samples[len(t.Samples)-1].Time
	if t.Gapless {
		return from, max(t.End, last+1)
	}
	return from, last + max(int64(t.Context.Interval), 1)
}

// inStacks adds to found the time of the samples with a function of a feature in their stack. It
// skips and returns the features with more than most time ranges.
func (r *Rules) inStacks(t *trie.Trace, most int, found *[MaxFeatures][]timeRange) (over set) {
	nodes := r.ofNodes(t)
	if nodes == nil {
		return 0
	}
	onTop := map[trie.Frame]set{} // work of the browser, on top of a stack
	var open set
	var begun [MaxFeatures]int64
	last := int64(math.MinInt64) // end of the previous sample's time
	finish := func(which set) {
		for ; which != 0; which &= which - 1 {
			i := bits.TrailingZeros64(uint64(which))
			if found[i] = append(found[i], timeRange{begun[i], last}); len(found[i]) > most {
				over |= 1 << i
			}
		}
	}
	all := []trie.Slice{{Start: math.MinInt64, End: math.MaxInt64}} // so that each sample has one share
	at := 0
	t.Shares(all, func(s *trie.Share) {
		start := t.Samples[at].Time
		at++
		if s.Self == 0 {
			return
		}
		now := nodes[s.Node]
		if s.OnTop != (trie.Frame{}) {
			of, known := onTop[s.OnTop]
			if !known {
				of = r.of(s.OnTop.Name, r.about(""))
				onTop[s.OnTop] = of
			}
			now |= of
		}
		now &^= over
		ended := open &^ now
		if start != last {
			ended = open
		}
		finish(ended)
		for begins := now &^ (open &^ ended); begins != 0; begins &= begins - 1 {
			begun[bits.TrailingZeros64(uint64(begins))] = start
		}
		open, last = now, start+s.Self
	})
	finish(open)
	return over
}

// ofNodes returns for each node of t the features of its frame and of its callers. It returns nil
// if no stack has any.
func (r *Rules) ofNodes(t *trie.Trace) []set {
	if len(r.frames) == 0 {
		return nil
	}
	frames := make([]set, len(t.Frames))
	about := map[trie.StringID][]int{} // rule numbers by script
	var present []int
	var all set
	for i, f := range t.Frames {
		if i == 0 || f.Resource != t.Frames[i-1].Resource {
			rules, known := about[f.Resource]
			if !known {
				rules = r.about(t.Strings[f.Resource])
				about[f.Resource] = rules
			}
			present = rules
		}
		frames[i] = r.of(t.Strings[f.Name], present)
		all |= frames[i]
	}
	marked := func(s trie.Sample) bool { return s.Marker != trie.MarkerNone } // which has its own frame
	if all == 0 && !slices.ContainsFunc(t.Samples, marked) {
		return nil
	}
	nodes := make([]set, len(t.Nodes))
	for i := 1; i < len(nodes); i++ { // parents come first
		nodes[i] = nodes[t.Nodes[i].Parent] | frames[t.Nodes[i].Frame]
	}
	return nodes
}

// about returns the numbers of the rules for functions of a script.
func (r *Rules) about(resource string) (out []int) {
	resource, _ = scripturl.CutDebugID(resource)
	pkg := ""
	if r.packages {
		pkg = scripturl.Package(resource)
	}
	for i := range r.frames {
		if rule := &r.frames[i]; (rule.pkg == "" || rule.pkg == pkg) && rule.resource.fits(resource) {
			out = append(out, i)
		}
	}
	return out
}

// of returns the features of a function, given the rules for its script.
func (r *Rules) of(name string, about []int) (out set) {
	for _, i := range about {
		if rule := &r.frames[i]; !out.has(rule.feature) && rule.function.fits(name) {
			out |= 1 << rule.feature
		}
	}
	return out
}

// unite returns spans, sorted, with the time ranges more added to the feature with this name. It
// does not change spans.
func unite(spans []trie.Span, name string, more []timeRange) []trie.Span {
	out := make([]trie.Span, 0, len(spans)+len(more))
	all := slices.Clone(more)
	for _, s := range spans {
		if s.Kind == trie.SpanFeature && s.Name == name {
			all = append(all, timeRange{s.Start, s.End()})
		} else {
			out = append(out, s)
		}
	}
	slices.SortFunc(all, func(a, b timeRange) int { return cmp.Compare(a.start, b.start) })
	for i := 0; i < len(all); {
		joined := all[i]
		for i++; i < len(all) && all[i].start <= joined.end; i++ {
			joined.end = max(joined.end, all[i].end)
		}
		out = append(out, trie.Span{Kind: trie.SpanFeature, Name: name, Start: joined.start,
			Length: joined.end - joined.start})
	}
	trie.SortSpans(out)
	return out
}

// atOnce returns the maximum number of overlapping spans. spans are sorted.
func atOnce(spans []trie.Span) (most int) {
	var ends []int64 // ends of active spans
	for _, s := range spans {
		ends = slices.DeleteFunc(ends, func(end int64) bool { return end <= s.Start })
		ends = append(ends, s.End())
		most = max(most, len(ends))
	}
	return most
}
