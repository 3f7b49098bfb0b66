package encode

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

// binarySeeds returns documents in the binary format.
func binarySeeds(t testing.TB) [][]byte {
	seeds := [][]byte{equalFrames(t)}
	for _, data := range released(t) {
		seeds = append(seeds, data)
	}
	for _, name := range fixture.GoldenTraces {
		tr := fixture.RepositoryTrace(t, name, DecodeProfilerTrace)
		seeds = append(seeds, encodeTrace(t, tr), encodeProfile(t, tr.Profile()))
	}
	return seeds
}

// FuzzBinary checks that a decoded document is valid, has the same content when it is encoded and
// decoded again, and the same bytes from then on. Columns are compared with the generated code.
func FuzzBinary(f *testing.F) {
	for _, data := range binarySeeds(f) {
		f.Add(data)
	}
	for _, s := range []string{"", "\x0dFTR\x01", "\x0dFTR\x02", "\x0dFTR\x01\x78\x01",
		"\x0dFTR\x01\x12\x00\x78\x01\x80\x7f\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkBinary(t, data) })
}

// checkBinary makes the checks of [FuzzBinary], and reports whether data was decoded.
func checkBinary(t *testing.T, data []byte) bool {
	t.Helper()
	Dump(io.Discard, data)
	compareWithGenerated(t, data)
	first, err := DecodeBinary(data, Limits{})
	if err != nil {
		if KindOf(err) == 0 {
			t.Errorf("%v is not an *Error", err)
		}
		return false
	}
	once, err := reencode(data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := DecodeBinary(once, Limits{})
	if err != nil && strings.Contains(err.Error(), "weight out of range") {
		return true // weights of equal frames, whose nodes were merged
	}
	if err != nil {
		t.Fatal(err)
	}
	compareDocuments(t, first, second)
	if twice, err := reencode(once, Limits{}); err != nil || !bytes.Equal(twice, once) {
		t.Errorf("encoded again: %v, %s", err, fixture.FirstDifference(dump(t, twice), dump(t, once)))
	}
	return true
}

// TestBinaryMutations changes numbers of documents at random. Unlike documents with random bytes,
// most of these can be parsed, and some are valid.
func TestBinaryMutations(t *testing.T) {
	seeds := binarySeeds(t)
	slices.SortFunc(seeds, bytes.Compare) // some are in map order
	read := 0
	const rounds = 200
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 3))
		d := document(t, seeds[r.IntN(len(seeds))])
		for range 1 + r.IntN(3) {
			mutate(r, d.ProtoReflect())
		}
		data, err := proto.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if checkBinary(t, data) {
			read++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d of %d documents were decoded", read, rounds)
	if read < rounds/20 || read > rounds*19/20 {
		t.Errorf("%d of %d documents were decoded; the test needs many of both kinds", read, rounds)
	}
}

// mutate changes one number or text of m or of a nested message.
func mutate(r *rand.Rand, m protoreflect.Message) {
	var set []protoreflect.FieldDescriptor
	for f := range m.Range {
		set = append(set, f)
	}
	slices.SortFunc(set, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number() - b.Number()) })
	if len(set) == 0 {
		return
	}
	f := set[r.IntN(len(set))]
	switch {
	case f.Number() == colMagic && f.Kind() == protoreflect.Fixed32Kind:
	case f.Kind() == protoreflect.MessageKind && f.IsList():
		list := m.Mutable(f).List()
		mutate(r, list.Get(r.IntN(list.Len())).Message())
	case f.Kind() == protoreflect.MessageKind:
		mutate(r, m.Get(f).Message())
	case f.IsList():
		l := m.Mutable(f).List()
		i := r.IntN(l.Len())
		switch r.IntN(6) {
		case 0:
			l.Append(l.Get(i))
		case 1:
			l.Set(i, l.Get(l.Len()-1))
			l.Truncate(l.Len() - 1)
		default:
			l.Set(i, mutated(r, f, l.Get(i)))
		}
	case r.IntN(10) == 0:
		m.Clear(f)
	default:
		m.Set(f, mutated(r, f, m.Get(f)))
	}
}

func mutated(r *rand.Rand, f protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	n := []int64{-1, 0, 1, 2, 3, 8, int64(r.IntN(1000)), math.MaxInt64, math.MinInt64, math.MaxUint32,
		trie.MaxTime}[r.IntN(11)]
	switch f.Kind() {
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(n))
	case protoreflect.Sint32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n) / 7)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(append(v.Bytes(), 'x'))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString([]string{"", "é" + v.String(), v.String() + "a", "a"}[r.IntN(4)])
	}
	return protoreflect.ValueOfInt64(n)
}

// compareDocuments checks that both documents are valid and have the same content, independently of
// Equal.
func compareDocuments(t *testing.T, a, b Document) {
	t.Helper()
	switch {
	case (a.Trace == nil) == (a.Profile == nil), (a.Trace == nil) != (b.Trace == nil):
		t.Fatalf("got %v and %v", a, b)
	case a.Trace != nil:
		if err := a.Trace.Validate(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(recording(a.Trace), recording(b.Trace)) {
			t.Errorf("the samples differ")
		}
		if !reflect.DeepEqual(a.Trace.Context, b.Trace.Context) || !bytes.Equal(a.Trace.Unknown, b.Trace.Unknown) {
			t.Errorf("got context %+v, want %+v", b.Trace.Context, a.Trace.Context)
		}
		if a.Trace.Cost != b.Trace.Cost {
			t.Errorf("got cost %+v, want %+v", b.Trace.Cost, a.Trace.Cost)
		}
		if distinct(a.Trace.Strings) && !a.Trace.Equal(b.Trace) {
			t.Error("the traces are not Equal")
		}
	default:
		if err := a.Profile.Validate(); err != nil {
			t.Fatal(err)
		}
		if got, want := fixture.WeightsByStack(b.Profile), fixture.WeightsByStack(a.Profile); !maps.Equal(got, want) {
			t.Errorf("got weights %v, want %v", got, want)
		}
		if !bytes.Equal(a.Profile.Unknown, b.Profile.Unknown) {
			t.Errorf("got unknown fields %x, want %x", b.Profile.Unknown, a.Profile.Unknown)
		}
		if distinct(a.Profile.Strings) && !a.Profile.Equal(b.Profile) {
			t.Error("the profiles are not Equal")
		}
	}
}

// distinct reports whether no text occurs twice, as in every trie with interned texts.
func distinct(texts []string) bool {
	seen := map[string]bool{}
	for _, s := range texts {
		if seen[s] {
			return false
		}
		seen[s] = true
	}
	return true
}

// recording describes the trace at each moment.
func recording(t *trie.Trace) []string {
	stacks := make([]string, len(t.Nodes))
	for _, s := range t.Samples {
		if n := s.Node; n != trie.Root && stacks[n] == "" {
			stacks[n] = fixture.StackText(&t.Trie, n)
		}
	}
	var out []string
	for _, s := range t.Samples {
		out = append(out, fmt.Sprintf("%d %d %s", s.Time, s.Marker, stacks[s.Node]))
	}
	return out
}

// compareWithGenerated compares columns.parse with the generated code. They differ
// intentionally in three ways:
//
//   - A known field with a wrong wire type is rejected. The generated code treats it as an
//     unknown field, so its value would be lost.
//   - Texts that are not UTF-8 are rejected later.
//   - A number over 32 bits in a column of 32 bits, or in the cost, is kept, and rejected
//     later. The generated code drops its upper bits.
func compareWithGenerated(t *testing.T, data []byte) {
	t.Helper()
	var c columns
	got := c.parse(data, false)
	d := &doc{}
	want := proto.Unmarshal(data, d)
	switch {
	case hasMisfit(data, d.ProtoReflect().Descriptor()):
		if got == nil {
			t.Errorf("a wrong wire type is accepted")
		}
		return
	case want != nil && strings.Contains(want.Error(), "invalid UTF-8"):
		return
	case (got == nil) != (want == nil):
		t.Errorf("got %v, the generated code returns %v", got, want)
	}
	if got != nil || want != nil {
		return
	}
	m := d.ProtoReflect()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if a, b := columnText(&c, f), generatedText(m, f); a != b {
			t.Errorf("%s: got %s, the generated code returns %s", f.Name(), a, b)
		}
	}
	// The generated code rewrites a tag that is longer than necessary.
	if u := m.GetUnknown(); !bytes.Equal(c.unknown, u) && len(c.unknown) <= len(u) {
		t.Errorf("unknown fields: got %x, the generated code returns %x", c.unknown, u)
	}
}

// hasMisfit reports whether a known field of m, or of its cost, has a wire type other than the
// schema's. It stops at the first field that cannot be parsed.
func hasMisfit(data []byte, m protoreflect.MessageDescriptor) bool {
	for len(data) > 0 {
		number, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return false
		}
		f := m.Fields().ByNumber(number)
		if f != nil && typ != wireType(f.Kind()) && !(f.IsPacked() && typ == protowire.BytesType) {
			return true
		}
		size := protowire.ConsumeFieldValue(number, typ, data[n:])
		if size < 0 {
			return false
		}
		if f != nil && f.Number() == colCost {
			cost, _ := protowire.ConsumeBytes(data[n:])
			if hasMisfit(cost, f.Message()) {
				return true
			}
		}
		data = data[n+size:]
	}
	return false
}

// columnText returns the value of a field in columns.
func columnText(c *columns, f protoreflect.FieldDescriptor) string {
	switch f.Number() {
	case colContext:
		b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(&c.context)
		return fmt.Sprintf("%v %x", c.hasContext, b)
	case colCost:
		n := func(field int) uint32 { return uint32(c.cost[field]) }
		return fmt.Sprint(c.hasCost, n(costStart), n(costStop), n(costEncode), n(costBytes), n(costDropped))
	case colResourceText:
		return fmt.Sprintf("%q", c.resourceText)
	case colNameText:
		return fmt.Sprintf("%q", c.nameText)
	case colGroupLabelKey:
		return fmt.Sprintf("%q", c.labelKeys)
	case colGroupLabelValue:
		return fmt.Sprintf("%q", c.labelValues)
	}
	column := []int64{}
	for _, v := range c.col(int(f.Number())) {
		switch f.Kind() {
		case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
			column = append(column, int64(uint32(v)))
		case protoreflect.EnumKind:
			column = append(column, int64(int32(v)))
		case protoreflect.Sint32Kind:
			column = append(column, int64(int32(unzigzag(v&(1<<32-1)))))
		case protoreflect.Sint64Kind:
			column = append(column, unzigzag(v))
		default:
			column = append(column, int64(v))
		}
	}
	if f.IsList() {
		return fmt.Sprint(column)
	}
	return fmt.Sprint(slices.Concat([]int64{0}, column)[len(column)]) // the last, or 0
}

func generatedText(m protoreflect.Message, f protoreflect.FieldDescriptor) string {
	if f.Number() == colContext {
		b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(m.Get(f).Message().Interface())
		return fmt.Sprintf("%v %x", m.Has(f), b)
	}
	if f.Number() == colCost {
		cost := m.Interface().(*doc).GetCost()
		return fmt.Sprint(m.Has(f), cost.GetStart(), cost.GetStop(), cost.GetEncode(), cost.GetBytes(),
			cost.GetDropped())
	}
	number := func(v protoreflect.Value) int64 {
		switch x := v.Interface().(type) {
		case uint32:
			return int64(x)
		case uint64:
			return int64(x)
		case protoreflect.EnumNumber:
			return int64(x)
		}
		return v.Int()
	}
	switch v := m.Get(f); {
	case f.Kind() == protoreflect.StringKind && f.IsList():
		texts := []string{}
		for i := range v.List().Len() {
			texts = append(texts, v.List().Get(i).String())
		}
		return fmt.Sprintf("%q", texts)
	case f.Kind() == protoreflect.StringKind:
		return fmt.Sprintf("%q", v.String())
	case f.IsList():
		column := []int64{}
		for i := range v.List().Len() {
			column = append(column, number(v.List().Get(i)))
		}
		return fmt.Sprint(column)
	default:
		return fmt.Sprint(number(v))
	}
}
