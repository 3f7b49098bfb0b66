package pprof

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/folded"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// goProfile records a CPU profile of this process for a short time.
func goProfile(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Skip(err) // go test -cpuprofile records already
	}
	for end := time.Now().Add(150 * time.Millisecond); time.Now().Before(end); {
		slices.Sort(make([]int, 1000))
	}
	pprof.StopCPUProfile()
	return b.Bytes()
}

// TestDecodePprofOfGo decodes a profile of another program: Go's runtime.
func TestDecodePprofOfGo(t *testing.T) {
	data := goProfile(t)
	theirs, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Decode(data, input.FileLimits())
	if err != nil {
		t.Fatal(err)
	}
	var self, samples int64
	for _, g := range p.Groups {
		s, n := g.Sum()
		self, samples = self+s, samples+n
	}
	var wantSelf, wantSamples int64
	for _, s := range theirs.Sample {
		wantSamples, wantSelf = wantSamples+s.Value[0], wantSelf+s.Value[1]
	}
	if self != wantSelf/1000 || samples != wantSamples {
		t.Errorf("got %d µs and %d samples, want %d ns and %d", self, samples, wantSelf, wantSamples)
	}
	if wantSamples == 0 {
		t.Skip("no sample was taken")
	}
	found := false
	for i := range p.Frames {
		f := p.FrameOf(trie.FrameID(i))
		found = found || strings.HasSuffix(f.Name, ".goProfile") && strings.HasSuffix(f.Resource,
			"pprof_read_test.go") && f.Line > 0
	}
	if !found {
		t.Log("this function is not in the profile") // it may not have been sampled
	}
	checkPprofRoundTrip(t, "go", p)
}

// foreign is a pprof profile with one sample type, for tests to change.
func foreign(unit string, values ...int64) *profile.Profile {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: unit}}}
	main := &profile.Function{ID: 1, Name: "main", Filename: "main.c", StartLine: 3}
	inner := &profile.Function{ID: 2, Name: "inner", Filename: "main.c"}
	unnamed := &profile.Function{ID: 3, Filename: "lib.so"}
	p.Function = []*profile.Function{main, inner, unnamed}
	p.Location = []*profile.Location{
		{ID: 1, Address: 0x10, Line: []profile.Line{{Function: main, Line: 9, Column: 4}}},
		// inner is inlined
		{ID: 2, Address: 0x20, Line: []profile.Line{{Function: inner, Line: 7, Column: 2}, {Function: main, Line: 5}}},
		{ID: 3, Address: 0x30},
		{ID: 4, Address: 0x40, Line: []profile.Line{{Function: unnamed, Line: 1}}},
	}
	for i, v := range values {
		p.Sample = append(p.Sample, &profile.Sample{Value: []int64{v}, Location: p.Location[i%4 : i%4+1]})
	}
	return p
}

func pprofBytes(t *testing.T, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDecodePprofForeign tests inlined frames, positions of calls, and locations without a
// function.
func TestDecodePprofForeign(t *testing.T) {
	p := foreign("nanoseconds", 1000, 2000, 3000, 4000, 499, 2500)
	p.Sample = append(p.Sample, &profile.Sample{Value: []int64{7000}}) // without a stack
	p.Sample[0].Label = map[string][]string{"thread": {"b", "a", "b"}}
	got, err := Decode(pprofBytes(t, p), input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	// The line of the definition is used if known; the column of a call is not.
	want := "0x30 3\n(anonymous) (lib.so:1) 4\nmain (main.c:3) 1\nmain (main.c:3);inner (main.c:7:2) 5\n"
	if got := fixture.Written(t, folded.Encode, got, output.Options{}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, c := got.Flat(); c.Stackless != 7 {
		t.Errorf("got %d µs without a stack, want 7", c.Stackless)
	}
	if l := got.Groups[len(got.Groups)-1].Labels; !slices.Equal(l, trie.MakeLabels("thread", "a", "thread", "b")) {
		t.Errorf("got labels %v", l)
	}
}

// TestDecodePprofTypes checks which sample type is used as self time, and its unit.
func TestDecodePprofTypes(t *testing.T) {
	types := func(s string) (out []*profile.ValueType) {
		for f := range strings.FieldsSeq(s) {
			typ, unit, _ := strings.Cut(f, "/")
			out = append(out, &profile.ValueType{Type: typ, Unit: unit})
		}
		return out
	}
	for _, c := range []struct {
		types, standard string
		want            trie.Weight // for the values 1000, 2000, …
	}{
		{"cpu/nanoseconds", "", trie.Weight{Self: 1}},
		{"cpu/microseconds", "", trie.Weight{Self: 1000}},
		{"cpu/milliseconds", "", trie.Weight{Self: 1_000_000}},
		{"cpu/seconds", "", trie.Weight{Self: 1_000_000_000}},
		{"samples/count cpu/nanoseconds", "", trie.Weight{Self: 2, Samples: 1000}},
		{"cpu/nanoseconds delay/nanoseconds", "", trie.Weight{Self: 2}},
		{"cpu/nanoseconds delay/nanoseconds", "cpu", trie.Weight{Self: 1}},
		{"wall/nanoseconds delay/nanoseconds", "delay", trie.Weight{Self: 1}},
		{"wall/nanoseconds samples/count pageviews/count", "", trie.Weight{Self: 1, Samples: 2000, Reach: 3000}},
		{"samples/bytes cpu/nanoseconds", "", trie.Weight{Self: 2}},
	} {
		p := foreign("", 0)
		p.SampleType, p.DefaultSampleType = types(c.types), c.standard
		p.Sample[0].Value = []int64{1000, 2000, 3000}[:len(p.SampleType)]
		got, err := Decode(pprofBytes(t, p), input.Limits{})
		if err != nil {
			t.Errorf("%s: %v", c.types, err)
			continue
		}
		if w, _ := got.Flat(); w[1] != c.want {
			t.Errorf("%s, default %q: got %+v, want %+v", c.types, c.standard, w[1], c.want)
		}
	}
}

// TestClampLine checks that invalid lines count as unknown.
func TestClampLine(t *testing.T) {
	for n, want := range map[int64]uint32{-1: 0, 0: 0, 1: 1, 1<<32 - 1: 1<<32 - 1, 1 << 32: 0} {
		if got := input.ClampLine(n); got != want {
			t.Errorf("%d: got %d, want %d", n, got, want)
		}
	}
}

// TestDecodePprofRounds checks that half a microsecond is rounded away from zero.
func TestDecodePprofRounds(t *testing.T) {
	for ns, want := range map[int64]int64{
		0: 0, 499: 0, 500: 1, 1499: 1, 1500: 2, -499: 0, -500: -1, -1000: -1, -1499: -1, -1500: -2, -2000: -2,
		math.MaxInt64: math.MaxInt64/1000 + 1, math.MinInt64: math.MinInt64/1000 - 1,
	} {
		if w, ok := (pprofColumn{samples: -1, views: -1, perMicro: 1000}).weight([]int64{ns}); !ok || w.Self != want {
			t.Errorf("%d ns: got %d µs, want %d", ns, w.Self, want)
		}
	}
}

func TestDecodePprofRefuse(t *testing.T) {
	for _, c := range []struct {
		name   string
		lim    input.Limits
		change func(*profile.Profile)
		kind   input.Kind
		want   string
	}{
		{"units", input.Limits{}, func(p *profile.Profile) {
			p.SampleType = []*profile.ValueType{{Type: "inuse_space", Unit: "bytes"}, {Type: "samples", Unit: "count"}}
			p.Sample = nil
		}, input.Invalid, "sample_type: no type with a unit of time, only inuse_space/bytes, samples/count"},
		{"locations", input.Limits{Frames: 3}, nil, input.TooLarge, "location: 4, the most is 3"},
		{"inlined frames", input.Limits{Frames: 4}, func(p *profile.Profile) {
			p.Location[0].Line = append(p.Location[0].Line, profile.Line{Function: p.Function[1], Line: 8})
		}, input.TooLarge, "location: 5, the most is 4"},
		{"nodes", input.Limits{Nodes: 3}, nil, input.TooLarge, "sample[3]: 4, the most is 3"},
		{"long name", input.Limits{StringBytes: 5}, nil, input.TooLarge, "function: a text of 6 bytes, the most is 5"},
		{"range", input.Limits{}, func(p *profile.Profile) {
			p.SampleType[0].Unit = "seconds"
			p.Sample[1].Value[0] = 1 << 37
		}, input.Invalid, "sample[1]: value out of range"},
		{"range", input.Limits{}, func(p *profile.Profile) {
			p.SampleType[0].Unit = "microseconds"
			p.Sample[1].Value[0] = 1<<56 + 1
		}, input.Invalid, "weight out of range"},
	} {
		p := foreign("nanoseconds", 1, 2, 3, 4)
		if c.change != nil {
			c.change(p)
		}
		got, err := Decode(pprofBytes(t, p), c.lim)
		if got != nil || input.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want %s", c.name, got, err, c.want)
		}
	}
	broken := foreign("nanoseconds")
	broken.Location[3].Line[0].Function = nil
	var noFunction bytes.Buffer
	if err := broken.WriteUncompressed(&noFunction); err != nil {
		t.Fatal(err)
	}
	good := uncompressedPprof(t, fixture.MinimalTrace().Profile())
	for name, data := range map[string][]byte{
		"nothing": nil, "garbage": []byte("garbage"), "cut off": good[:len(good)-1], "JSON": []byte(fixture.OneTrace),
		"no function":    noFunction.Bytes(),
		"truncated gzip": fixture.Gzipped(good)[:40], "gzip in gzip": fixture.Gzipped(fixture.Gzipped(good)),
		"text": []byte("heap profile: 1: 2 [3: 4] @ heap/5\n"),
	} {
		if got, err := Decode(data, input.Limits{}); got != nil || input.KindOf(err) == 0 {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

// TestDecodePprofCoverage checks that only comments of this program count, and only numbers in
// range.
func TestDecodePprofCoverage(t *testing.T) {
	p := foreign("nanoseconds", 1000)
	p.Comments = []string{
		"views=100", coverageComment + "views=2 traces=3 stackless_us=-4 idle_us=-2 later=9", "fieldtrie coverage",
		coverageComment + "views=1 traces=x unsampled_us=99999999999999999999 truncated=6 stackless_us=",
		fmt.Sprintf("%sunsampled_us=%d", coverageComment, int64(trie.MaxWeight)+1),
	}
	got, err := Decode(pprofBytes(t, p), input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, c := got.Flat(); c != (trie.Coverage{Views: 3, Traces: 3, Stackless: -4, Idle: -2, Truncated: 6}) {
		t.Errorf("got %+v", c)
	}
}

// FuzzPprof checks that a decoded profile is valid, and survives encoding and decoding.
func FuzzPprof(f *testing.F) {
	for _, name := range fixture.GoldenTraces {
		f.Add(uncompressedPprof(f, fixture.RepositoryTrace(f, name, encode.DecodeProfilerTrace).Profile()))
	}
	for _, p := range fixture.HandmadeProfiles() {
		f.Add(uncompressedPprof(f, p))
	}
	var b bytes.Buffer
	foreign("nanoseconds", 1, 2, 3, 4).WriteUncompressed(&b)
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || len(data) > 1<<16 {
			return // gzip only hides the content from the fuzzer
		}
		p, err := Decode(data, input.Limits{Nodes: 2000, Frames: 2000})
		if err != nil {
			if input.KindOf(err) == 0 {
				t.Errorf("%v is not an *Error", err)
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		want := stackWeights(p)
		for _, w := range want {
			if max(w.Self, -w.Self, w.Samples, -w.Samples, w.Reach, -w.Reach) > 1<<50 {
				return // exceeds nanoseconds, or the coverage exceeds a comment
			}
		}
		again, err := Decode(uncompressedPprof(t, p), input.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := stackWeights(again); !maps.Equal(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	})
}
