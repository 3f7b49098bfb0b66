package encode

import (
	"errors"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
	"github.com/fieldtrie/fieldtrie/trie"
)

// EncodeTrace returns t as a document in the binary format. Equal traces give equal
// bytes. The format is for traces from browsers in the field. Gapless traces have no
// encoding, see [trie.Trace].
func EncodeTrace(t *trie.Trace) ([]byte, error) {
	if t.Gapless {
		return nil, errors.New("a gapless trace cannot be written in the binary format")
	}
	t = t.Canonical()
	d := &fieldtriev1.Document{Magic: FormatVersion<<24 | magicNumber, Context: contextColumns(&t.Context),
		Cost: costMessage(t.Cost)}
	trieColumns(d, &t.Trie)
	var c sampleColumns
	d.SampleUnit = c.add(t.Samples, int64(t.Context.Interval))
	if len(t.Samples) > 0 {
		d.SampleStart = t.Samples[0].Time
	}
	d.SampleTime, d.SampleRun, d.SampleRunLength = c.time, c.run, c.runLength
	d.Marker, d.MarkerRunLength = c.markers()
	d.ProtoReflect().SetUnknown(t.Unknown)
	return marshal(d)
}

// EncodeProfile returns p as a document in the binary format. Equal profiles give equal
// bytes.
func EncodeProfile(p *trie.Profile) ([]byte, error) {
	p = p.Canonical()
	d := &fieldtriev1.Document{Magic: FormatVersion<<24 | magicNumber, Views: p.Views, Traces: p.Traces}
	trieColumns(d, &p.Trie)
	for i := range p.Groups {
		groupColumns(d, &p.Groups[i])
	}
	if !slices.ContainsFunc(d.GroupIdle, func(v int64) bool { return v != 0 }) {
		d.GroupIdle = nil
	}
	d.ProtoReflect().SetUnknown(p.Unknown)
	return marshal(d)
}

func marshal(m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// trieColumns writes the tables of t, which must be in canonical form: frames sorted,
// strings numbered by first use.
func trieColumns(d *fieldtriev1.Document, t *trie.Trie) {
	var resources, names []byte
	last := "" // resource
	nameOf := make([]uint32, len(t.Strings))
	line, column := uint32(0), uint32(0)
	d.FrameCount = append(d.FrameCount, 0)
	for _, f := range t.Frames {
		if r := t.Strings[f.Resource]; r != last {
			shared := sharedPrefix(last, r)
			d.ResourceShared = append(d.ResourceShared, uint32(shared))
			d.ResourceLength = append(d.ResourceLength, uint32(len(r)-shared))
			resources = append(resources, r[shared:]...)
			d.FrameCount = append(d.FrameCount, 0)
			last, line, column = r, 0, 0
		}
		d.FrameCount[len(d.FrameCount)-1]++
		switch {
		case f.Name == 0:
			d.FrameName = append(d.FrameName, 0)
		case nameOf[f.Name] > 0:
			d.FrameName = append(d.FrameName, nameOf[f.Name]+1)
		default:
			name := t.Strings[f.Name]
			names = append(names, name...)
			d.NameLength = append(d.NameLength, uint32(len(name)))
			nameOf[f.Name] = uint32(len(d.NameLength))
			d.FrameName = append(d.FrameName, 1)
		}
		if f.Line == line {
			d.FramePosition = append(d.FramePosition, uint64(f.Column-column)<<1)
		} else {
			d.FramePosition = append(d.FramePosition, uint64(f.Line-line)<<1|1, uint64(f.Column))
		}
		line, column = f.Line, f.Column
	}
	if len(t.Frames) == 0 {
		d.FrameCount = nil
	}
	d.ResourceText, d.NameText = string(resources), string(names)
	nodeColumns(d, t)
}

// sharedPrefix returns how many bytes b can share with a without cutting a UTF-8
// sequence of either.
func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	inside := func(s string) bool { return n < len(s) && !utf8.RuneStart(s[n]) }
	for n > 0 && (inside(a) || inside(b)) {
		n--
	}
	return n
}

func nodeColumns(d *fieldtriev1.Document, t *trie.Trie) {
	for i, n := range t.Nodes[1:] {
		id, parent := i+1, int(n.Parent)
		if parent == id-1 && id > 1 {
			d.ChainLength[len(d.ChainLength)-1]++
		} else {
			d.ChainParent = append(d.ChainParent, uint32(id-parent))
			d.ChainLength = append(d.ChainLength, 0)
		}
		from := int64(0)
		if n.Parent != trie.Root {
			from = int64(t.Nodes[n.Parent].Frame)
		}
		d.NodeFrame = append(d.NodeFrame, int32(int64(n.Frame)-from))
	}
}

// contextColumns returns nil if nothing is known.
func contextColumns(c *trie.Context) *fieldtriev1.Context {
	p := &fieldtriev1.Context{
		Page: c.Page, ViewId: []byte(c.ViewID), Chunk: c.Chunk, TimeOrigin: c.TimeOrigin, Interval: c.Interval,
		SamplingShare: c.SamplingShare, Release: c.Release, Environment: c.Environment,
	}
	for _, l := range c.Labels {
		p.LabelKey = append(p.LabelKey, l.Key)
		p.LabelValue = append(p.LabelValue, l.Value)
	}
	start := int64(0)
	for _, s := range c.Spans {
		p.SpanKind = append(p.SpanKind, uint32(s.Kind))
		p.SpanName = append(p.SpanName, s.Name)
		p.SpanStart = append(p.SpanStart, s.Start-start)
		p.SpanLength = append(p.SpanLength, uint64(s.Length))
		start = s.Start
	}
	p.ProtoReflect().SetUnknown(c.Unknown)
	if proto.Size(p) == 0 {
		return nil
	}
	return p
}

// costMessage returns nil if nothing was measured.
func costMessage(c trie.Cost) *fieldtriev1.Cost {
	if c == (trie.Cost{}) {
		return nil
	}
	return &fieldtriev1.Cost{Start: c.Start, Stop: c.Stop, Encode: c.Encode, Bytes: c.Bytes, Dropped: c.Dropped}
}

func groupColumns(d *fieldtriev1.Document, g *trie.Group) {
	rows, last := uint32(0), trie.Root
	for n, w := range g.Weights.All() {
		rows++
		d.WeightNode = append(d.WeightNode, uint32(n-last))
		d.WeightSelf = append(d.WeightSelf, w.Self)
		d.WeightSamples = append(d.WeightSamples, w.Samples)
		d.WeightReach = append(d.WeightReach, w.Reach)
		last = n
	}
	d.GroupRows = append(d.GroupRows, rows)
	d.GroupLabelCount = append(d.GroupLabelCount, uint32(len(g.Labels)))
	for _, l := range g.Labels {
		d.GroupLabelKey = append(d.GroupLabelKey, l.Key)
		d.GroupLabelValue = append(d.GroupLabelValue, l.Value)
	}
	c := g.Coverage
	d.GroupViews = append(d.GroupViews, c.Views)
	d.GroupTraces = append(d.GroupTraces, c.Traces)
	d.GroupStackless = append(d.GroupStackless, c.Stackless)
	d.GroupUnsampled = append(d.GroupUnsampled, c.Unsampled)
	d.GroupTruncated = append(d.GroupTruncated, c.Truncated)
	d.GroupIdle = append(d.GroupIdle, c.Idle)
}
