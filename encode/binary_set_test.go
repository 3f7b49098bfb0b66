package encode

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

func encodeSet(t testing.TB, traces ...*trie.Trace) []byte {
	t.Helper()
	b, err := EncodeSet(trie.NewSet(traces))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// setFiles are the sets of testdata/format/v2.
func setFiles(t testing.TB) map[string][]byte {
	handmade := fixture.HandmadeTraces()
	var all []*trie.Trace
	for _, name := range slices.Sorted(maps.Keys(handmade)) {
		all = append(all, handmade[name])
	}
	chunk := func(n uint32) *trie.Trace {
		x := fixture.FullTrace()
		x.Context.Chunk = n
		return x
	}
	spare := fixture.MinimalTrace() // with stacks without samples
	spare.Insert(fixture.FrameMain, fixture.FrameDOM)
	spare.Insert(fixture.FrameDOM, fixture.FrameMain, fixture.FrameRender)
	return map[string][]byte{
		"empty":    encodeSet(t),
		"minimal":  encodeSet(t, fixture.MinimalTrace(), fixture.MinimalTrace()),
		"handmade": encodeSet(t, all...),
		"chunks":   encodeSet(t, chunk(0), chunk(1), chunk(3), fixture.CostTrace()),
		"spare":    encodeSet(t, fixture.MinimalTrace(), spare),
		"sdk":      encodeSet(t, sdkTraces(t)...),
	}
}

// sdkTraces are the vectors of the browser script, except for one with equal calls, which a set
// merges. A test of the script reads sdk.ftr with its own reader, and encodes the traces.
func sdkTraces(t testing.TB) []*trie.Trace {
	files, err := filepath.Glob("../testdata/sdk/*.ftr")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d vectors, error %v", len(files), err)
	}
	var out []*trie.Trace
	for _, file := range files {
		if filepath.Base(file) == "order.ftr" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := DecodeBinary(data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d.Trace)
	}
	return out
}

// TestSetGolden compares sets with testdata/format/v2.
func TestSetGolden(t *testing.T) {
	for name, data := range setFiles(t) {
		fixture.CompareGolden(t, "../../testdata/format/v2/"+name+".ftr", data)
		fixture.CompareGolden(t, "../../testdata/format/v2/"+name+".dump", dump(t, data))
	}
}

// TestSetGivesBack checks that each trace of a set has the same bytes as alone, for real traces in
// sets of any size.
func TestSetGivesBack(t *testing.T) {
	var all []*trie.Trace
	var want [][]byte
	real := fixture.RealTraces(t)
	for i, name := range slices.Sorted(maps.Keys(real)) {
		tr, err := DecodeProfilerTrace(real[name], Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tr.Context.ViewID, tr.Context.Chunk = fmt.Sprint("view", i/2), uint32(i%2)
		all, want = append(all, tr), append(want, encodeTrace(t, tr))
	}
	for _, tr := range sdkTraces(t) {
		all, want = append(all, tr), append(want, encodeTrace(t, tr))
	}
	r := rand.New(rand.NewPCG(5, 6))
	var d BinaryDecoder // shared: reused memory must not contain data of the previous set
	for len(all) > 0 {
		n := 1 + r.IntN(min(len(all), 12))
		set, err := d.DecodeSet(encodeSet(t, all[:n]...), FileLimits())
		if err != nil {
			t.Fatal(err)
		}
		if len(set.Traces) != n {
			t.Fatalf("%d traces of %d", len(set.Traces), n)
		}
		for i := range n {
			if got := encodeTrace(t, set.Trace(i)); !bytes.Equal(got, want[i]) {
				t.Errorf("trace %d of %d: %s", i, n, fixture.FirstDifference(dump(t, got), dump(t, want[i])))
			}
		}
		all, want = all[n:], want[n:]
	}
}

// TestSetIsCanonical checks that the numbering of the tables of traces and of the set does not
// affect the bytes.
func TestSetIsCanonical(t *testing.T) {
	traces := sdkTraces(t)
	want := encodeSet(t, traces...)
	set := trie.NewSet(traces)
	var other []*trie.Trace
	for i := range set.Traces {
		other = append(other, set.Trace(i))
	}
	if got := encodeSet(t, other...); !bytes.Equal(got, want) {
		t.Error(fixture.FirstDifference(dump(t, got), dump(t, want)))
	}
	got, err := EncodeSet(set.Canonical())
	if err != nil || !bytes.Equal(got, want) {
		t.Error(err, fixture.FirstDifference(dump(t, got), dump(t, want)))
	}
}

// TestSetRefusesGapless checks that recordings of developer tools have no encoding.
func TestSetRefusesGapless(t *testing.T) {
	x := fixture.MinimalTrace()
	x.Gapless = true
	if _, err := EncodeSet(trie.NewSet([]*trie.Trace{x})); err == nil || !strings.Contains(err.Error(), "gapless") {
		t.Errorf("got %v", err)
	}
}

func checkSetRefused(t *testing.T, data []byte, lim Limits, kind input.Kind, field, message string) {
	t.Helper()
	var d BinaryDecoder
	_, err := d.DecodeSet(data, lim)
	checkError(t, err, kind, field, message)
}

// TestRefuseSet tests sets with one wrong number each.
func TestRefuseSet(t *testing.T) {
	type set = fieldtriev1.Set
	// Four traces: three of 24 samples with three spans, all of one view, and one of four samples
	// with a cost.
	base := setFiles(t)["chunks"]
	spare := setFiles(t)["spare"]
	for _, c := range []struct {
		of      []byte
		change  func(*set)
		kind    input.Kind
		field   string
		message string
	}{
		{base, func(s *set) {
			s.Magic = FormatVersion<<24 | magicNumber
		}, input.Malformed, "magic", "format version 1 is a trace or profile; this must be a set"},
		{base, func(s *set) { s.TraceContext[3] = 2 }, input.Invalid, "trace_context", "row 3: context 2 of 2"},
		{base, func(s *set) { s.TraceContext = nil }, input.Invalid, "trace_samples", "4 rows, trace_context has 0"},
		{base, func(s *set) {
			s.Context = make([]*fieldtriev1.Context, 5)
		}, input.Invalid, "context", "5 rows for 4 traces"},
		{base, func(s *set) {
			s.Context[0].Chunk = 1
		}, input.Invalid, "context", "row 0: has what belongs to one trace"},
		{base, func(s *set) { s.Context[1].Interval = 0 }, input.Invalid, "context.interval", "missing for trace 3"},
		{base, func(s *set) {
			s.Context[1].SamplingShare = 2
		}, input.Invalid, "", "trace 3: context: sampling share 2"},
		{base, func(s *set) {
			s.TraceSamples[0]++
		}, input.TooLarge, "trace_samples", "row 3: 4, the most for all is 76"},
		{base, func(s *set) {
			s.TraceSamples[0], s.TraceSamples[1] = 25, 23
		}, input.Invalid, "marker_run_length", "row 8 ends after the last sample"},
		{spare, func(s *set) { s.TraceSamples[1] = 3 }, input.Invalid, "sample_run", "row 5 belongs to no sample"},
		{spare, func(s *set) { s.SampleRun = s.SampleRun[1:] }, input.Invalid, "sample_run", ""},
		{base, func(s *set) {
			s.TraceSamples[2] = 1 << 30
		}, input.TooLarge, "trace_samples", "row 2: 1073741824, the most for all is"},
		{base, func(s *set) {
			s.SampleTime = s.SampleTime[1:]
		}, input.TooLarge, "trace_samples", "row 3: 4, the most for all is 75"},
		{base, func(s *set) { s.SampleUnit[1] = 0 }, input.Invalid, "sample_unit", "0 µs is out of range"},
		{base, func(s *set) {
			s.SampleStart = s.SampleStart[1:]
		}, input.Invalid, "sample_start", "3 rows, trace_context has 4"},
		{base, func(s *set) {
			s.Marker, s.MarkerRunLength = s.Marker[1:], s.MarkerRunLength[1:]
		}, input.Invalid, "marker_run_length", ""},
		{base, func(s *set) {
			s.Marker, s.MarkerRunLength = append(s.Marker, 0), append(s.MarkerRunLength, 0)
		}, input.Invalid, "marker_run_length", "belongs to no sample"},
		{base, func(s *set) {
			s.ViewIdLength[0] = 18
		}, input.Invalid, "view_id_length", "row 0: 17 bytes, but view_id has 16 left"},
		{base, func(s *set) { s.ViewIdLength[0] = 16 }, input.Invalid, "view_id", "1 bytes belong to no trace"},
		{base, func(s *set) {
			s.ViewId, s.ViewIdLength[0] = make([]byte, 17), 18
		}, input.Invalid, "", "trace 0: context: view id has 17 bytes"},
		{base, func(s *set) { s.TimeOrigin[1] = 1 << 62 }, input.Invalid, "", "trace 1: context: time origin"},
		{base, func(s *set) { s.Cost = s.Cost[1:] }, input.Invalid, "cost", "19 rows for 4 traces"},
		{base, func(s *set) { s.TraceSpans = s.TraceSpans[1:] }, input.Invalid, "trace_spans", "3 rows for 4 traces"},
		{base, func(s *set) { s.TraceSpans[0] = 2 }, input.Invalid, "trace_spans", "1 rows belong to no trace"},
		{base, func(s *set) {
			s.TraceSpans[0] = 1000
		}, input.Invalid, "trace_spans", "the rows are more than there are"},
		{base, func(s *set) { s.TraceSpans = nil }, input.Invalid, "trace_spans", "9 rows belong to no trace"},
		{base, func(s *set) { s.Span[0] = 3 }, input.Invalid, "span", "row 0 is out of range"},
		{base, func(s *set) { s.SpanStart[0] = 1 << 60 }, input.Invalid, "span", "row 0 is out of range"},
		{base, func(s *set) { s.SpanLength[0] = 1 << 60 }, input.Invalid, "span", "row 0 is out of range"},
		{base, func(s *set) { s.SpanLength = nil }, input.Invalid, "span_length", "0 rows, span has 9"},
		{base, func(s *set) { s.SpanKind[0] = 3 }, input.Invalid, "span_name", "row 0: unknown kind"},
		{base, func(s *set) { s.SpanName = s.SpanName[1:] }, input.Invalid, "span_name", "2 rows, span_kind has 3"},
		{base, func(s *set) {
			s.SpanName[0] = strings.Repeat("x", 8<<10+1)
		}, input.TooLarge, "span_name", "row 0: 8193 bytes, the most is 8192"},
		{base, func(s *set) { s.ChainParent[0] = 5 }, input.Invalid, "chain_parent", "row 0: 5 nodes back"},
		{spare, func(s *set) { s.TraceNode[0] = 99 }, input.Invalid, "trace_node", "row 0: node 99 of"},
		{spare, func(s *set) { s.TraceNode[0] = 0 }, input.Invalid, "trace_node", "row 0: node 0 of"},
		{spare, func(s *set) { s.TraceNodes = nil }, input.Invalid, "trace_nodes", "rows belong to no trace"},
	} {
		t.Run(c.field+": "+c.message, func(t *testing.T) {
			s := &set{}
			if err := proto.Unmarshal(c.of, s); err != nil {
				t.Fatal(err)
			}
			c.change(s)
			data, err := proto.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			checkSetRefused(t, data, Limits{}, c.kind, c.field, c.message)
		})
	}
	with := func(field protowire.Number, value uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(bytes.Clone(base), field, protowire.VarintType), value)
	}
	checkSetRefused(t, with(setViewID, 1), Limits{}, input.Malformed, "view_id", "wire type 0 does not fit")
	checkSetRefused(t, append(bytes.Clone(base), protowire.AppendBytes(protowire.AppendTag(nil, colContext,
		protowire.BytesType), []byte{0xff})...), Limits{}, input.Malformed, "context", "")
	checkSetRefused(t, []byte("garbage garbage"), Limits{}, input.Malformed, "", "not in the binary format")
	checkSetRefused(t, encodeTrace(t, fixture.MinimalTrace()), Limits{}, input.Malformed, "magic",
		"format version 1 is a trace or profile")
	checkSetRefused(t, []byte("\x0dFTR\x03"), Limits{}, input.Malformed, "magic",
		"format version 3; this program reads versions 1 and 2")
}

// TestSetLimits checks that every limit holds, and that its exact number is allowed.
func TestSetLimits(t *testing.T) {
	data := setFiles(t)["chunks"]
	at := Limits{Traces: 4, Samples: 76, Nodes: 4, Frames: 3, Resources: 1, StringBytes: 26, Spans: 9, Labels: 2}
	var d BinaryDecoder
	if _, err := d.DecodeSet(data, at); err != nil {
		t.Errorf("at the limits: %v", err)
	}
	for field, less := range map[string]func(*Limits){
		"trace_context":     func(l *Limits) { l.Traces-- },
		"trace_samples":     func(l *Limits) { l.Samples-- },
		"node_frame":        func(l *Limits) { l.Nodes-- },
		"frame_name":        func(l *Limits) { l.Frames-- },
		"resource_length":   func(l *Limits) { l.StringBytes-- },
		"span":              func(l *Limits) { l.Spans-- },
		"context.label_key": func(l *Limits) { l.Labels-- },
	} {
		lim := at
		less(&lim)
		checkSetRefused(t, data, lim, input.TooLarge, field, "the most")
	}
}

// TestSetDropsUnknown checks that unknown fields are not an error, and are not kept.
func TestSetDropsUnknown(t *testing.T) {
	data := setFiles(t)["minimal"]
	var d BinaryDecoder
	set, err := d.DecodeSet(fixture.AppendUnknown(bytes.Clone(data)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := EncodeSet(set); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%v, %s", err, fixture.FirstDifference(dump(t, got), dump(t, data)))
	}
	if got := encodeSet(t, fixture.UnknownTrace(), fixture.MinimalTrace()); !bytes.Equal(got, data) {
		t.Error(fixture.FirstDifference(dump(t, got), dump(t, data)))
	}
}

// FuzzSet checks that a decoded set is valid, and has the same traces when it is encoded and
// decoded again.
func FuzzSet(f *testing.F) {
	for _, data := range setFiles(f) {
		f.Add(data)
	}
	f.Add([]byte("\x0dFTR\x02"))
	f.Fuzz(func(t *testing.T, data []byte) { checkDecodedSet(t, data) })
}

// checkDecodedSet makes the checks of [FuzzSet], and reports whether data was decoded.
func checkDecodedSet(t *testing.T, data []byte) bool {
	t.Helper()
	Dump(io.Discard, data)
	var d BinaryDecoder
	set, err := d.DecodeSet(data, Limits{})
	if err != nil {
		if KindOf(err) == 0 {
			t.Errorf("%v is not an *Error", err)
		}
		return false
	}
	var traces []*trie.Trace
	for i := range set.Traces {
		if err := set.Traces[i].Validate(); err != nil {
			t.Fatal(err)
		}
		traces = append(traces, set.Trace(i))
		if err := traces[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	again := encodeSet(t, traces...)
	var e BinaryDecoder
	second, err := e.DecodeSet(again, FileLimits())
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range traces {
		// A set merges equal frames and calls.
		want := trie.NewSet([]*trie.Trace{x}).Trace(0)
		if !second.Trace(i).Equal(want) {
			t.Errorf("trace %d differs", i)
		}
	}
	return true
}

// TestSetMutations changes numbers of sets at random, so that most can be parsed and some are
// valid.
func TestSetMutations(t *testing.T) {
	files := setFiles(t)
	names := slices.Sorted(maps.Keys(files))
	read := 0
	const rounds = 400
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := &fieldtriev1.Set{}
		if err := proto.Unmarshal(files[names[r.IntN(len(names))]], s); err != nil {
			t.Fatal(err)
		}
		for range 1 + r.IntN(3) {
			mutate(r, s.ProtoReflect())
		}
		data, err := proto.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if checkDecodedSet(t, data) {
			read++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d of %d sets were decoded", read, rounds)
	if read < rounds/20 || read > rounds*19/20 {
		t.Errorf("%d of %d sets were decoded; the test needs many of both kinds", read, rounds)
	}
}
