package trie

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// stacks returns the content of p as text, by node with weight.
func stacks(p *Profile) map[string]Weight {
	out := map[string]Weight{}
	flat, _ := p.Flat()
	for n, w := range flat {
		if w.IsZero() {
			continue
		}
		var names []string
		for n := range p.Stack(NodeID(n)) {
			names = append(names, p.Frame(n).Name)
		}
		slices.Reverse(names)
		out[strings.Join(names, ";")] = w
	}
	return out
}

func named(names ...string) []Frame {
	var f []Frame
	for _, n := range names {
		f = append(f, Frame{Name: n})
	}
	return f
}

func TestWeights(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Interval: 10_000}}
	a := trace.Insert(named("a")...)
	b := trace.Insert(named("a", "b")...)
	trace.Samples = []Sample{
		{0, a, MarkerNone},           // 10 ms
		{10_000, b, MarkerNone},      // a burst: 1 µs
		{10_001, b, MarkerNone},      // 1 µs, not counted
		{10_002, b, MarkerNone},      // 9,998 µs, not counted
		{20_000, Root, MarkerNone},   // stackless, 10 ms
		{30_000, b, MarkerGC},        // 10 ms in (gc)
		{40_000, Root, MarkerScript}, // 30 ms in (unknown), then 60 ms unsampled
		{130_000, b, MarkerIdle},     // 10 ms: it has a stack
		{140_000, Root, MarkerIdle},  // idle, 10 ms
		{150_000, Root, MarkerOther}, // stackless, 10 ms
		{160_000, Root, MarkerIdle},  // the last: one interval, idle
	}
	if err := trace.Validate(); err != nil {
		t.Fatal(err)
	}
	p := trace.Profile()
	want := map[string]Weight{
		"a":         {10_000, 1, 1},
		"a;b":       {20_000, 2, 1},
		"a;b;(gc)":  {10_000, 1, 1},
		"(unknown)": {30_000, 1, 1},
	}
	got := stacks(p)
	for k, w := range want {
		if got[k] != w {
			t.Errorf("%s: got %+v, want %+v", k, got[k], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d stacks, want %d: %v", len(got), len(want), got)
	}
	if c, want := p.Groups[0].Coverage, (Coverage{Views: 1, Traces: 1, Stackless: 40_000, Idle: 20_000,
		Unsampled: 60_000}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

// A browser reported one loop of 60 ms as 2,545 samples.
func TestBurstIsNotCounted(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Interval: 10_000}}
	n := trace.Insert(named("loop")...)
	for i := range int64(2545) {
		trace.Samples = append(trace.Samples, Sample{i * 60_000 / 2545, n, MarkerNone})
	}
	w := stacks(trace.Profile())["loop"]
	if w.Samples > 12 || w.Samples < 6 {
		t.Errorf("%d samples in 60 ms at 10 ms", w.Samples)
	}
	if want := trace.Samples[2544].Time + 10_000; w.Self != want {
		t.Errorf("self %d µs, want %d", w.Self, want)
	}
}

func TestSlices(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Page: "/", Interval: 10_000, Spans: []Span{
		{SpanFeature, "search", 5_000, 10_000},
		{SpanFeature, "search", 8_000, 20_000},
		{SpanPage, "/feed", 12_000, 100_000},
		{SpanFeature, "ads", 13_000, 2_000},
	}}}
	n := trace.Insert(named("f")...)
	trace.Samples = []Sample{{0, n, 0}, {10_000, n, 0}, {20_000, n, 0}}
	if err := trace.Validate(); err != nil {
		t.Fatal(err)
	}
	m := NewMerger()
	m.AddTrace(trace, func(s Slice) int {
		return m.Group(Labels{{"at", s.Page + " " + strings.Join(s.Features, "+")}})
	})
	want := map[string]int64{"/ ": 5_000, "/ search": 7_000, "/feed search": 14_000, "/feed ads+search": 2_000,
		"/feed ": 2_000}
	for _, g := range m.Profile().Groups {
		self, _ := g.Sum()
		if name := g.Labels.Value("at"); self != want[name] {
			t.Errorf("%q: got %d µs, want %d", name, self, want[name])
		}
		if g.Coverage.Views != 1 || g.Coverage.Traces != 1 {
			t.Errorf("%v: %+v", g.Labels, g.Coverage)
		}
	}
	if len(m.Profile().Groups) != len(want) {
		t.Errorf("got %d groups, want %d", len(m.Profile().Groups), len(want))
	}
	if got := trace.Pages(); !slices.Equal(got, []string{"/", "/feed"}) {
		t.Errorf("pages %q", got)
	}
	if got := trace.Features("/feed"); !slices.Equal(got, []string{"ads", "search"}) {
		t.Errorf("features %q", got)
	}
}

// The label that began last applies, and labels affect neither page nor features.
func TestSliceLabels(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Page: "/", Interval: 10, Labels: MakeLabels("phase", "boot"),
		Spans: []Span{
			{SpanLabel, "phase=load", 0, 100},
			{SpanLabel, "device=low", 10, 20},
			{SpanLabel, "device=low", 30, 10}, // goes on
			{SpanLabel, "phase=b=", 50, 20},   // the value is "b="
			{SpanLabel, "phase=idle", 50, 20}, // began together, and is the last in order
			{SpanFeature, "phase=x", 60, 20},
			{SpanLabel, "phase=typing", 60, 60},
			{SpanLabel, "phase=never", 90, 0},
		}}}
	SortSpans(trace.Context.Spans)
	if err := trace.Validate(); err != nil {
		t.Fatal(err)
	}
	slice := func(from, to int64, feature string, labels ...string) Slice {
		s := Slice{Start: from, End: to, Page: "/", Labels: MakeLabels(labels...)}
		if feature != "" {
			s.Features = []string{feature}
		}
		return s
	}
	want := []Slice{
		slice(math.MinInt64, 0, ""),
		slice(0, 10, "", "phase", "load"),
		slice(10, 40, "", "device", "low", "phase", "load"),
		slice(40, 50, "", "phase", "load"),
		slice(50, 60, "", "phase", "idle"),
		slice(60, 80, "phase=x", "phase", "typing"),
		slice(80, 120, "", "phase", "typing"),
		slice(120, math.MaxInt64, ""),
	}
	if got := trace.Slices(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	checkSlices(t, trace)
	if got := trace.Pages(); !slices.Equal(got, []string{"/"}) {
		t.Errorf("pages %q", got)
	}
	if got := trace.Features("/"); got != nil {
		t.Errorf("features %q", got)
	}
}

func TestReachCountsPageViews(t *testing.T) {
	m := NewMerger()
	for _, view := range []string{"v1", "v1", "v2", "", ""} {
		trace := &Trace{Trie: *New(), Context: Context{Interval: 10, ViewID: view}}
		trace.Samples = []Sample{{0, trace.Insert(named("f", "g")...), 0}, {10, trace.Insert(named("f", "h")...), 0}}
		m.AddTrace(trace, func(Slice) int { return m.Group(nil) })
	}
	flat, c := m.Profile().Flat()
	if c.Views != 4 || c.Traces != 5 {
		t.Errorf("%+v", c)
	}
	for n, w := range flat[1:] {
		if w.Reach != 4 {
			t.Errorf("node %d: reach %d, want 4", n+1, w.Reach)
		}
	}
}

func TestCoalesceTrace(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Interval: 10}}
	n := trace.Insert(named("a", "x1", "x2", "x3", "b", "x1")...)
	trace.Samples = []Sample{{0, n, 0}}
	hide := func(f Frame) Frame {
		if strings.HasPrefix(f.Name, "x") {
			return ThirdParty("ads.example")
		}
		return f
	}
	got := stacks(trace.Coalesce(hide).Profile())
	if _, ok := got["a;(third-party ads.example);b;(third-party ads.example)"]; !ok || len(got) != 1+3 {
		t.Errorf("got %v", got)
	}
}

func TestPrune(t *testing.T) {
	p := NewProfile()
	add := func(self int64, names ...string) {
		n := p.Insert(named(names...)...)
		p.Add(nil, n, Weight{self, 1, 1})
	}
	add(100, "main")
	add(50, "main", "render")
	add(3, "main", "small")
	add(2, "main", "small", "smaller")
	add(1, "tiny")
	got := stacks(p.Prune(2))
	want := map[string]Weight{"main": {100, 1, 1}, "main;render": {50, 1, 1}, "main;(other)": {5, 2, 1},
		"(other)": {1, 1, 1}}
	for k, w := range want {
		if got[k] != w {
			t.Errorf("%s: got %+v, want %+v", k, got[k], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
}

func TestTruncatedStacks(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Interval: 10}}
	n := trace.Insert(slices.Repeat(named("f"), MaxStackDepth)...)
	trace.Samples = []Sample{{0, n, 0}, {10, trace.Nodes[n].Parent, 0}}
	if c := trace.Profile().Groups[0].Coverage; c.Truncated != 1 {
		t.Errorf("truncated %d, want 1", c.Truncated)
	}
}

// Sums saturate instead of overflowing.
func TestSumsSaturate(t *testing.T) {
	p := NewProfile()
	n := p.Insert(named("f")...)
	for range 3 {
		p.Add(nil, n, Weight{Self: math.MaxInt64 / 2})
	}
	if w := p.Groups[0].Weights.Of(n); w.Self != math.MaxInt64 {
		t.Errorf("got %d", w.Self)
	}
	if got := Subtract(NewProfile(), Merge(p, p)).Groups[0].Weights.Of(1).Self; got != -math.MaxInt64 {
		t.Errorf("got %d", got)
	}
}

func TestValidateTrace(t *testing.T) {
	ok := func() *Trace {
		t := &Trace{Trie: *New(), Context: Context{Interval: 10}}
		t.Samples = []Sample{{0, t.Insert(named("f", "g")...), 0}}
		return t
	}
	for _, test := range []struct {
		want    string
		breakIt func(*Trace)
	}{
		{"", func(*Trace) {}},
		{"node 1: parent 1", func(t *Trace) { t.Nodes[1].Parent = 1 }},
		{"node 1: parent 2", func(t *Trace) { t.Nodes[1].Parent = 2 }},
		{"node 2: frame 7", func(t *Trace) { t.Nodes[2].Frame = 7 }},
		{"frame 0: string 9", func(t *Trace) { t.Frames[0].Name = 9 }},
		{"node 0 is not the root", func(t *Trace) { t.Nodes = nil }},
		{"sample 0: node 3", func(t *Trace) { t.Samples[0].Node = 3 }},
		{"sample 1: earlier", func(t *Trace) { t.Samples = append(t.Samples, Sample{Time: -1}) }},
		{"unknown marker", func(t *Trace) { t.Samples[0].Marker = 99 }},
		{"out of range", func(t *Trace) { t.Samples[0].Time = MaxTime + 1 }},
		{"interval is missing", func(t *Trace) { t.Context.Interval = 0 }},
		{"view id", func(t *Trace) { t.Context.ViewID = strings.Repeat("x", 17) }},
		{"sampling share", func(t *Trace) { t.Context.SamplingShare = math.NaN() }},
		{"duplicate label", func(t *Trace) { t.Context.Labels = Labels{{"a", "1"}, {"a", "2"}} }},
		{"out of order", func(t *Trace) { t.Context.Labels = Labels{{"b", "1"}, {"a", "2"}} }},
		{"no name", func(t *Trace) { t.Context.Spans = []Span{{}} }},
		{"overlaps", func(t *Trace) { t.Context.Spans = []Span{{SpanPage, "/a", 0, 10}, {SpanPage, "/b", 9, 10}} }},
		{"out of order", func(t *Trace) { t.Context.Spans = []Span{{SpanPage, "/a", 5, 1}, {SpanPage, "/b", 1, 1}} }},
		{"out of range", func(t *Trace) { t.Context.Spans = []Span{{SpanFeature, "f", 5, -1}} }},
		{"", func(t *Trace) { t.Context.Spans = []Span{{SpanLabel, "a=b=", 5, 1}, {SpanLabel, "a=c", 5, 1}} }},
		{`span 0 ("a"): a label is KEY=VALUE`, func(t *Trace) { t.Context.Spans = []Span{{SpanLabel, "a", 5, 1}} }},
		{`span 0 ("a="): a label is KEY=VALUE`, func(t *Trace) { t.Context.Spans = []Span{{SpanLabel, "a=", 5, 1}} }},
		{`span 0 ("=b"): a label is KEY=VALUE`, func(t *Trace) { t.Context.Spans = []Span{{SpanLabel, "=b", 5, 1}} }},
		{"unknown kind 3", func(t *Trace) { t.Context.Spans = []Span{{spanEnd, "a", 5, 1}} }},
	} {
		trace := ok()
		test.breakIt(trace)
		err := trace.Validate()
		if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

func TestValidateProfile(t *testing.T) {
	ok := func() *Profile {
		p := NewProfile()
		p.Add(nil, p.Insert(named("f", "g")...), Weight{1, 1, 1})
		return p
	}
	for _, test := range []struct {
		want    string
		breakIt func(*Profile)
	}{
		{"", func(*Profile) {}},
		{"same parent and frame", func(p *Profile) { p.Nodes = append(p.Nodes, p.Nodes[1]) }},
		{"same labels", func(p *Profile) { p.Groups = append(p.Groups, p.Groups[0]) }},
		{"root has weight", func(p *Profile) { p.Add(nil, Root, Weight{Self: 1}) }},
		{"weight of node 3 of 3", func(p *Profile) { p.Add(nil, 3, Weight{Self: 1}) }},
		{"weight out of range", func(p *Profile) { p.Add(nil, 1, Weight{Self: MaxWeight + 1}) }},
		{"coverage out of range", func(p *Profile) { p.Groups[0].Coverage.Views = -MaxWeight - 1 }},
		{"coverage out of range", func(p *Profile) { p.Groups[0].Coverage.Idle = MaxWeight + 1 }},
		{"no key", func(p *Profile) { p.Groups[0].Labels = Labels{{"", "x"}} }},
	} {
		p := ok()
		test.breakIt(p)
		err := p.Validate()
		if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// A text that is both a name and a URL may be in the string table once or twice.
func TestEqualByValue(t *testing.T) {
	once := NewProfile()
	once.Add(nil, once.Insert(Frame{Name: "x", Resource: "x"}), Weight{Self: 1})
	twice := &Profile{Trie: Trie{
		Strings: []string{"", "x", "x"}, Frames: []FrameRow{{Name: 1, Resource: 2}}, Nodes: []Node{{}, {}},
	}}
	twice.Add(nil, 1, Weight{Self: 1})
	if !once.Equal(twice) || !twice.Equal(once) {
		t.Error("equal profiles are not Equal")
	}
	twice.Frames[0].Line = 1
	if once.Equal(twice) {
		t.Error("profiles that differ are Equal")
	}
}

func TestCostIsKept(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Interval: 10}, Cost: Cost{Start: 1, Stop: 2, Encode: 3, Bytes: 4,
		Dropped: 5}}
	trace.Samples = []Sample{{0, trace.Insert(named("f")...), 0}}
	for name, got := range map[string]*Trace{"canonical": trace.Canonical(), "coalesced": trace.Coalesce(nil)} {
		if got.Cost != trace.Cost || !got.Equal(trace) {
			t.Errorf("%s: got %+v", name, got.Cost)
		}
		if got.Cost.Dropped++; got.Equal(trace) {
			t.Errorf("%s: traces of different cost are Equal", name)
		}
	}
}

// A gap has no stack, and a sample without time still counts as seen, with and without spans.
func TestReachInSlices(t *testing.T) {
	trace := &Trace{Trie: *New(), Context: Context{Interval: 10_000}}
	boot, burst := trace.Insert(named("boot")...), trace.Insert(named("burst")...)
	trace.Samples = []Sample{{0, boot, 0}, {10_000, burst, 0}, {10_000, boot, 0}, {1_000_000, boot, 0}}
	for _, spans := range [][]Span{nil, {{SpanFeature, "search", 500_000, 100_000}}} {
		trace.Context.Spans = spans
		m := NewMerger()
		m.AddTrace(trace, func(s Slice) int { return m.Group(MakeLabels("feature", strings.Join(s.Features, "+"))) })
		for _, g := range m.Profile().Groups {
			want := map[NodeID]int64{boot: 1, burst: 1}
			if g.Labels.Value("feature") == "search" {
				want = map[NodeID]int64{}
				if g.Coverage.Unsampled != 100_000 {
					t.Errorf("%v: %+v", g.Labels, g.Coverage)
				}
			}
			for _, n := range []NodeID{boot, burst} {
				if got := g.Weights.Of(n).Reach; got != want[n] {
					t.Errorf("spans %v, group %v: reach of node %d is %d, want %d", spans, g.Labels, n, got, want[n])
				}
			}
		}
	}
}

func TestPruneReach(t *testing.T) {
	p := NewProfile()
	p.Add(nil, p.Insert(named("x", "y")...), Weight{5, 5, 3})
	p.Add(nil, p.Insert(named("x", "z")...), Weight{1, 1, 2})
	if w := stacks(p.Prune(0))["(other)"]; w != (Weight{6, 6, 3}) {
		t.Errorf("got %+v", w)
	}
	if w := stacks(Subtract(NewProfile(), p).Prune(0))["(other)"]; w != (Weight{-6, -6, -3}) {
		t.Errorf("negative weights: got %+v", w)
	}
}

// twoFrames has the frame f twice, with different numbers of the same text, and x under each of
// them.
func twoFrames() Trie {
	return Trie{
		Strings: []string{"", "f", "x", "f"},
		Frames:  []FrameRow{{Name: 1}, {Name: 2}, {Name: 3}, {Name: 2, Line: 9}},
		Nodes:   []Node{{}, {0, 0}, {1, 1}, {0, 2}, {3, 1}},
	}
}

// Equal frames of a trace are merged; its nodes stay separate until the trace is merged.
func TestCanonicalFramesOfTrace(t *testing.T) {
	trace := &Trace{Trie: twoFrames(), Context: Context{Interval: 10}, Samples: []Sample{{0, 4, 0}, {10, 2, 0}}}
	c := trace.Canonical()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	want := &Trace{Trie: Trie{
		Strings: []string{"", "f", "x"},
		Frames:  []FrameRow{{Name: 1}, {Name: 2}},
		Nodes:   []Node{{}, {0, 0}, {1, 1}, {0, 0}, {3, 1}},
	}, Context: trace.Context, Samples: []Sample{{0, 2, 0}, {10, 4, 0}}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
	if !c.Equal(trace) || !c.Profile().Equal(trace.Profile()) {
		t.Error("the canonical trace differs")
	}
}

// In a profile the nodes are merged, too.
func TestCanonicalFramesOfProfile(t *testing.T) {
	p := &Profile{Trie: twoFrames(), Views: 1, Traces: 1, Unknown: []byte{1}}
	for n := NodeID(1); n <= 4; n++ {
		p.Add(nil, n, Weight{Self: int64(n), Samples: 1, Reach: 1})
	}
	p.Group(MakeLabels("page", "/")).Coverage.Views = 1
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	c := p.Canonical()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	got := stacks(c)
	if want := map[string]Weight{"f": {4, 2, 2}, "f;x": {6, 2, 2}}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(c.Frames) != 2 || len(c.Groups) != 2 || len(c.Unknown) != 1 || c.Views != 1 || !c.Equal(p) ||
		!p.Equal(Merge(p)) {
		t.Errorf("got %+v", c)
	}
}

// Groups is exported, so a caller may replace the groups.
func TestGroupsReplaced(t *testing.T) {
	p := NewProfile()
	n := p.Insert(named("f")...)
	p.Add(MakeLabels("page", "/a"), n, Weight{Self: 1})
	p.Groups = []Group{{Labels: MakeLabels("page", "/b")}}
	p.Add(MakeLabels("page", "/b"), n, Weight{Self: 2})
	p.Add(MakeLabels("page", "/a"), n, Weight{Self: 4})
	if err := p.Validate(); err != nil || len(p.Groups) != 2 {
		t.Errorf("%d groups, %v", len(p.Groups), err)
	}
}
