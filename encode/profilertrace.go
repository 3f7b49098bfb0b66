package encode

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// DecodeProfilerTrace reads the ProfilerTrace of the JS Self-Profiling API as JSON,
// either bare or in an envelope with its origin:
//
//	{"page": "/feed", "timeOrigin": 1795216764503.8, "interval": 10, "trace": {
//	  "resources": ["https://example.com/app.js"],
//	  "frames":    [{"name": "render", "resourceId": 0, "line": 12, "column": 3}],
//	  "stacks":    [{"frameId": 0}, {"frameId": 0, "parentId": 0}],
//	  "samples":   [{"timestamp": 101.4, "stackId": 1}, {"timestamp": 111.5}]}}
//
// All times are in milliseconds. Further keys of the envelope, all optional: viewId (up
// to 16 bytes, or 32 hexadecimal digits), chunk, release, environment, labels (an object
// of strings), samplingShare, spans ([{"page" or "feature": name, "start", "end"}], or
// "label": "key=value"), cost ({"start", "stop", "encode", "bytes", "dropped"}, see
// [trie.Cost]) and ua, of which only the browser's name and major version are used, as
// the label browser.
//
// Keys may come in any order, unknown keys are skipped, and the last of a repeated key
// wins. A null counts as an absent value where a value may be absent. Bytes that are not
// UTF-8 become U+FFFD. Samples are brought into time order, and the trace is repaired,
// see [Repair].
func DecodeProfilerTrace(data []byte, lim Limits) (*trie.Trace, error) {
	d := profilerTraces.Get().(*profilerTrace)
	d.begin(data, lim.WithDefaults())
	t, err := d.decode()
	d.begin(nil, Limits{}) // releases data and the contents of t
	if len(data) < 4<<20 { // one large trace must not hold its memory indefinitely
		profilerTraces.Put(d)
	}
	return t, err
}

// profilerTraces pools decoders for their scratch space.
var profilerTraces = sync.Pool{New: func() any { return new(profilerTrace) }}

// profilerTrace decodes a ProfilerTrace. Its tables are scratch space, which is copied
// at its exact size at the end.
type profilerTrace struct {
	input.JSON
	lim   Limits
	where string // "trace." within an envelope
	table string // what is being read, for errors
	row   int

	strings   input.Strings
	resources []trie.StringID
	frames    []trie.FrameRow // until resolve, Resource is the index of a resource plus one
	nodes     []trie.Node
	samples   []trie.Sample
	read      [4]bool // which of the tables were there, in the order of tableNames
	folded    bool    // two resources became one, so frames may have too

	context trie.Context
	cost    trie.Cost
	browser string
}

var tableNames = [4]string{"resources", "frames", "stacks", "samples"}

func (d *profilerTrace) begin(data []byte, lim Limits) {
	d.Reset(data)
	d.lim, d.where, d.table, d.row = lim, "", "", 0
	d.strings.Reset()
	d.resources, d.frames, d.samples = d.resources[:0], d.frames[:0], d.samples[:0]
	d.nodes = append(d.nodes[:0], trie.Node{})
	d.read, d.folded = [4]bool{}, false
	d.context, d.cost, d.browser = trie.Context{}, trie.Cost{}, ""
}

func (d *profilerTrace) decode() (*trie.Trace, error) {
	d.document()
	if d.Err == nil {
		d.resolve()
	}
	if e, ok := d.Err.(*input.Error); ok && e.Field == "" {
		e.Field = d.field("")
	}
	if d.Err != nil {
		return nil, d.Err
	}
	t := &trie.Trace{Context: d.context, Cost: d.cost, Samples: append([]trie.Sample(nil), d.samples...)}
	t.Strings = d.strings.Texts()
	t.Frames = append([]trie.FrameRow(nil), d.frames...)
	t.Nodes = append([]trie.Node(nil), d.nodes...)
	trie.SortSamples(t.Samples)
	trie.SortSpans(t.Context.Spans)
	if t.Context.Interval == 0 {
		t.Context.Interval = estimateInterval(t.Samples)
	}
	if d.browser != "" && t.Context.Labels.Value("browser") == "" {
		t.Context.Labels = append(t.Context.Labels, trie.Label{Key: "browser", Value: d.browser})
	}
	t.Context.Labels = t.Context.Labels.Sort()
	if err := t.Validate(); err != nil {
		return nil, &input.Error{Kind: input.Invalid, Err: err}
	}
	if d.folded {
		repairTables(t)
	}
	Repair(t)
	return t, nil
}

// invalid rejects the value of key in the current row.
func (d *profilerTrace) invalid(key, format string, args ...any) {
	d.Stop(input.Refuse(input.Invalid, d.field(key), format, args...))
}

// field names the current row, or the value of a key in it.
func (d *profilerTrace) field(key string) string {
	switch {
	case d.table == "":
		return key
	case d.row < 0:
		return d.where + d.table
	case key == "":
		return fmt.Sprintf("%s%s[%d]", d.where, d.table, d.row)
	}
	return fmt.Sprintf("%s%s[%d].%s", d.where, d.table, d.row, key)
}

// document reads the whole document. The tables may be at the top level or under
// "trace".
func (d *profilerTrace) document() {
	for d.Object(); d.Key(); {
		switch {
		case d.Null():
		case d.readTable():
		case string(d.Name) == "trace":
			d.where = "trace."
			for d.Object(); d.Key(); {
				if !d.Null() && !d.readTable() {
					d.Skip()
				}
			}
		default:
			d.readContext()
		}
	}
	d.End()
}

// readTable reads the table named by the last key, if it names one.
func (d *profilerTrace) readTable() bool {
	switch string(d.Name) {
	case "resources":
		d.resources = d.resources[:0]
		d.rows(0, d.lim.Resources, d.readResource)
	case "frames":
		d.frames = d.frames[:0]
		d.rows(1, d.lim.Frames, d.readFrame)
	case "stacks":
		d.nodes = d.nodes[:1]
		d.rows(2, d.lim.Nodes, d.readStack)
	case "samples":
		d.samples = d.samples[:0]
		d.rows(3, d.lim.Samples, d.readSample)
	default:
		return false
	}
	return true
}

// rows calls read for each row of a table. More than most rows are an error of kind
// [input.TooLarge].
func (d *profilerTrace) rows(table, most int, read func()) {
	d.table, d.row = tableNames[table], -1
	d.read[table] = true
	for d.Array(); d.Element(); {
		if d.row++; d.row == most {
			d.Stop(input.Refuse(input.TooLarge, d.where+d.table, "more than %d", most))
			return
		}
		if read(); d.Err != nil {
			return
		}
	}
	if d.Err == nil {
		d.table = ""
	}
}

func (d *profilerTrace) readResource() {
	url := repairResource(string(d.Str()))
	known := len(d.strings.Ends)
	id := d.strings.Intern([]byte(url))
	d.checkLength("", len(url))
	d.folded = d.folded || int(id) < known
	d.resources = append(d.resources, id)
}

func (d *profilerTrace) readFrame() {
	var f trie.FrameRow
	named := false
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "name":
			f.Name, named = d.functionName(), true
		case "resourceId":
			f.Resource = trie.StringID(d.id("resourceId"))
		case "line":
			f.Line = d.position("line")
		case "column":
			f.Column = d.position("column")
		default:
			d.Skip()
		}
	}
	d.require("name", named)
	d.frames = append(d.frames, f)
}

func (d *profilerTrace) readStack() {
	var n trie.Node
	framed := false
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "frameId":
			id := d.id("frameId")
			n.Frame, framed = trie.FrameID(id-1), id != 0
		case "parentId":
			n.Parent = trie.NodeID(d.id("parentId"))
			if uint64(n.Parent) > uint64(d.row) {
				d.invalid("parentId", "%d does not come before it", n.Parent-1)
			}
		default:
			d.Skip()
		}
	}
	d.require("frameId", framed)
	d.nodes = append(d.nodes, n)
}

func (d *profilerTrace) readSample() {
	var s trie.Sample
	timed := false
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "timestamp":
			s.Time, timed = d.time("timestamp", trie.MaxTime), true
		case "stackId":
			s.Node = trie.NodeID(d.id("stackId"))
		case "marker":
			if !d.Null() {
				var ok bool
				if s.Marker, ok = trie.ParseMarker(string(d.Str())); !ok {
					s.Marker = trie.MarkerOther
				}
			}
		default:
			d.Skip()
		}
	}
	d.require("timestamp", timed)
	d.samples = append(d.samples, s)
}

func (d *profilerTrace) require(key string, there bool) {
	if !there && d.Err == nil {
		d.Stop(input.Refuse(input.Malformed, d.field(key), "missing"))
	}
}

func (d *profilerTrace) checkLength(key string, n int) {
	if n > d.lim.StringBytes {
		d.Stop(input.Refuse(input.TooLarge, d.field(key), "%d bytes, the most is %d", n, d.lim.StringBytes))
	}
}

// functionName reads a name. Repair would clean it as well, but would have to make new
// tables.
func (d *profilerTrace) functionName() trie.StringID {
	name := d.Str()
	d.checkLength("name", len(name))
	if b, ok := fromLatin1(string(name)); ok {
		name = []byte(repairName(string(b)))
	}
	return d.strings.Intern(name)
}

// id reads an id and returns it plus one; 0 if there is none.
func (d *profilerTrace) id(key string) uint32 {
	if d.Peek() == 'n' && d.Null() {
		return 0
	}
	const most = math.MaxUint32 - 1
	v, ok := d.Whole(most)
	if !ok {
		d.invalid(key, "not a whole number from 0 to %d", uint32(most))
	}
	return uint32(v) + 1
}

func (d *profilerTrace) position(key string) uint32 {
	if d.Peek() == 'n' && d.Null() {
		return 0
	}
	v, ok := d.Whole(math.MaxUint32)
	if !ok {
		d.invalid(key, "not a whole number from 0 to %d", uint32(math.MaxUint32))
	}
	return uint32(v)
}

// time reads milliseconds and returns microseconds.
func (d *profilerTrace) time(key string, most float64) int64 {
	us, ok := microseconds(d.Float(), most)
	if !ok {
		d.invalid(key, "out of range")
	}
	return us
}

// resolve checks the ids that could not be checked while reading, because the tables may
// come in any order, and completes the frames.
func (d *profilerTrace) resolve() {
	for i, there := range d.read {
		if !there {
			d.Stop(input.Refuse(input.Malformed, d.where+tableNames[i], "missing"))
			return
		}
	}
	check := func(table, row int, key string, id uint32, n int) bool {
		ok := uint64(id) < uint64(n)
		if !ok {
			d.table, d.row = tableNames[table], row
			d.invalid(key, "%d, but there are %d %s", id, n, map[string]string{
				"resourceId": "resources", "frameId": "frames", "stackId": "stacks"}[key])
		}
		return ok
	}
	for i := range d.frames {
		f := &d.frames[i]
		if f.Resource != 0 {
			if !check(1, i, "resourceId", uint32(f.Resource-1), len(d.resources)) {
				return
			}
			f.Resource = d.resources[f.Resource-1]
		}
		if f.Resource == 0 {
			f.Line, f.Column = 0, 0 // a place in nothing
		}
	}
	for i, n := range d.nodes[1:] {
		if !check(2, i, "frameId", uint32(n.Frame), len(d.frames)) {
			return
		}
	}
	for i, s := range d.samples {
		if s.Node != trie.Root && !check(3, i, "stackId", uint32(s.Node-1), len(d.nodes)-1) {
			return
		}
	}
}

// IsProfilerTrace reports whether data begins like input of [DecodeProfilerTrace]: an
// object with one of the tables, at the top level or under "trace".
func IsProfilerTrace(data []byte) bool {
	var r input.JSON
	r.Reset(data)
	inside, empty := false, 0
	for r.Object(); r.Key(); {
		switch name := string(r.Name); {
		case name == "trace" && !inside && r.Peek() == '{':
			inside = true
			r.Object()
		case slices.Contains(tableNames[:], name) && r.Peek() == '[':
			r.Array()
			if r.Element() {
				return isRow(&r, name)
			}
			empty++
		default:
			r.Skip()
		}
	}
	return empty > 1 && r.Err == nil
}

// isRow reports whether the next value may be a row of a table. Other formats have
// tables of the same names.
func isRow(r *input.JSON, table string) bool {
	if table == "resources" {
		r.Str()
		return r.Err == nil
	}
	r.Object()
	if !r.Key() {
		return false
	}
	keys := map[string][]string{
		"frames":  {"name", "resourceId", "line", "column"},
		"stacks":  {"frameId", "parentId"},
		"samples": {"timestamp", "stackId", "marker"},
	}[table]
	return slices.Contains(keys, string(r.Name))
}
