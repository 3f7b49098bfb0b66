package encode

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

// doc abbreviates the message in the tables below.
type doc = fieldtriev1.Document

// refusal is a document that must be rejected, made by a change to a valid one.
type refusal struct {
	change  func(d *doc)
	kind    input.Kind
	field   string
	message string
}

func document(t testing.TB, data []byte) *doc {
	t.Helper()
	d := &doc{}
	if err := proto.Unmarshal(data, d); err != nil {
		t.Fatal(err)
	}
	return d
}

func checkRefused(t *testing.T, data []byte, lim Limits, kind input.Kind, field, message string) {
	t.Helper()
	d, err := DecodeBinary(data, lim)
	checkError(t, err, kind, field, message)
	if err != nil && d != (Document{}) {
		t.Errorf("a document is returned with %v", err)
	}
}

// checkError requires an error with this kind and field, and with message as a part of its text.
func checkError(t *testing.T, err error, kind input.Kind, field, message string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %s: %s", field, message)
		return
	}
	e, ok := errors.AsType[*input.Error](err)
	if !ok || e.Kind != kind || e.Field != field || !strings.Contains(err.Error(), message) {
		t.Errorf("got %v (kind %d, field %q)\nwant kind %d, field %q, message %q", err, KindOf(err), e.Field, kind,
			field, message)
	}
}

func checkRefusals(t *testing.T, base []byte, refusals []refusal) {
	for _, r := range refusals {
		t.Run(r.field+": "+r.message, func(t *testing.T) {
			d := document(t, base)
			r.change(d)
			data, err := proto.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			checkRefused(t, data, Limits{}, r.kind, r.field, r.message)
		})
	}
}

// tooMany makes a column that exceeds every limit.
func tooMany[E any](n int) []E { return make([]E, n+1) }

func TestRefuseTrie(t *testing.T) {
	long := strings.Repeat("x", 8<<10+1)
	checkRefusals(t, encodeTrace(t, fixture.MinimalTrace()), []refusal{
		{func(d *doc) {
			d.ResourceLength = tooMany[uint32](2000)
		}, input.TooLarge, "resource_length", "2001, the most is 2000"},
		{func(d *doc) {
			d.FrameName = tooMany[uint32](20000)
		}, input.TooLarge, "frame_name", "20001, the most is 20000"},
		{func(d *doc) {
			d.NameLength = tooMany[uint32](20000)
		}, input.TooLarge, "name_length", "20001, the most is 20000"},
		{func(d *doc) {
			d.NodeFrame = tooMany[int32](20000)
		}, input.TooLarge, "node_frame", "20001, the most is 20000"},
		{func(d *doc) { d.ResourceShared = nil }, input.Invalid, "resource_shared", "0 rows, resource_length has 1"},
		{func(d *doc) { d.ChainLength = nil }, input.Invalid, "chain_length", "0 rows, chain_parent has 1"},

		{func(d *doc) { d.NameLength[0] = 12 }, input.Invalid, "name_text", "1 bytes belong to no name"},
		{func(d *doc) { d.NameLength[2] = 7 }, input.Invalid, "name_length", "row 2: 7 bytes, but the text has 6 left"},
		{func(d *doc) {
			d.NameLength[2] = 1<<32 - 1
		}, input.Invalid, "name_length", "row 2: 4294967295 bytes, but the text has 6"},
		{func(d *doc) {
			d.NameText = "ж" + d.NameText
			d.NameLength[0] = 1
		}, input.Invalid, "name_length", "row 0: ends inside a UTF-8 sequence"},
		{func(d *doc) {
			d.NameText = long
			d.NameLength = []uint32{8<<10 + 1}
		}, input.TooLarge, "name_length", "row 0: 8193 bytes, the most is 8192"},

		{func(d *doc) { d.ResourceLength[0] = 25 }, input.Invalid, "resource_text", "1 bytes belong to no resource"},
		{func(d *doc) {
			d.ResourceLength[0] = 27
		}, input.Invalid, "resource_length", "row 0: 27 bytes, but the text has 26 left"},
		{func(d *doc) { d.ResourceShared[0] = 1 }, input.Invalid, "resource_shared", "row 0: 1 bytes of a row of 0"},
		{func(d *doc) {
			d.ResourceText, d.ResourceLength, d.ResourceShared = "ж", []uint32{2, 0}, []uint32{0, 1}
		}, input.Invalid, "resource_shared", "row 1: 1 bytes of a row of 2"},
		{func(d *doc) {
			d.ResourceText, d.ResourceLength[0] = "", 0
		}, input.Invalid, "resource_length", "row 0 is empty"},
		{func(d *doc) {
			d.ResourceText, d.ResourceLength, d.ResourceShared = long[:8192]+"y", []uint32{8192, 1}, []uint32{0, 8192}
		}, input.TooLarge, "resource_length", "row 1: a URL of 8193 bytes"},
		{func(d *doc) {
			d.ResourceText, d.ResourceLength, d.ResourceShared = long[:8192], []uint32{8192}, []uint32{0}
			for range 130 {
				d.ResourceLength, d.ResourceShared = append(d.ResourceLength, 0), append(d.ResourceShared, 8192)
			}
		}, input.TooLarge, "resource_length", "row 125: a URL of 8192 bytes, 1032192 in all"},

		{func(d *doc) { d.FrameCount = d.FrameCount[:1] }, input.Invalid, "frame_count", "1 rows for 1 resources"},
		{func(d *doc) { d.FrameCount[1] = 3 }, input.Invalid, "frame_count", "row 1: 3 frames, frame_name has 2 left"},
		{func(d *doc) {
			d.FrameCount[1] = 1
		}, input.Invalid, "frame_count", "2 frames; frame_name has 3, frame_position 2"},
		{func(d *doc) { d.FrameCount = nil }, input.Invalid, "frame_count", "0 frames; frame_name has 3"},
		{func(d *doc) {
			d.FramePosition = append(d.FramePosition, 0)
		}, input.Invalid, "frame_count", "frame_position 1 numbers too many"},
		{func(d *doc) { d.FrameName[0] = 5 }, input.Invalid, "frame_name", "row 0: name 4 of 3"},
		{func(d *doc) { d.FrameName[0] = 1<<32 - 1 }, input.Invalid, "frame_name", "row 0: name 4294967294 of 3"},
		{func(d *doc) {
			d.NameText, d.NameLength = "querySelectormain", []uint32{13, 4}
		}, input.Invalid, "frame_name", "row 2: name 3 of 2"},
		{func(d *doc) {
			d.FramePosition = d.FramePosition[:4]
		}, input.Invalid, "frame_position", "frame 2: ends early"},
		{func(d *doc) {
			d.FramePosition = d.FramePosition[:3]
		}, input.Invalid, "frame_position", "frame 2: ends early"},
		{func(d *doc) {
			d.FramePosition[4] = 1 << 32
		}, input.Invalid, "frame_position", "frame 2: ends early, or a line or column over 32 bits"},
		{func(d *doc) { d.FramePosition[3] = 1<<33 - 1 }, input.Invalid, "frame_position", "frame 2: "},
		{func(d *doc) { d.FramePosition[3] = 1<<64 - 1 }, input.Invalid, "frame_position", "frame 2: "},
		{func(d *doc) { d.FramePosition = []uint64{0, 2, 1<<33 - 2} }, input.Invalid, "frame_position", "frame 2: "},

		{func(d *doc) { d.ChainParent[0] = 0 }, input.Invalid, "chain_parent", "row 0: 0 nodes back from node 1"},
		{func(d *doc) { d.ChainParent[0] = 2 }, input.Invalid, "chain_parent", "row 0: 2 nodes back from node 1"},
		{func(d *doc) { d.ChainLength[0] = 3 }, input.Invalid, "chain_length", "row 0: more nodes than node_frame has"},
		{func(d *doc) {
			d.ChainLength[0] = 1<<32 - 1
		}, input.Invalid, "chain_length", "row 0: more nodes than node_frame has"},
		{func(d *doc) { d.ChainLength[0] = 1 }, input.Invalid, "node_frame", "3 rows, the chains have 2 nodes"},
		{func(d *doc) { d.NodeFrame[0] = -1 }, input.Invalid, "node_frame", "row 0: frame -1 of 3"},
		{func(d *doc) { d.NodeFrame[1] = 2 }, input.Invalid, "node_frame", "row 1: frame 3 of 3"},
	})
}

func TestRefuseTrace(t *testing.T) {
	checkRefusals(t, encodeTrace(t, fixture.MinimalTrace()), []refusal{
		{func(d *doc) { d.GroupRows = []uint32{0} }, input.Invalid, "group_rows", "a trace has none"},
		{func(d *doc) { d.WeightReach = []int64{0} }, input.Invalid, "weight_reach", "a trace has none"},
		{func(d *doc) { d.Views = 1 }, input.Invalid, "views", "a trace has none"},
		{func(d *doc) { d.GroupIdle = []int64{0} }, input.Invalid, "group_idle", "a trace has none"},
		{func(d *doc) { d.GroupLabelValue = []string{"x"} }, input.Invalid, "group_label_key", "a trace has none"},
		{func(d *doc) {
			d.SampleUnit = 0
		}, input.Invalid, "context", "a profile has none, and a trace needs sample_unit"},
		{func(d *doc) {
			d.SampleTime = tooMany[int64](60000)
		}, input.TooLarge, "sample_time", "60002, the most is 60000"},
		{func(d *doc) { d.SampleRunLength = nil }, input.Invalid, "sample_run_length", "does not fit run 1"},
		{func(d *doc) { d.SampleRunLength[0] = 5 }, input.Invalid, "sample_run_length", "does not fit run 1"},
		{func(d *doc) { d.SampleRunLength[0] = 2 }, input.Invalid, "sample_run", "run 1 ends after the last sample"},
		{func(d *doc) {
			d.SampleRunLength = append(d.SampleRunLength, 0)
		}, input.Invalid, "sample_run_length", "1 rows belong to no run"},
		{func(d *doc) { d.SampleRun = d.SampleRun[:2] }, input.Invalid, "sample_run", "1 samples are in no run"},
		{func(d *doc) {
			d.SampleRun = append(d.SampleRun, 0)
		}, input.Invalid, "sample_run", "row 3 belongs to no sample"},
		{func(d *doc) {
			d.SampleRun, d.SampleRunLength = nil, nil
		}, input.Invalid, "sample_run", "3 samples are in no run"},
		{func(d *doc) { d.SampleRun[0] = (zigzag(4) + 1) << 1 }, input.Invalid, "sample_run", "run 0: node 4 of 3"},
		{func(d *doc) { d.SampleRun[0] = (zigzag(-1) + 1) << 1 }, input.Invalid, "sample_run", "run 0: node -1 of 3"},
		{func(d *doc) { d.SampleRun[0] = (zigzag(0) + 1) << 1 }, input.Invalid, "sample_run", "run 0: node 0 of 3"},
		{func(d *doc) { d.SampleRun[0] = 1<<64 - 2 }, input.Invalid, "sample_run", "run 0: node "},
		{func(d *doc) {
			d.SampleStart = 1<<50 + 1
		}, input.Invalid, "sample_start", "1125899906842625 µs is out of range"},
		{func(d *doc) {
			d.SampleStart = -1<<50 - 1
		}, input.Invalid, "sample_start", "-1125899906842625 µs is out of range"},
		{func(d *doc) {
			d.SampleTime[0] = -101
		}, input.Invalid, "sample_time", "row 0: -101 units more than 100 is out of range"},
		{func(d *doc) {
			d.SampleTime[0] = 1 << 62
		}, input.Invalid, "sample_time", "row 0: 4611686018427387904 units more than 100"},
		{func(d *doc) {
			d.SampleTime[1] = 1 << 50 / 100
		}, input.Invalid, "sample_time", "row 1: 1125899906964000 µs is out of range"},
		{func(d *doc) {
			d.Marker, d.MarkerRunLength = []fieldtriev1.Marker{1}, nil
		}, input.Invalid, "marker_run_length", "0 rows, marker has 1"},
		{func(d *doc) {
			d.Marker, d.MarkerRunLength = []fieldtriev1.Marker{1}, []uint32{4}
		}, input.Invalid, "marker_run_length", "row 0 ends after the last sample"},
		{func(d *doc) {
			d.Marker, d.MarkerRunLength = []fieldtriev1.Marker{8}, []uint32{3}
		}, input.Invalid, "marker", "row 0: unknown marker 8"},
		{func(d *doc) {
			d.Marker, d.MarkerRunLength = []fieldtriev1.Marker{-1}, []uint32{3}
		}, input.Invalid, "marker", "row 0: unknown marker 18446744073709551615"},
		{func(d *doc) {
			d.Marker, d.MarkerRunLength = []fieldtriev1.Marker{1}, []uint32{2}
		}, input.Invalid, "marker_run_length", "covers 3 of 4 samples"},
	})
	unit := protowire.AppendVarint(protowire.AppendTag(encodeTrace(t, fixture.MinimalTrace()), colSampleUnit,
		protowire.VarintType), 1<<50+1)
	checkRefused(t, unit, Limits{}, input.Invalid, "sample_unit", "1125899906842625 µs is out of range")
	for field := protowire.Number(1); field < costEnd; field++ {
		cost := protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), 1<<32)
		long := protowire.AppendBytes(protowire.AppendTag(encodeTrace(t, fixture.MinimalTrace()), colCost,
			protowire.BytesType), cost)
		checkRefused(t, long, Limits{}, input.Invalid, costName(field), "4294967296 is over 32 bits")
	}
}

func TestRefuseContext(t *testing.T) {
	long := strings.Repeat("x", 8<<10+1)
	checkRefusals(t, encodeTrace(t, fixture.FullTrace()), []refusal{
		{func(d *doc) {
			d.Context.LabelKey = tooMany[string](64)
		}, input.TooLarge, "context.label_key", "65, the most is 64"},
		{func(d *doc) {
			d.Context.SpanKind = tooMany[uint32](1000)
		}, input.TooLarge, "context.span_kind", "1001, the most is 1000"},
		{func(d *doc) {
			d.Context.LabelKey = d.Context.LabelKey[:1]
		}, input.Invalid, "context.label_value", "2 rows, label_key has 1"},
		{func(d *doc) {
			d.Context.SpanKind = nil
		}, input.Invalid, "context.span_kind", "the span columns differ in length"},
		{func(d *doc) {
			d.Context.SpanName = nil
		}, input.Invalid, "context.span_kind", "the span columns differ in length"},
		{func(d *doc) {
			d.Context.SpanStart = nil
		}, input.Invalid, "context.span_kind", "the span columns differ in length"},
		{func(d *doc) {
			d.Context.SpanLength = nil
		}, input.Invalid, "context.span_kind", "the span columns differ in length"},
		{func(d *doc) {
			d.Context.SpanStart[1] = 1<<52 + 1
		}, input.Invalid, "context.span_start", "span 1 is out of range"},
		{func(d *doc) {
			d.Context.SpanStart[1] = -1<<52 - 1
		}, input.Invalid, "context.span_start", "span 1 is out of range"},
		{func(d *doc) {
			d.Context.SpanLength[0] = 1 << 63
		}, input.Invalid, "context.span_start", "span 0 is out of range"},
		{func(d *doc) { d.Context.SpanKind[0] = 3 }, input.Invalid, "context.span_start", "span 0 is out of range"},
		{func(d *doc) { d.Context.Page = long }, input.TooLarge, "context.page", "8193 bytes, the most is 8192"},
		{func(d *doc) { d.Context.Release = long }, input.TooLarge, "context.release", "8193 bytes, the most is 8192"},
		{func(d *doc) {
			d.Context.Environment = long
		}, input.TooLarge, "context.environment", "8193 bytes, the most is 8192"},
		{func(d *doc) {
			d.Context.LabelKey[0] = long
		}, input.TooLarge, "context.label_key", "8193 bytes, the most is 8192"},
		{func(d *doc) {
			d.Context.LabelValue[0] = long
		}, input.TooLarge, "context.label_value", "8193 bytes, the most is 8192"},
		{func(d *doc) {
			d.Context.SpanName[0] = long
		}, input.TooLarge, "context.span_name", "8193 bytes, the most is 8192"},
		// Errors of the trace's own validation.
		{func(d *doc) { d.Context.Interval = 0 }, input.Invalid, "context.interval", "missing"},
		{func(d *doc) { d.Context.ViewId = make([]byte, 17) }, input.Invalid, "", "context: view id has 17 bytes"},
		{func(d *doc) { d.Context.SamplingShare = 1.5 }, input.Invalid, "", "context: sampling share 1.5"},
		{func(d *doc) { d.Context.TimeOrigin = 1<<62 + 1 }, input.Invalid, "", "context: time origin"},
		{func(d *doc) { d.Context.LabelKey[0] = "" }, input.Invalid, "", "context: label 0 has no key"},
		{func(d *doc) { d.Context.LabelKey[1] = "device" }, input.Invalid, "", "context: label \"device\""},
		{func(d *doc) { d.Context.SpanStart[2] = -1 }, input.Invalid, "", "span 2 (\"typing\"): out of order"},
		{func(d *doc) { d.Context.SpanName[0] = "" }, input.Invalid, "", "span 0: no name"},
		{func(d *doc) {
			d.Context.SpanKind[1] = 0
		}, input.Invalid, "", "span 1: page \"search\" overlaps the page before it"},
		{func(d *doc) { d.Context.SpanKind[1] = 2 }, input.Invalid, "", "span 1 (\"search\"): a label is KEY=VALUE"},
	})
}

func TestRefuseProfile(t *testing.T) {
	long := strings.Repeat("x", 8<<10+1)
	checkRefusals(t, encodeProfile(t, fixture.GroupedProfile()), []refusal{
		{func(d *doc) {
			d.Context = &fieldtriev1.Context{}
		}, input.Invalid, "context", "a profile has none, and a trace needs sample_unit"},
		{func(d *doc) { d.SampleRun = []uint64{0} }, input.Invalid, "sample_run", "a profile has none"},
		{func(d *doc) { d.SampleTime = []int64{0} }, input.Invalid, "sample_time", "a profile has none"},
		{func(d *doc) { d.SampleStart = 1 }, input.Invalid, "sample_start", "a profile has none"},
		{func(d *doc) { d.MarkerRunLength = []uint32{1} }, input.Invalid, "marker_run_length", "a profile has none"},
		{func(d *doc) {
			d.Cost = &fieldtriev1.Cost{}
		}, input.Invalid, "cost", "a profile has none, and a trace needs sample_unit"},
		{func(d *doc) { d.SampleUnit = 1 }, input.Invalid, "group_rows", "a trace has none"},
		{func(d *doc) { d.GroupLabelCount = nil }, input.Invalid, "group_label_count", "0 rows, group_rows has 3"},
		{func(d *doc) { d.GroupViews = nil }, input.Invalid, "group_views", "0 rows, group_rows has 3"},
		{func(d *doc) { d.GroupTraces = nil }, input.Invalid, "group_traces", "0 rows, group_rows has 3"},
		{func(d *doc) { d.GroupStackless = nil }, input.Invalid, "group_stackless", "0 rows, group_rows has 3"},
		{func(d *doc) { d.GroupUnsampled = nil }, input.Invalid, "group_unsampled", "0 rows, group_rows has 3"},
		{func(d *doc) { d.GroupTruncated = nil }, input.Invalid, "group_truncated", "0 rows, group_rows has 3"},
		{func(d *doc) { d.GroupIdle = []int64{1} }, input.Invalid, "group_idle", "1 rows, group_rows has 3"},
		{func(d *doc) { d.WeightSelf = nil }, input.Invalid, "weight_self", "0 rows, weight_node has 4"},
		{func(d *doc) { d.WeightSamples = nil }, input.Invalid, "weight_samples", "0 rows, weight_node has 4"},
		{func(d *doc) { d.WeightReach = nil }, input.Invalid, "weight_reach", "0 rows, weight_node has 4"},
		{func(d *doc) { d.GroupLabelValue = nil }, input.Invalid, "group_label_value", "0 rows, group_label_key has 5"},
		{func(d *doc) {
			d.GroupRows[2] = 2
		}, input.Invalid, "group_rows", "group 2 has more labels or weights than there are"},
		{func(d *doc) {
			d.GroupRows[2] = 1<<32 - 1
		}, input.Invalid, "group_rows", "group 2 has more labels or weights than there are"},
		{func(d *doc) {
			d.GroupLabelCount[2] = 2
		}, input.Invalid, "group_rows", "group 2 has more labels or weights than there are"},
		{func(d *doc) { d.GroupRows[2] = 0 }, input.Invalid, "group_rows", "1 weights and 0 labels belong to no group"},
		{func(d *doc) {
			d.GroupLabelCount[2] = 0
		}, input.Invalid, "group_rows", "0 weights and 1 labels belong to no group"},
		{func(d *doc) { d.WeightNode[1] = 0 }, input.Invalid, "weight_node", "row 1: node 0 of 3"},
		{func(d *doc) { d.WeightNode[2] = 2 }, input.Invalid, "weight_node", "row 2: node 4 of 3"},
		{func(d *doc) { d.WeightNode[0] = 1<<32 - 1 }, input.Invalid, "weight_node", "row 0: node 4294967295 of 3"},
		{func(d *doc) {
			d.GroupLabelKey[0] = long
		}, input.TooLarge, "group_label_key", "row 0: 8193 bytes, the most is 8192"},
		{func(d *doc) {
			d.GroupLabelValue[4] = long
		}, input.TooLarge, "group_label_key", "row 4: 8193 bytes, the most is 8192"},
		{func(d *doc) {
			d.GroupLabelCount = []uint32{65, 0, 0}
			d.GroupLabelKey, d.GroupLabelValue = tooMany[string](64), tooMany[string](64)
		}, input.TooLarge, "group_label_count", "group 0: 65, the most is 64"},
		{func(d *doc) { d.NodeFrame[0] = -1 }, input.Invalid, "node_frame", "row 0: frame -1 of 3"},
		// Errors of the profile's own validation.
		{func(d *doc) { d.GroupLabelKey[0] = "z" }, input.Invalid, "", "group 1: label"},
		{func(d *doc) {
			d.GroupLabelCount, d.GroupLabelKey, d.GroupLabelValue = []uint32{0, 0, 0}, nil, nil
		}, input.Invalid, "", "group 1: another group has the same labels"},
		{func(d *doc) { d.WeightSelf[0] = 1<<56 + 1 }, input.Invalid, "", "group 0: node 1: weight out of range"},
		{func(d *doc) { d.GroupStackless[0] = -1<<56 - 1 }, input.Invalid, "", "group 0: coverage out of range"},
		{func(d *doc) { d.GroupIdle = []int64{0, 1<<56 + 1, 0} }, input.Invalid, "", "group 1: coverage out of range"},
		{func(d *doc) { d.Views = 1<<56 + 1 }, input.Invalid, "", "views or traces out of range"},
		{func(d *doc) {
			d.ChainParent, d.ChainLength, d.NodeFrame = []uint32{1, 2}, []uint32{0, 1}, []int32{1, 1, 1}
		}, input.Invalid, "", "node 2: another node has the same parent and frame"},
	})
}

// TestRefuseCells checks that groups cannot use memory out of proportion to the document. The limit
// is high, so memory for the groups before it must not be allocated.
func TestRefuseCells(t *testing.T) {
	p := fixture.GroupedProfile()
	r := documentReader{BinaryDecoder: new(BinaryDecoder), columns: new(columns), lim: Limits{}.WithDefaults()}
	if err := r.columns.parse(encodeProfile(t, p), false); err != nil {
		t.Fatal(err)
	}
	for left, want := range map[int]input.Kind{32: 0, 31: input.TooLarge} { // a block of weights has 32
		r.cells = maxGroupCells - left
		row, label := 0, 0
		if _, err := r.group(0, &row, &label, len(p.Nodes)); KindOf(err) != want {
			t.Errorf("room for %d weights: got %v", left, err)
		}
	}
}

// TestRefuseWire tests bytes that do not parse as the schema's fields.
func TestRefuseWire(t *testing.T) {
	good := encodeTrace(t, fixture.MinimalTrace())
	with := func(more ...byte) []byte { return append(bytes.Clone(good), more...) }
	tag := func(field protowire.Number, typ protowire.Type) []byte { return protowire.AppendTag(nil, field, typ) }
	join := func(parts ...[]byte) []byte { return with(bytes.Join(parts, nil)...) }
	for _, c := range []struct {
		name    string
		data    []byte
		field   string
		message string
	}{
		{"nothing", nil, "", "not in the binary format: it must begin with 0d 46 54 52"},
		{"four bytes", good[:4], "", "not in the binary format"},
		{"garbage", []byte("garbage garbage"), "", "not in the binary format"},
		{"gzip", fixture.Gzipped(good), "", "not in the binary format"},
		{"JSON", []byte(fixture.OneTrace), "", "not in the binary format"},
		{"version 0", []byte("\x0dFTR\x00"), "magic",
			"format version 0; this program reads versions 1 and 2, so update it"},
		{"version 2", []byte("\x0dFTR\x02rest"), "magic",
			"format version 2 is a set of traces, as a store has them; this must be one trace or profile"},
		{"version 3", []byte("\x0dFTR\x03rest"), "magic",
			"format version 3; this program reads versions 1 and 2, so update it"},
		{"two magics", with([]byte("\x0dFTR\x01")...), "magic", "stands 2 times"},
		{"magic as a number", join(tag(colMagic, protowire.VarintType), []byte{1}), "magic",
			"wire type 0 does not fit"},
		{"field 0", with(0x02, 0x00), "", "invalid field number"},
		{"field 2^29", join(protowire.AppendVarint(nil, 1<<32), []byte{0}), "",
			"at byte 131: field number 536870912 is out of range"},
		{"truncated tag", with(0x80), "", "at byte 131: unexpected EOF"},
		{"truncated value", join(tag(colNameText, protowire.BytesType), []byte{9, 'x'}), "name_text",
			"at byte 131: unexpected EOF"},
		{"truncated unknown field", join(tag(99, protowire.BytesType), []byte{9, 'x'}), "",
			"at byte 131: unexpected EOF"},
		{"end without a group", join(tag(99, protowire.EndGroupType)), "", "mismatching end group marker"},
		{"text as a number", join(tag(colNameText, protowire.VarintType), []byte{9}), "name_text",
			"wire type 0 does not fit"},
		{"context as a number", join(tag(colContext, protowire.VarintType), []byte{9}), "context",
			"wire type 0 does not fit"},
		{"column as a fixed number", join(tag(colFrameName, protowire.Fixed32Type), []byte{0, 0, 0, 0}), "frame_name",
			"wire type 5 does not fit"},
		{"number as a column", join(tag(colSampleUnit, protowire.BytesType), []byte{1, 1}), "sample_unit",
			"is a column, but must be one number"},
		{"truncated number in a column", join(tag(colFrameName, protowire.BytesType), []byte{1, 0x80}), "frame_name",
			"row 3: unexpected EOF"},
		{"number of 11 bytes", join(tag(colFrameName, protowire.BytesType), []byte{11}, bytes.Repeat([]byte{0xff}, 11)),
			"frame_name", "variable length integer overflow"},
		{"malformed context", join(tag(colContext, protowire.BytesType), []byte{1, 0xff}), "context",
			"cannot parse invalid wire-format data"},
		{"page not UTF-8", join(tag(colContext, protowire.BytesType), []byte{3, 0x0a, 1, 0xff}), "context",
			"invalid UTF-8"},
		{"cost as a number", join(tag(colCost, protowire.VarintType), []byte{9}), "cost", "wire type 0 does not fit"},
		{"truncated cost", join(tag(colCost, protowire.BytesType), []byte{1, 0x08}), "cost", "unexpected EOF"},
		{"cost with half a tag", join(tag(colCost, protowire.BytesType), []byte{1, 0x80}), "cost", "unexpected EOF"},
		{"cost with field 2^29", join(tag(colCost, protowire.BytesType), []byte{6}, protowire.AppendVarint(nil, 1<<32),
			[]byte{0}), "cost", "field number 536870912 is out of range"},
		{"cost of texts", join(tag(colCost, protowire.BytesType), []byte{3, 0x12, 1, 'x'}), "cost.stop",
			"wire type 2 does not fit"},
		{"names not UTF-8", join(tag(colNameText, protowire.BytesType), []byte{1, 0xff}), "name_text", "not UTF-8"},
		{"resources not UTF-8", join(tag(colResourceText, protowire.BytesType), []byte{1, 0xff}), "resource_text",
			"not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefused(t, c.data, Limits{}, input.Malformed, c.field, c.message) })
	}
	// The library does not write such texts, so the test replaces an existing text.
	for _, text := range []string{"page", "/about"} {
		label := bytes.Replace(encodeProfile(t, fixture.GroupedProfile()), []byte(text), append([]byte{0xff},
			text[1:]...), -1)
		checkRefused(t, label, Limits{}, input.Malformed, "group_label_key", ": not UTF-8")
	}
}

// TestBinaryLimits checks that every limit holds, and that its exact number is allowed.
func TestBinaryLimits(t *testing.T) {
	// 24 samples, 3 nodes, 3 frames, 1 resource, 3 spans, 2 labels, a URL of 26 bytes
	data := encodeTrace(t, fixture.FullTrace())
	if _, err := DecodeBinary(data, Limits{Samples: 24, Nodes: 3, Frames: 3, Resources: 1, StringBytes: 26, Spans: 3,
		Labels: 2}); err != nil {
		t.Errorf("at the limits: %v", err)
	}
	for _, c := range []struct {
		lim   Limits
		field string
	}{
		{Limits{Samples: 23}, "sample_time"},
		{Limits{Nodes: 2}, "node_frame"},
		{Limits{Frames: 2}, "frame_name"},
		{Limits{StringBytes: 25}, "resource_length"},
		{Limits{Spans: 2}, "context.span_kind"},
		{Limits{Labels: 1}, "context.label_key"},
	} {
		checkRefused(t, data, c.lim, input.TooLarge, c.field, "the most is")
	}
	checkRefused(t, encodeTrace(t, fixture.OddTrace()), Limits{Resources: 3}, input.TooLarge, "resource_length",
		"4, the most is 3")
	if _, err := DecodeBinary(data, FileLimits()); err != nil {
		t.Error(err)
	}
}
