// Package pprof reads and writes profiles of pprof,
// https://github.com/google/pprof/blob/main/proto/profile.proto.
package pprof

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// coverageComment introduces the comment that holds the coverage of all groups.
const coverageComment = "fieldtrie coverage: "

// Encode writes p as a gzipped pprof profile, specified in
// https://github.com/google/pprof/blob/main/proto/profile.proto. Its sample types are
// samples/count, pageviews/count and wall/nanoseconds, the default. Each sample is a node
// with self weight in one group and carries the labels of the group; a label key may have
// several values. pageviews is the reach of the node. It does not add up over nodes, so
// only its flat value is meaningful. Equal profiles and times give equal bytes.
//
// With o.Base the samples of the base follow, negative and with the label pprof::base=true,
// like the input of go tool pprof -diff_base: that tool then shows shares of the base, and
// sums are differences.
func Encode(w io.Writer, p *trie.Profile, o output.Options) error {
	z := gzip.NewWriter(w)
	if err := Write(z, p, o); err != nil {
		return err
	}
	return z.Close()
}

// Write is [Encode] without compression. It writes only the sample types named in types,
// such as "wall"; no name means all.
func Write(w io.Writer, p *trie.Profile, o output.Options, types ...string) error {
	if err := output.CheckStacks(p); err != nil {
		return err
	}
	v, err := pprofValuesOf(types)
	if err != nil {
		return err
	}
	if o.Base == nil {
		return writePprof(w, p, o, v)
	}
	out, base := pprofProfile(p, o, v), pprofProfile(o.Base, output.Options{}, v)
	for _, s := range base.Sample {
		s.Label = maps.Clone(s.Label) // the samples of a group share one
		s.Label["pprof::base"] = []string{"true"}
		for i := range s.Value {
			s.Value[i] = -s.Value[i]
		}
	}
	base.Comments = nil                   // the coverage that can be read again is that of p
	out.PeriodType = &profile.ValueType{} // which the merge looks at
	base.PeriodType, base.Mapping[0].File = out.PeriodType, out.Mapping[0].File
	both, err := profile.Merge([]*profile.Profile{out, base})
	if err != nil {
		return fmt.Errorf("merge with the base: %w", err)
	}
	return both.WriteUncompressed(w)
}

// pprofValue is a sample type.
type pprofValue struct {
	profile.ValueType
	of func(trie.Weight) int64
}

// pprofValues returns all sample types. Tools show the last by default.
func pprofValues() []pprofValue {
	return []pprofValue{
		{profile.ValueType{Type: "samples", Unit: "count"}, func(w trie.Weight) int64 { return w.Samples }},
		{profile.ValueType{Type: "pageviews", Unit: "count"}, func(w trie.Weight) int64 { return w.Reach }},
		{profile.ValueType{Type: "wall", Unit: "nanoseconds"}, func(w trie.Weight) int64 {
			return output.Nanoseconds(w.Self)
		}},
	}
}

// pprofValuesOf returns the named sample types, or all if none is named.
func pprofValuesOf(types []string) ([]pprofValue, error) {
	all := pprofValues()
	if len(types) == 0 {
		return all, nil
	}
	var values []pprofValue
	for _, name := range types {
		i := slices.IndexFunc(all, func(v pprofValue) bool { return v.Type == name })
		if i < 0 {
			return nil, fmt.Errorf("a pprof profile has no values of the type %q", name)
		}
		values = append(values, all[i])
	}
	return values, nil
}

// pprofTimes returns start and duration of the queried time range, in nanoseconds; 0 if
// there is none.
func pprofTimes(o output.Options) (start, duration int64) {
	if o.Since.IsZero() || o.Until.IsZero() {
		return 0, 0
	}
	return o.Since.UnixNano(), int64(o.Until.Sub(o.Since))
}

// pprofProfile returns p in the form of the pprof library, which can merge it. [writePprof]
// writes the same.
func pprofProfile(p *trie.Profile, o output.Options, values []pprofValue) *profile.Profile {
	p = p.Canonical()
	out := &profile.Profile{DefaultSampleType: values[len(values)-1].Type, Comments: coverageComments(p)}
	out.TimeNanos, out.DurationNanos = pprofTimes(o)
	for _, v := range values {
		out.SampleType = append(out.SampleType, &v.ValueType)
	}
	// A mapping marked as symbolized keeps pprof from symbolizing it.
	mapping := &profile.Mapping{ID: 1, File: mappingFile(p), HasFunctions: true, HasFilenames: true,
		HasLineNumbers: true}
	out.Mapping = []*profile.Mapping{mapping}
	used := calledFrames(p)
	locations := make([]*profile.Location, len(p.Frames))
	for i := range p.Frames {
		if !used[i] {
			continue
		}
		f, id := p.FrameOf(trie.FrameID(i)), uint64(len(out.Location)+1)
		fn := &profile.Function{
			ID: id, Name: output.Shown(f), SystemName: output.Shown(f), Filename: f.Resource, StartLine: int64(f.Line),
		}
		locations[i] = &profile.Location{
			ID: id, Mapping: mapping,
			Line: []profile.Line{{Function: fn, Line: int64(f.Line), Column: int64(f.Column)}},
		}
		out.Function, out.Location = append(out.Function, fn), append(out.Location, locations[i])
	}
	stacks := make([][]*profile.Location, len(p.Nodes)) // shared by the groups
	for i := range p.Groups {
		g := &p.Groups[i]
		labels := map[string][]string{}
		for _, l := range g.Labels {
			labels[l.Key] = append(labels[l.Key], l.Value)
		}
		for n, w := range g.Weights.All() {
			if !output.OnTop(w) {
				continue
			}
			if stacks[n] == nil {
				for a := range p.Stack(trie.NodeID(n)) {
					stacks[n] = append(stacks[n], locations[p.Nodes[a].Frame])
				}
			}
			s := &profile.Sample{Location: stacks[n], Label: labels}
			for _, v := range values {
				s.Value = append(s.Value, v.of(w))
			}
			out.Sample = append(out.Sample, s)
		}
	}
	return out
}

// calledFrames marks the frames of all stacks with a sample. A frame that was on top for no
// time has only reach, and is in none.
func calledFrames(p *trie.Profile) []bool {
	nodes := make([]bool, len(p.Nodes))
	for i := range p.Groups {
		for n, w := range p.Groups[i].Weights.All() {
			nodes[n] = nodes[n] || output.OnTop(w)
		}
	}
	frames := make([]bool, len(p.Frames))
	for n := len(p.Nodes) - 1; n > 0; n-- {
		if nodes[n] {
			nodes[p.Nodes[n].Parent] = true
			frames[p.Nodes[n].Frame] = true
		}
	}
	return frames
}

// mappingFile is the profile's file as shown by pprof: the page, if there is only one.
func mappingFile(p *trie.Profile) string {
	page := ""
	for i := range p.Groups {
		v := p.Groups[i].Labels.Value("page")
		if page != "" && v != page {
			return "javascript"
		}
		page = v
	}
	if page == "" {
		return "javascript"
	}
	return page
}

// coverageComments returns the data that stacks cannot carry: lines for people, and a last
// line for [Decode].
func coverageComments(p *trie.Profile) []string {
	var self int64
	var c trie.Coverage
	for i := range p.Groups { // a sum for each node, as Flat makes them, is not needed
		of, _ := p.Groups[i].Sum()
		self += of
		c.Add(p.Groups[i].Coverage)
	}
	c.Views, c.Traces = p.Views, p.Traces
	return []string{
		cmp.Or(output.MadeOf(c), "made of nothing that is known"),
		fmt.Sprintf("%.2f%% of the time was not sampled", 100*c.UnsampledShare(self)),
		fmt.Sprintf("%d samples with a stack cut off at %d frames", c.Truncated, trie.MaxStackDepth),
		fmt.Sprintf("%sviews=%d traces=%d stackless_us=%d idle_us=%d unsampled_us=%d truncated=%d",
			coverageComment, c.Views, c.Traces, c.Stackless, c.Idle, c.Unsampled, c.Truncated),
	}
}
