package encode

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"weak"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/trie"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

// encodeTrace and encodeProfile encode a valid trace or profile.
func encodeTrace(t testing.TB, tr *trie.Trace) []byte {
	t.Helper()
	b, err := EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func encodeProfile(t testing.TB, p *trie.Profile) []byte {
	t.Helper()
	b, err := EncodeProfile(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkTraceRoundTrip encodes tr, decodes the result and encodes it again.
func checkTraceRoundTrip(t *testing.T, name string, tr *trie.Trace) {
	t.Helper()
	data := encodeTrace(t, tr)
	d, err := DecodeBinary(data, Limits{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if d.Profile != nil || d.Trace == nil || !d.Trace.Equal(tr) {
		t.Errorf("%s: the decoded trace is not equal", name)
		return
	}
	if again := encodeTrace(t, d.Trace); !bytes.Equal(again, data) {
		t.Errorf("%s: encoded again: %s", name, fixture.FirstDifference(dump(t, again), dump(t, data)))
	}
}

func checkProfileRoundTrip(t *testing.T, name string, p *trie.Profile) {
	t.Helper()
	data := encodeProfile(t, p)
	d, err := DecodeBinary(data, Limits{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if d.Trace != nil || d.Profile == nil || !d.Profile.Equal(p) || !bytes.Equal(d.Profile.Unknown, p.Unknown) {
		t.Errorf("%s: the decoded profile is not equal", name)
		return
	}
	if again := encodeProfile(t, d.Profile); !bytes.Equal(again, data) {
		t.Errorf("%s: encoded again: %s", name, fixture.FirstDifference(dump(t, again), dump(t, data)))
	}
}

func TestBinaryRoundTrip(t *testing.T) {
	for name, data := range fixture.RealTraces(t) {
		tr, err := DecodeProfilerTrace(data, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkTraceRoundTrip(t, name, tr)
		checkProfileRoundTrip(t, name, tr.Profile())
	}
	for name, tr := range fixture.HandmadeTraces() {
		checkTraceRoundTrip(t, name, tr)
		checkProfileRoundTrip(t, name, tr.Profile())
	}
	for name, p := range fixture.HandmadeProfiles() {
		checkProfileRoundTrip(t, name, p)
	}
}

// TestBinaryTimes checks that the extreme times of valid traces survive a round trip.
func TestBinaryTimes(t *testing.T) {
	for name, times := range map[string][]int64{
		"one sample":           {-1},
		"equal times":          {5, 5, 5},
		"longest":              {-trie.MaxTime, trie.MaxTime},
		"longest, odd":         {-trie.MaxTime, trie.MaxTime - 1, trie.MaxTime},
		"unit over 32 bits":    {0, 1 << 40, 2 << 40},
		"unit over an hour":    {0, 4_000_000_000, 8_000_000_000},
		"unit not of interval": {0, 7, 14, 700, 707},
	} {
		tr := fixture.MinimalTrace()
		tr.Samples = nil
		for i, time := range times {
			tr.Samples = append(tr.Samples, trie.Sample{Time: time, Node: trie.NodeID(i % len(tr.Nodes))})
		}
		checkTraceRoundTrip(t, name, tr)
	}
}

// TestBinaryIsCanonical checks that the numbering of tables does not affect the bytes.
func TestBinaryIsCanonical(t *testing.T) {
	a, b := &trie.Trace{Trie: *trie.New()}, &trie.Trace{Trie: *trie.New()}
	x := a.Insert(fixture.FrameMain, fixture.FrameRender)
	y := a.Insert(fixture.FrameMain, fixture.FrameDOM)
	a.Context.Interval, a.Samples = 10, []trie.Sample{{Time: 1, Node: y}, {Time: 2, Node: x}}
	y = b.Insert(fixture.FrameMain, fixture.FrameDOM)
	x = b.Insert(fixture.FrameMain, fixture.FrameRender)
	b.Context.Interval, b.Samples = 10, []trie.Sample{{Time: 1, Node: y}, {Time: 2, Node: x}}
	if got, want := encodeTrace(t, b), encodeTrace(t, a); !bytes.Equal(got, want) {
		t.Error(fixture.FirstDifference(dump(t, got), dump(t, want)))
	}
	b.Frames = append(b.Frames, b.Frames[b.Nodes[y].Frame])
	b.Nodes[y].Frame = trie.FrameID(len(b.Frames) - 1)
	if got, want := encodeTrace(t, b), encodeTrace(t, a); !bytes.Equal(got, want) {
		t.Errorf("with a duplicate frame: %s", fixture.FirstDifference(dump(t, got), dump(t, want)))
	}
	p, q := fixture.Difference(), fixture.GroupedProfile()
	if got, want := encodeProfile(t, trie.Merge(q, p)), encodeProfile(t, trie.Merge(p, q)); !bytes.Equal(got, want) {
		t.Error(fixture.FirstDifference(dump(t, got), dump(t, want)))
	}
}

// TestBinaryEqualFrames checks that a profile with a duplicate frame is decoded, and that its
// encoding has the frame once and the nodes merged.
func TestBinaryEqualFrames(t *testing.T) {
	got, err := reencode(equalFrames(t), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p := trie.NewProfile()
	p.Add(nil, p.Insert(fixture.FrameDOM), trie.Weight{Self: 8})
	p.Add(nil, p.Insert(fixture.FrameMain), trie.Weight{Self: 2})
	if want := encodeProfile(t, p); !bytes.Equal(got, want) {
		t.Error(fixture.FirstDifference(dump(t, got), dump(t, want)))
	}
}

// equalFrames returns a profile that has querySelector twice, with 3 and 5 µs, and main with 2.
func equalFrames(t testing.TB) []byte {
	t.Helper()
	p := trie.NewProfile()
	p.Add(nil, p.Insert(fixture.FrameDOM), trie.Weight{Self: 1})
	p.Add(nil, p.Insert(fixture.FrameMain), trie.Weight{Self: 1})
	d := document(t, encodeProfile(t, p))
	d.FrameCount, d.FrameName, d.FramePosition = []uint32{2, 1}, []uint32{1, 2, 1}, []uint64{0, 0, 3, 1}
	d.ChainParent, d.ChainLength, d.NodeFrame = []uint32{1, 2, 3}, []uint32{0, 0, 0}, []int32{0, 2, 1}
	d.GroupRows, d.WeightNode, d.WeightSelf = []uint32{3}, []uint32{1, 1, 1}, []int64{3, 2, 5}
	d.WeightSamples, d.WeightReach = make([]int64, 3), make([]int64, 3)
	data, err := proto.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestBinaryIsSmall checks the size of encoded traces.
func TestBinaryIsSmall(t *testing.T) {
	var binary, zipped int
	for _, data := range fixture.RealTraces(t) {
		tr, err := DecodeProfilerTrace(data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		binary += len(encodeTrace(t, tr))
		zipped += len(fixture.Gzipped(data))
	}
	if share := float64(binary) / float64(zipped); share > 0.6 {
		t.Errorf("the traces have %.2f of the size of their gzipped JSON, want 0.6 or less", share)
	} else {
		t.Logf("%.3f of gzipped JSON", share)
	}
}

// TestBinaryUnknown checks that fields of later versions are kept where they were.
func TestBinaryUnknown(t *testing.T) {
	tr := fixture.UnknownTrace()
	data := encodeTrace(t, tr)
	d, err := DecodeBinary(data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(d.Trace.Unknown, tr.Unknown) || !bytes.Equal(d.Trace.Context.Unknown, tr.Context.Unknown) {
		t.Errorf("got %x and %x, want %x and %x", d.Trace.Unknown, d.Trace.Context.Unknown, tr.Unknown,
			tr.Context.Unknown)
	}
	// A field between the others has the same meaning and moves to the end.
	data = append(append(bytes.Clone(data[:5]), fixture.AppendUnknown(nil)...),
		encodeTrace(t, fixture.MinimalTrace())[5:]...)
	again, err := reencode(data, Limits{})
	if want := append(encodeTrace(t, fixture.MinimalTrace()), fixture.AppendUnknown(nil)...); err != nil ||
		!bytes.Equal(again, want) {
		t.Errorf("got %x, %v\nwant %x", again, err, want)
	}
	p := fixture.GroupedProfile()
	if d, err = DecodeBinary(encodeProfile(t, p), Limits{}); err != nil || !bytes.Equal(d.Profile.Unknown, p.Unknown) {
		t.Errorf("profile: got %v, %v", d.Profile, err)
	}
}

// TestBinaryCost checks that the cost is the last field, so that it can be appended to an encoded
// trace. It may be split into parts, and a missing cost equals a cost of zeros.
func TestBinaryCost(t *testing.T) {
	without, with := encodeTrace(t, fixture.MinimalTrace()), encodeTrace(t, fixture.CostTrace())
	message, found := bytes.CutPrefix(with, without)
	tag := protowire.AppendTag(nil, colCost, protowire.BytesType)
	if !found || !bytes.HasPrefix(message, tag) {
		t.Fatalf("got %x, want the cost after %x", with, without)
	}
	appended := func(parts ...[]byte) []byte {
		data := bytes.Clone(without)
		for _, p := range parts {
			data = protowire.AppendBytes(append(data, tag...), p)
		}
		return data
	}
	field := func(number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
	}
	const most = 1<<32 - 1
	for _, c := range []struct {
		data []byte
		want trie.Cost
	}{
		{without, trie.Cost{}},
		{with, fixture.CostTrace().Cost},
		{append(bytes.Clone(with[:5]), append(bytes.Clone(message), without[5:]...)...), fixture.CostTrace().Cost},
		{appended(nil), trie.Cost{}},
		{appended(field(costStart, most), nil, field(costDropped, 2)), trie.Cost{Start: most, Dropped: 2}},
		{appended(append(field(costStop, 7), field(costStop, 8)...), field(costBytes, most)), trie.Cost{Stop: 8,
			Bytes: most}},
		// of a later version
		{appended(append(field(costEncode, most), field(costEnd, 1<<40)...)), trie.Cost{Encode: most}},
	} {
		d, err := DecodeBinary(c.data, Limits{})
		if err != nil || d.Trace.Cost != c.want {
			t.Errorf("%x: got %+v, %v, want %+v", c.data[len(without):], d.Trace, err, c.want)
			continue
		}
		want := fixture.CostTrace()
		want.Cost = c.want
		if got, want := encodeTrace(t, d.Trace), encodeTrace(t, want); !bytes.Equal(got, want) {
			t.Error(fixture.FirstDifference(dump(t, got), dump(t, want)))
		}
	}
}

// TestBinaryIdle checks that the column of idle time exists if a group has idle time.
func TestBinaryIdle(t *testing.T) {
	without, with := document(t, encodeProfile(t, fixture.GroupedProfile())),
		document(t, encodeProfile(t, fixture.IdleProfile()))
	if without.GroupIdle != nil || !slices.Equal(with.GroupIdle, []int64{0, 20_000, 0}) {
		t.Errorf("got columns %v and %v", without.GroupIdle, with.GroupIdle)
	}
	without.GroupIdle = make([]int64, 3)
	data, err := proto.Marshal(without)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := reencode(data, Limits{}); err != nil ||
		!bytes.Equal(again, encodeProfile(t, fixture.GroupedProfile())) {
		t.Errorf("a column of zeros: got %x, %v", again, err)
	}
	less := trie.Subtract(fixture.IdleProfile(), trie.Merge(fixture.IdleProfile(), fixture.IdleProfile()))
	checkProfileRoundTrip(t, "negative", less)
	if _, c := less.Flat(); c.Idle != -20_000 {
		t.Errorf("got %+v", c)
	}
}

// TestBinaryDecoderReuse checks that no data of a document leaks into the next one.
func TestBinaryDecoderReuse(t *testing.T) {
	var documents [][]byte
	for _, tr := range []*trie.Trace{
		fixture.FullTrace(), fixture.CostTrace(), fixture.MinimalTrace(), fixture.UnknownTrace(), {Trie: *trie.New()},
		fixture.MarkedTrace(), fixture.OddTrace(), fixture.MinimalTrace(),
	} {
		documents = append(documents, encodeTrace(t, tr), encodeProfile(t, tr.Profile()))
	}
	documents = append(documents, encodeProfile(t, fixture.IdleProfile()), encodeProfile(t, fixture.GroupedProfile()),
		encodeTrace(t, fixture.PhasesTrace()), encodeTrace(t, fixture.FullTrace()), encodeProfile(t, trie.NewProfile()))
	var d BinaryDecoder
	for round := range 2 {
		for i, data := range documents {
			got, err := d.Decode(data, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var again []byte
			if got.Trace != nil {
				again = encodeTrace(t, got.Trace)
			} else {
				again = encodeProfile(t, got.Profile)
			}
			if !bytes.Equal(again, data) {
				t.Errorf("round %d, document %d: %s", round, i, fixture.FirstDifference(dump(t, again), dump(t, data)))
			}
			// Data of a document that is rejected halfway must not leak either.
			if _, err := d.Decode(data[:len(data)-1], Limits{}); err == nil {
				t.Errorf("document %d: truncated, but accepted", i)
			}
		}
	}
}

// TestBinarySharesNothing checks that the caller may reuse its buffer.
func TestBinarySharesNothing(t *testing.T) {
	for name, want := range released(t) {
		data := bytes.Clone(want)
		d, err := DecodeBinary(data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		clear(data)
		var again []byte
		if d.Trace != nil {
			again = encodeTrace(t, d.Trace)
		} else {
			again = encodeProfile(t, d.Profile)
		}
		if !bytes.Equal(again, want) {
			t.Errorf("%s: changed with the buffer", name)
		}
	}
}

// TestBinaryLetsGo checks that a decoded trace does not keep the input in memory.
func TestBinaryLetsGo(t *testing.T) {
	read := func() (*trie.Trace, weak.Pointer[byte]) {
		data := encodeTrace(t, fixture.FullTrace())
		d, err := DecodeBinary(data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return d.Trace, weak.Make(&data[0])
	}
	tr, data := read()
	runtime.GC()
	if data.Value() != nil {
		t.Error("the document is still in memory")
	}
	runtime.KeepAlive(tr)
}

// TestColumnNumbers compares the constants of binary_columns.go with the schema.
func TestColumnNumbers(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "binary_columns.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	checkNumbers(t, file, "col", &fieldtriev1.Document{}, 0)
	checkNumbers(t, file, "set", &fieldtriev1.Set{}, colMarkerRunLength) // smaller ones as in Document
	context, cost := (&fieldtriev1.Context{}).ProtoReflect().Descriptor(),
		(&fieldtriev1.Cost{}).ProtoReflect().Descriptor()
	if n, size := context.Fields().Len(), 14; n != size {
		t.Errorf("Context has %d fields; the code knows %d", n, size)
	}
	if n := cost.Fields().Len(); n != costEnd-1 {
		t.Errorf("Cost has %d fields; the code knows %d", n, costEnd-1)
	}
}

// checkNumbers compares the constants of a file that begin with prefix with the fields of m after a
// number.
func checkNumbers(t *testing.T, file *ast.File, prefix string, m proto.Message, after int) {
	t.Helper()
	numbers := map[string]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Names) != 1 || len(v.Values) != 1 {
			return true
		}
		name, has := strings.CutPrefix(v.Names[0].Name, prefix)
		if number, ok := v.Values[0].(*ast.BasicLit); has && ok {
			var err error
			if numbers[name], err = strconv.Atoi(number.Value); err != nil {
				t.Fatal(err)
			}
		}
		return true
	})
	end := 0
	fields := m.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if int(f.Number()) <= after {
			shared := (&fieldtriev1.Document{}).ProtoReflect().Descriptor().Fields().ByNumber(f.Number())
			if shared.Name() != f.Name() || shared.Kind() != f.Kind() {
				t.Errorf("field %d is %s, but %s in a Document", f.Number(), f.Name(), shared.Name())
			}
			continue
		}
		constant := ""
		for word := range strings.SplitSeq(string(f.Name()), "_") {
			if word == "id" {
				word = "ID"
			}
			constant += strings.ToUpper(word[:1]) + word[1:]
		}
		if numbers[constant] != int(f.Number()) {
			t.Errorf("%s%s = %d, but %s = %d", prefix, constant, numbers[constant], f.Name(), f.Number())
		}
		delete(numbers, constant)
		end = max(end, int(f.Number())+1)
	}
	if len(numbers) != 1 || numbers["End"] != end {
		t.Errorf("got %v in addition to the fields, want only End = %d", numbers, end)
	}
}

// TestMagic checks that the first bytes follow the schema, with the version last.
func TestMagic(t *testing.T) {
	for version, want := range map[uint32]string{FormatVersion: "\x0dFTR\x01", SetVersion: "\x0dFTR\x02"} {
		got, err := proto.Marshal(&fieldtriev1.Document{Magic: version<<24 | magicNumber})
		if err != nil || string(got) != want {
			t.Errorf("got %x, %v, want %x", got, err, want)
		}
		if got[0] != byte(protowire.EncodeTag(colMagic, protowire.Fixed32Type)) || got[0] != magicTag {
			t.Errorf("got tag %x", got[0])
		}
	}
}
