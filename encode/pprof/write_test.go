package pprof

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// manyStacks has more samples than a writer's buffers hold, texts that compress badly, and groups
// with difficult labels.
func manyStacks() *trie.Profile {
	p := trie.NewProfile()
	random := rand.New(rand.NewPCG(1, 2))
	labels := []trie.Labels{
		nil,
		trie.MakeLabels("page", ""),
		trie.MakeLabels("page", "/feed", "feature", "b", "feature", "", "feature", "a", "page", "wall"),
		trie.MakeLabels("a", "a", "samples", "count", "release", "\xff\x00"),
	}
	nodes := []trie.NodeID{trie.Root}
	for range 6_000 {
		f := trie.Frame{Name: "f", Resource: "r", Line: random.Uint32() >> random.IntN(32), Column: random.Uint32N(3)}
		if random.IntN(4) == 0 {
			f.Name = strings.Repeat("x", random.IntN(300))
		}
		n := p.Child(nodes[random.IntN(len(nodes))], p.Intern(f))
		nodes = append(nodes, n)
		w := trie.Weight{Self: random.Int64N(2001) - 1000, Samples: random.Int64N(3) - 1, Reach: random.Int64N(3) - 1}
		p.Add(labels[random.IntN(len(labels))], n, w)
	}
	deep := nodes[1]
	for i := range 300 { // more than fit in one byte
		deep = p.Child(deep, p.Intern(trie.Frame{Name: "deep", Line: uint32(i)}))
	}
	p.Add(nil, deep, trie.Weight{Self: trie.MaxWeight, Samples: trie.MaxWeight})
	long := p.Insert(trie.Frame{Name: strings.Repeat("long", 50_000), Resource: "wall"})
	p.Add(nil, long, trie.Weight{Self: -trie.MaxWeight, Samples: -trie.MaxWeight, Reach: -1})
	p.Group(trie.MakeLabels("page", "/nothing")).Coverage = trie.Coverage{Views: 1, Unsampled: -5}
	p.Views, p.Traces = 9, -9
	return p
}

// checkPprofWrite checks that the output decodes to the same profile as the pprof library's output.
func checkPprofWrite(t *testing.T, name string, p *trie.Profile, o output.Options, types ...string) {
	t.Helper()
	var own, theirs bytes.Buffer
	if err := Write(&own, p, o, types...); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	values, err := pprofValuesOf(types)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := pprofProfile(p, o, values).Write(&theirs); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got, err := profile.ParseData(own.Bytes())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := got.CheckValid(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	want, err := profile.ParseData(theirs.Bytes())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if g, w := got.String(), want.String(); g != w {
		t.Errorf("%s: %s", name, fixture.FirstDifference([]byte(g), []byte(w)))
	}
	if g, w := pprofFields(got), pprofFields(want); !reflect.DeepEqual(g, w) {
		t.Errorf("%s: got %+v\nwant %+v", name, g, w)
	}
	if !slices.EqualFunc(got.Sample, want.Sample, equalSamples) {
		t.Errorf("%s: the samples differ", name)
	}
}

// pprofFields returns p without the samples.
func pprofFields(p *profile.Profile) *profile.Profile {
	return &profile.Profile{
		SampleType: p.SampleType, DefaultSampleType: p.DefaultSampleType,
		Mapping: p.Mapping, Location: p.Location, Function: p.Function,
		Comments: p.Comments, DocURL: p.DocURL, DropFrames: p.DropFrames, KeepFrames: p.KeepFrames,
		TimeNanos: p.TimeNanos, DurationNanos: p.DurationNanos, PeriodType: p.PeriodType, Period: p.Period,
	}
}

// equalSamples compares locations by their ids, because the tables are compared separately.
func equalSamples(a, b *profile.Sample) bool {
	return slices.EqualFunc(a.Location, b.Location, func(a, b *profile.Location) bool { return a.ID == b.ID }) &&
		slices.Equal(a.Value, b.Value) && maps.EqualFunc(a.Label, b.Label, slices.Equal) &&
		len(a.NumLabel) == 0 && len(b.NumLabel) == 0
}

func TestPprofWrite(t *testing.T) {
	profiles := fixture.HandmadeProfiles()
	var real []*trie.Profile
	for name, data := range fixture.RealTraces(t) {
		tr, err := encode.DecodeProfilerTrace(data, input.FileLimits())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		profiles[name] = tr.Profile()
		tr.Context.Page = "/" + name
		real = append(real, tr.Profile())
	}
	for name, tr := range fixture.HandmadeTraces() {
		profiles[name+" trace"] = tr.Profile()
	}
	profiles["merged"] = trie.Merge(real...)
	profiles["many stacks"] = manyStacks()
	since := time.Date(2026, 11, 3, 10, 0, 0, 1, time.UTC)
	for name, p := range profiles {
		checkPprofWrite(t, name, p, output.Options{})
		checkPprofWrite(t, name+" of an hour", p, output.Options{Since: since, Until: since.Add(time.Hour)})
	}
	p := fixture.GroupedProfile()
	checkPprofWrite(t, "before 1970", p, output.Options{Since: time.Unix(-5, 0), Until: time.Unix(-6, 0)})
	checkPprofWrite(t, "without an end", p, output.Options{Since: since})
	checkPprofWrite(t, "time alone", p, output.Options{}, "wall")
	checkPprofWrite(t, "two values", p, output.Options{}, "wall", "samples")
	var plain, compressed bytes.Buffer
	if err := Write(&plain, p, output.Options{}, "cpu"); err == nil || plain.Len() > 0 {
		t.Errorf("an unknown type: got %d bytes, %v, want an error", plain.Len(), err)
	}
	if err := errors.Join(Write(&plain, p, output.Options{}), Encode(&compressed, p, output.Options{})); err != nil {
		t.Fatal(err)
	}
	if got, err := input.Gunzip(compressed.Bytes()); err != nil || !bytes.Equal(got, plain.Bytes()) {
		t.Errorf("compressed: got %d bytes, want the %d of the uncompressed output; %v", len(got), plain.Len(), err)
	}
}

// fullWriter accepts a limited number of bytes.
type fullWriter struct {
	room int
	err  error
}

func (w *fullWriter) Write(b []byte) (int, error) {
	n := min(len(b), w.room)
	w.room -= n
	if n < len(b) {
		return n, w.err
	}
	return n, nil
}

// TestPprofWriteErrors checks that the writer's error is returned wherever it occurs.
func TestPprofWriteErrors(t *testing.T) {
	full := errors.New("full")
	for name, p := range map[string]*trie.Profile{"groups": fixture.GroupedProfile(), "many stacks": manyStacks()} {
		var b bytes.Buffer
		if err := Encode(&b, p, output.Options{}); err != nil {
			t.Fatal(err)
		}
		for part := range 20 {
			if err := Encode(&fullWriter{b.Len() * part / 20, full}, p, output.Options{}); !errors.Is(err, full) {
				t.Errorf("%s: after %d of 20 parts: got %v, want %v", name, part, err, full)
			}
		}
		for _, room := range []int{0, 1, 9, 10, b.Len() - 9, b.Len() - 1} {
			if err := Encode(&fullWriter{room, full}, p, output.Options{}); !errors.Is(err, full) {
				t.Errorf("%s: after %d bytes: got %v, want %v", name, room, err, full)
			}
		}
		if err := Encode(&fullWriter{b.Len(), full}, p, output.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
