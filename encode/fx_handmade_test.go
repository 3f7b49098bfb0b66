package encode

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Frames of the traces and profiles that the tests make.
var (
	frameMain   = trie.Frame{Name: "main", Resource: "https://example.com/app.js", Line: 1, Column: 1}
	frameRender = trie.Frame{Name: "render", Resource: "https://example.com/app.js", Line: 12, Column: 3}
	frameDOM    = trie.Frame{Name: "querySelector"}
)

// minimalTrace is the worked example of docs/format.md.
func minimalTrace() *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	t.Context = trie.Context{Page: "/feed", Interval: 10_000}
	render := t.Insert(frameMain, frameRender)
	query := t.Insert(frameMain, frameRender, frameDOM)
	t.Samples = []trie.Sample{
		{Time: 101_400, Node: query}, {Time: 111_400, Node: render}, {Time: 121_500, Node: render}, {Time: 151_500},
	}
	return t
}

// fullTrace has a value in every field that a trace can have, but for the cost.
func fullTrace() *trie.Trace {
	t := markedTrace()
	t.Context = trie.Context{
		Page: "/feed", ViewID: "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\xff", Chunk: 2,
		TimeOrigin: 1_795_216_764_503_800, Interval: 16_000, SamplingShare: 0.25, Release: "2026.11.3", Environment: "production",
		Labels: trie.MakeLabels("device", "low", "phase", "load"),
		Spans: []trie.Span{
			{Kind: trie.SpanPage, Name: "/results", Start: -10_000, Length: 200_000},
			{Kind: trie.SpanFeature, Name: "search", Start: 105_500, Length: 14_500},
			{Kind: trie.SpanFeature, Name: "typing", Start: 105_500, Length: 100_000},
		},
	}
	return t
}

// phasesTrace has labels that hold for a time only, two of one key at once among them.
func phasesTrace() *trie.Trace {
	t := minimalTrace()
	t.Context.Labels = trie.MakeLabels("phase", "boot")
	t.Context.Spans = []trie.Span{
		{Kind: trie.SpanLabel, Name: "phase=load", Start: 0, Length: 120_000},
		{Kind: trie.SpanFeature, Name: "phase=none", Start: 105_000, Length: 10_000},
		{Kind: trie.SpanLabel, Name: "phase=a=b", Start: 105_000, Length: 10_000},
		{Kind: trie.SpanLabel, Name: "устройство=low", Start: 105_000, Length: 10_000},
	}
	return t
}

// costTrace is the minimal trace with a cost.
func costTrace() *trie.Trace {
	t := minimalTrace()
	t.Cost = trie.Cost{Start: 1_900, Stop: 2_400, Encode: 1_100, Bytes: 5_120, Dropped: 1}
	return t
}

// unknownTrace is the minimal trace with fields that a later version may have added.
func unknownTrace() *trie.Trace {
	t := minimalTrace()
	t.Unknown = appendUnknown(nil)
	t.Context.Unknown = protowire.AppendVarint(protowire.AppendTag(nil, 77, protowire.VarintType), 1234)
	return t
}

// appendUnknown appends a field of every wire type to b.
func appendUnknown(b []byte) []byte {
	b = protowire.AppendVarint(protowire.AppendTag(b, 1000, protowire.VarintType), 1<<40)
	b = protowire.AppendString(protowire.AppendTag(b, 99, protowire.BytesType), "later")
	b = protowire.AppendFixed32(protowire.AppendTag(b, 98, protowire.Fixed32Type), 7)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 97, protowire.Fixed64Type), 8)
	group := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 9)
	return protowire.AppendGroup(protowire.AppendTag(b, 96, protowire.StartGroupType), 96, group)
}

// markedTrace has every marker, with a stack and without.
func markedTrace() *trie.Trace {
	t := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Page: "/feed", Interval: 10_000}}
	stacks := []trie.NodeID{trie.Root, t.Insert(frameMain, frameRender), t.Insert(frameDOM)}
	now := int64(-40_000)
	for m := trie.MarkerNone; m <= trie.MarkerIdle; m++ {
		for _, n := range stacks {
			t.Samples = append(t.Samples, trie.Sample{Time: now, Node: n, Marker: m})
			now += 10_000
		}
	}
	return t
}

// oddTrace has names and places that a format may stumble over.
func oddTrace() *trie.Trace {
	t := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Page: "/страница", Interval: 10_000, Release: "é"}}
	frames := []trie.Frame{
		{}, // anonymous, from nowhere
		{Line: 3, Column: 4},
		{Name: "a;b", Resource: "https://example.com/é.js", Line: 1},
		{Name: "new\nline\r\x1b[2J", Resource: "https://example.com/è.js", Line: 1},
		{Name: `back\slash`, Resource: "https://example.com/è.js", Line: 1, Column: 2},
		{Name: `\x3b`, Resource: "https://example.com/è.js", Line: 1, Column: 2},
		{Name: "дом <T> 𝒻 & \"q\"", Resource: "blob:https://example.com", Line: 1<<32 - 1, Column: 1<<32 - 1},
		{Name: "(anonymous function)", Resource: "https://example.com", Line: 7},
		{Name: "no place", Resource: "https://example.com"},
		{Name: trie.FrameUnknown},
		trie.ThirdParty("cdn.example"),
		{Name: "nowhere", Column: 9},
	}
	for i, f := range frames {
		n := t.Insert(f)
		if i > 0 {
			n = t.Insert(frames[i-1], f)
		}
		t.Samples = append(t.Samples, trie.Sample{Time: int64(i) * 9_999, Node: n})
	}
	return t
}

// groupedProfile has two groups with labels, of which one has several features, and a
// group without.
func groupedProfile() *trie.Profile {
	p := trie.NewProfile()
	n, dom := p.Insert(frameMain, frameRender), p.Insert(frameMain, frameRender, frameDOM)
	feed := trie.MakeLabels("page", "/feed", "release", "7", "feature", "search", "feature", "typing")
	p.Add(feed, n, trie.Weight{Self: 20_000, Samples: 2, Reach: 1})
	p.Add(feed, dom, trie.Weight{Self: 5_000, Samples: 1, Reach: 1})
	p.Add(trie.MakeLabels("page", "/about"), dom, trie.Weight{Self: 7_000, Samples: 1, Reach: 1})
	p.Add(nil, 1, trie.Weight{Self: 3, Samples: 1, Reach: 2})
	p.Groups[0].Coverage = trie.Coverage{Views: 1, Traces: 2, Stackless: 30_000, Unsampled: 1_000, Truncated: 1}
	p.Groups[1].Coverage = trie.Coverage{Views: 1, Traces: 1}
	p.Views, p.Traces = 2, 3
	p.Unknown = appendUnknown(nil)
	return p
}

// idleProfile has idle time in one of its groups.
func idleProfile() *trie.Profile {
	p := groupedProfile()
	p.Groups[0].Coverage.Idle = 20_000
	return p
}

// difference has negative weights, and a stack whose weights cancel out.
func difference() *trie.Profile {
	a, b := trie.NewProfile(), trie.NewProfile()
	a.Add(nil, a.Insert(frameMain), trie.Weight{Self: 10_002, Samples: 1, Reach: 1})
	a.Add(nil, a.Insert(frameMain, frameDOM), trie.Weight{Self: 5, Samples: 1, Reach: 1})
	b.Add(nil, b.Insert(frameMain), trie.Weight{Self: 10_004, Samples: 2, Reach: 1})
	b.Add(nil, b.Insert(frameMain, frameRender), trie.Weight{Self: 2_000_001, Samples: 200, Reach: 3})
	b.Add(nil, b.Insert(frameMain, frameDOM), trie.Weight{Self: 5, Samples: 1, Reach: 1})
	b.Groups[0].Coverage = trie.Coverage{Views: 3, Traces: 3, Stackless: 17, Unsampled: 19, Truncated: 1}
	b.Views, b.Traces = 3, 3
	return trie.Subtract(a, b)
}

func handmadeTraces() map[string]*trie.Trace {
	return map[string]*trie.Trace{
		"minimal": minimalTrace(),
		"full":    fullTrace(),
		"phases":  phasesTrace(),
		"cost":    costTrace(),
		"unknown": unknownTrace(),
		"markers": markedTrace(),
		"odd":     oddTrace(),
		"empty":   {Trie: *trie.New()},
	}
}

func handmadeProfiles() map[string]*trie.Profile {
	return map[string]*trie.Profile{
		"groups":     groupedProfile(),
		"idle":       idleProfile(),
		"difference": difference(),
		"nothing":    trie.NewProfile(),
	}
}
