package pprof

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// uncompressedPprof returns p as a pprof without gzip.
func uncompressedPprof(t testing.TB, p *trie.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprofProfile(p, output.Options{}, pprofValues()).WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pprofOf returns p as decoded by the pprof library.
func pprofOf(t testing.TB, p *trie.Profile) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, p, output.Options{}); err != nil {
		t.Fatal(err)
	}
	out, err := profile.ParseData(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := out.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return out
}

// sampleSums returns the sum of each value over all samples of p.
func sampleSums(p *profile.Profile) [3]int64 {
	var sums [3]int64
	for _, s := range p.Sample {
		for i, v := range s.Value {
			sums[i] += v
		}
	}
	return sums
}

func TestPprof(t *testing.T) {
	p := pprofOf(t, fixture.IdleProfile())
	var types []string
	for _, v := range p.SampleType {
		types = append(types, v.Type+"/"+v.Unit)
	}
	if want := []string{"samples/count", "pageviews/count", "wall/nanoseconds"}; !slices.Equal(types, want) {
		t.Errorf("got sample types %v, want %v", types, want)
	}
	if p.DefaultSampleType != "wall" {
		t.Errorf("got default sample type %q, want wall", p.DefaultSampleType)
	}
	if i, err := p.SampleIndexByName(""); err != nil || types[i] != "wall/nanoseconds" {
		t.Errorf("pprof shows sample type %d, %v", i, err)
	}
	if got, want := sampleSums(p), [3]int64{5, 5, 32_003_000}; got != want {
		t.Errorf("got sums %v, want %v", got, want)
	}
	for _, l := range p.Location {
		fn := l.Line[0].Function
		got := trie.Frame{Name: fn.Name, Resource: fn.Filename, Line: uint32(fn.StartLine),
			Column: uint32(l.Line[0].Column)}
		if !slices.Contains([]trie.Frame{fixture.FrameMain, fixture.FrameRender, fixture.FrameDOM}, got) ||
			l.Line[0].Line != fn.StartLine || len(l.Line) != 1 {
			t.Errorf("got location %+v", l.Line)
		}
	}
	want := map[string][]string{"page": {"/feed"}, "release": {"7"}, "feature": {"search", "typing"}}
	labelled := 0
	for _, s := range p.Sample {
		if maps.EqualFunc(s.Label, want, slices.Equal) {
			labelled++
		}
	}
	if labelled != 2 {
		t.Errorf("%d samples have the labels %v, want 2", labelled, want)
	}
	if got, want := p.Comments[len(p.Comments)-1],
		"fieldtrie coverage: views=2 traces=3 stackless_us=30000 idle_us=20000 unsampled_us=1000 "+
			"truncated=1"; got != want {
		t.Errorf("got comment %q, want %q", got, want)
	}
	if m := p.Mapping; len(m) != 1 || !m[0].HasFunctions || !m[0].HasFilenames || !m[0].HasLineNumbers {
		t.Errorf("got mappings %v, want one that needs no symbols", m)
	}
}

// TestPprofMapping checks that the profile's file is the page, if there is only one.
func TestPprofMapping(t *testing.T) {
	for want, pages := range map[string][]string{"/feed": {"/feed"}, "javascript": {"/feed", "/about"}} {
		p := trie.NewProfile()
		for _, page := range pages {
			for _, feature := range []string{"a", "b"} {
				p.Add(trie.MakeLabels("page", page, "feature", feature), p.Insert(fixture.FrameMain),
					trie.Weight{Self: 1})
			}
		}
		if got := pprofOf(t, p).Mapping[0].File; got != want {
			t.Errorf("%v: got %q, want %q", pages, got, want)
		}
	}
}

// TestPprofDeterministic checks that equal profiles give equal bytes, whatever the order of
// merging.
func TestPprofDeterministic(t *testing.T) {
	profiles := []*trie.Profile{fixture.GroupedProfile(), fixture.MinimalTrace().Profile(),
		fixture.OddTrace().Profile(), fixture.Difference()}
	for _, name := range fixture.GoldenTraces {
		profiles = append(profiles, fixture.RepositoryTrace(t, name, encode.DecodeProfilerTrace).Profile())
	}
	var a, b bytes.Buffer
	if err := Encode(&a, trie.Merge(profiles...), output.Options{}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		slices.Reverse(profiles)
		b.Reset()
		if err := Encode(&b, trie.Merge(profiles...), output.Options{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Fatal("the bytes differ")
		}
	}
}

// stackWeights is [weightsByStack] without the values that a pprof does not keep: weights of nodes
// that were never on top, and the groups of coverage.
func stackWeights(p *trie.Profile) map[string]trie.Weight {
	q := trie.NewProfile()
	_, all := p.Flat()
	for _, g := range p.Groups {
		labels := slices.DeleteFunc(slices.Clone(g.Labels), func(l trie.Label) bool { return l.Value == "" })
		for n, w := range g.Weights.All() {
			if w.Self == 0 && w.Samples == 0 {
				continue
			}
			to := trie.Root
			var path []trie.NodeID
			for a := range p.Stack(trie.NodeID(n)) {
				path = append(path, a)
			}
			for _, a := range slices.Backward(path) {
				to = q.Child(to, q.Intern(p.Frame(a)))
			}
			q.Add(labels, to, w)
		}
	}
	out := fixture.WeightsByStack(q)
	out["coverage"] = trie.Weight{Self: all.Stackless, Samples: all.Unsampled, Reach: all.Truncated}
	out["views"] = trie.Weight{Self: all.Idle, Samples: all.Traces, Reach: all.Views}
	return out
}

// checkPprofRoundTrip checks that profile → pprof → profile → pprof preserves weights and the
// totals of the coverage.
func checkPprofRoundTrip(t *testing.T, name string, p *trie.Profile) {
	t.Helper()
	for _, data := range [][]byte{uncompressedPprof(t, p), fixture.Gzipped(uncompressedPprof(t, p))} {
		got, err := Decode(data, input.Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if g, w := stackWeights(got), stackWeights(p); !maps.Equal(g, w) {
			t.Errorf("%s: got %v\nwant %v", name, g, w)
		}
		if a, b := pprofOf(t, got).String(), pprofOf(t, p).String(); a != b {
			t.Errorf("%s: written again: %s", name, fixture.FirstDifference([]byte(a), []byte(b)))
		}
	}
}

func TestPprofRoundTrip(t *testing.T) {
	for name, data := range fixture.RealTraces(t) {
		tr, err := encode.DecodeProfilerTrace(data, input.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		checkPprofRoundTrip(t, name, tr.Profile())
	}
	for name, tr := range fixture.HandmadeTraces() {
		checkPprofRoundTrip(t, name, tr.Profile())
	}
	for name, p := range fixture.HandmadeProfiles() {
		checkPprofRoundTrip(t, name, p)
	}
	negative := trie.NewProfile()
	for i, self := range []int64{-1, -2, -999, -1000, -1001, 1<<52 + 1, -1<<52 - 1} {
		negative.Add(nil, negative.Insert(trie.Frame{Name: "f", Resource: "r", Line: uint32(i)}),
			trie.Weight{Self: self, Samples: -1, Reach: -1})
	}
	checkPprofRoundTrip(t, "negative", negative)
}

// TestPprofRange checks that a time that exceeds the range of nanoseconds becomes the longest
// possible one.
func TestPprofRange(t *testing.T) {
	p := trie.NewProfile()
	p.Add(nil, p.Insert(fixture.FrameMain), trie.Weight{Self: trie.MaxWeight})
	p.Add(nil, p.Insert(fixture.FrameDOM), trie.Weight{Self: -trie.MaxWeight})
	const most = math.MaxInt64 / 1000 * 1000
	for _, s := range pprofOf(t, p).Sample {
		if v := s.Value[2]; v != most && v != -most {
			t.Errorf("got %d ns, want ±%d", v, int64(most))
		}
	}
}

// selfByRule is the self time of a trace in microseconds, computed from its JSON by the documented
// rule alone.
func selfByRule(t *testing.T, data []byte) int64 {
	t.Helper()
	var in struct {
		Interval float64
		Trace    struct {
			Samples []struct {
				Timestamp float64
				StackID   *int
			}
		}
	}
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatal(err)
	}
	us := func(ms float64) int64 { return int64(math.Round(ms * 1000)) }
	s, interval := in.Trace.Samples, us(in.Interval)
	byTime := func(i, j int) int { return cmp.Compare(us(s[i].Timestamp), us(s[j].Timestamp)) }
	order := make([]int, len(s))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, byTime)
	var self int64
	for i, at := range order {
		long := interval
		if i+1 < len(order) {
			long = us(s[order[i+1]].Timestamp) - us(s[at].Timestamp)
		}
		if s[at].StackID != nil {
			self += min(long, 3*interval)
		}
	}
	return self
}

// TestPprofExact checks that the wall time of a trace, and of the merge of all traces, matches the
// rule to the microsecond, and the merge by the pprof library.
func TestPprofExact(t *testing.T) {
	var all []*trie.Profile
	var pprofs []*profile.Profile
	var want int64
	for name, data := range fixture.RealTraces(t) {
		tr, err := encode.DecodeProfilerTrace(data, input.FileLimits())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p := tr.Profile()
		own := pprofOf(t, p)
		self := selfByRule(t, data)
		if got := sampleSums(own)[2]; got != self*1000 {
			t.Errorf("%s: got %d ns, want %d µs", name, got, self)
		}
		all, pprofs, want = append(all, p), append(pprofs, own), want+self
	}
	if want == 0 {
		t.Fatal("the traces cover no time")
	}
	merged := pprofOf(t, trie.Merge(all...))
	if got := sampleSums(merged)[2]; got != want*1000 {
		t.Errorf("merge: got %d ns, want %d µs", got, want)
	}
	theirs, err := profile.Merge(pprofs)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := flatTexts(merged), flatTexts(theirs); !maps.Equal(got, want) {
		t.Errorf("got %d stacks with sums %v, profile.Merge returns %d with %v", len(got), sampleSums(merged),
			len(want), sampleSums(theirs))
	}
	t.Logf("%d traces, %d stacks, %d µs", len(all), len(merged.Sample), want)
}

// flatTexts returns the samples and the wall time of each stack. It omits page views, because the
// library sums only those of nodes that were on top.
func flatTexts(p *profile.Profile) map[string][2]int64 {
	out := map[string][2]int64{}
	for _, s := range p.Sample {
		var key strings.Builder
		for _, l := range s.Location {
			fn := l.Line[0].Function
			fmt.Fprintf(&key, "%q %q %d %d,", fn.Name, fn.Filename, l.Line[0].Line, l.Line[0].Column)
		}
		sum := out[key.String()]
		out[key.String()] = [2]int64{sum[0] + s.Value[0], sum[1] + s.Value[2]}
	}
	return out
}
