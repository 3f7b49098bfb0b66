package encode

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/fieldtrie/fieldtrie/trie"
)

// DecodeProfilerTrace reads the ProfilerTrace of the JS Self-Profiling API as JSON,
// either bare or within an envelope that says where it comes from:
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
// [trie.Cost]) and ua, of which only the browser's name and major version are kept, as
// the label browser.
//
// Keys may stand in any order, unknown keys are skipped, and of a key that stands twice
// the last is taken. A null counts as an absent value where a value may be absent.
// Bytes that are not UTF-8 become U+FFFD. Samples are brought into time order, and the
// trace is repaired, see [Repair].
func DecodeProfilerTrace(data []byte, lim Limits) (*trie.Trace, error) {
	d := profilerTraces.Get().(*profilerTrace)
	d.begin(data, lim.WithDefaults())
	t, err := d.decode()
	d.begin(nil, Limits{}) // lets go of data and of what is in t
	if len(data) < 4<<20 { // one giant must not hold its memory for ever
		profilerTraces.Put(d)
	}
	return t, err
}

// profilerTraces keeps decoders, for their scratch space.
var profilerTraces = sync.Pool{New: func() any { return new(profilerTrace) }}

// profilerTrace decodes a ProfilerTrace. The tables are scratch space, which is copied
// at its exact size in the end.
type profilerTrace struct {
	jsonReader
	lim   Limits
	where string // "trace." within an envelope
	table string // what is being read, for errors
	row   int

	strings   stringTable
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
	d.reset(data)
	d.lim, d.where, d.table, d.row = lim, "", "", 0
	d.strings.reset()
	d.resources, d.frames, d.samples = d.resources[:0], d.frames[:0], d.samples[:0]
	d.nodes = append(d.nodes[:0], trie.Node{})
	d.read, d.folded = [4]bool{}, false
	d.context, d.cost, d.browser = trie.Context{}, trie.Cost{}, ""
}

func (d *profilerTrace) decode() (*trie.Trace, error) {
	d.document()
	if d.err == nil {
		d.resolve()
	}
	if e, ok := d.err.(*Error); ok && e.Field == "" {
		e.Field = d.field("")
	}
	if d.err != nil {
		return nil, d.err
	}
	t := &trie.Trace{Context: d.context, Cost: d.cost, Samples: append([]trie.Sample(nil), d.samples...)}
	t.Strings = d.strings.texts()
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
		return nil, &Error{Invalid, "", err}
	}
	if d.folded {
		repairTables(t)
	}
	Repair(t)
	return t, nil
}

// invalid refuses the value of key in the row that is being read.
func (d *profilerTrace) invalid(key, format string, args ...any) {
	d.stop(refuse(Invalid, d.field(key), format, args...))
}

// field names the row that is being read, or the value of a key in it.
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

// document reads the whole document. The tables may stand at the top or under "trace".
func (d *profilerTrace) document() {
	for d.object(); d.key(); {
		switch {
		case d.null():
		case d.readTable():
		case string(d.name) == "trace":
			d.where = "trace."
			for d.object(); d.key(); {
				if !d.null() && !d.readTable() {
					d.skip()
				}
			}
		default:
			d.readContext()
		}
	}
	d.end()
}

// readTable reads the table that the last key names, if it names one.
func (d *profilerTrace) readTable() bool {
	switch string(d.name) {
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

// rows calls read for each row of a table, of which there may be most.
func (d *profilerTrace) rows(table, most int, read func()) {
	d.table, d.row = tableNames[table], -1
	d.read[table] = true
	for d.array(); d.element(); {
		if d.row++; d.row == most {
			d.stop(refuse(TooLarge, d.where+d.table, "more than %d", most))
			return
		}
		if read(); d.err != nil {
			return
		}
	}
	if d.err == nil {
		d.table = ""
	}
}

func (d *profilerTrace) readResource() {
	url := repairResource(string(d.str()))
	known := len(d.strings.ends)
	id := d.strings.intern([]byte(url))
	d.checkLength("", len(url))
	d.folded = d.folded || int(id) < known
	d.resources = append(d.resources, id)
}

func (d *profilerTrace) readFrame() {
	var f trie.FrameRow
	named := false
	for d.object(); d.key(); {
		switch string(d.name) {
		case "name":
			f.Name, named = d.functionName(), true
		case "resourceId":
			f.Resource = trie.StringID(d.id("resourceId"))
		case "line":
			f.Line = d.position("line")
		case "column":
			f.Column = d.position("column")
		default:
			d.skip()
		}
	}
	d.require("name", named)
	d.frames = append(d.frames, f)
}

func (d *profilerTrace) readStack() {
	var n trie.Node
	framed := false
	for d.object(); d.key(); {
		switch string(d.name) {
		case "frameId":
			id := d.id("frameId")
			n.Frame, framed = trie.FrameID(id-1), id != 0
		case "parentId":
			n.Parent = trie.NodeID(d.id("parentId"))
			if uint64(n.Parent) > uint64(d.row) {
				d.invalid("parentId", "%d does not come before it", n.Parent-1)
			}
		default:
			d.skip()
		}
	}
	d.require("frameId", framed)
	d.nodes = append(d.nodes, n)
}

func (d *profilerTrace) readSample() {
	var s trie.Sample
	timed := false
	for d.object(); d.key(); {
		switch string(d.name) {
		case "timestamp":
			s.Time, timed = d.time("timestamp", trie.MaxTime), true
		case "stackId":
			s.Node = trie.NodeID(d.id("stackId"))
		case "marker":
			if !d.null() {
				var ok bool
				if s.Marker, ok = trie.ParseMarker(string(d.str())); !ok {
					s.Marker = trie.MarkerOther
				}
			}
		default:
			d.skip()
		}
	}
	d.require("timestamp", timed)
	d.samples = append(d.samples, s)
}

func (d *profilerTrace) require(key string, there bool) {
	if !there && d.err == nil {
		d.stop(refuse(Malformed, d.field(key), "missing"))
	}
}

func (d *profilerTrace) checkLength(key string, n int) {
	if n > d.lim.StringBytes {
		d.stop(refuse(TooLarge, d.field(key), "%d bytes, the most is %d", n, d.lim.StringBytes))
	}
}

// functionName reads a name. Repair would do the same, but would have to make new tables.
func (d *profilerTrace) functionName() trie.StringID {
	name := d.str()
	d.checkLength("name", len(name))
	if b, ok := fromLatin1(string(name)); ok {
		name = []byte(repairName(string(b)))
	}
	return d.strings.intern(name)
}

// id reads an id and returns it plus one; 0 if there is none.
func (d *profilerTrace) id(key string) uint32 {
	if d.peek() == 'n' && d.null() {
		return 0
	}
	const most = math.MaxUint32 - 1
	v, ok := d.whole(most)
	if !ok {
		d.invalid(key, "not a whole number from 0 to %d", uint32(most))
	}
	return uint32(v) + 1
}

func (d *profilerTrace) position(key string) uint32 {
	if d.peek() == 'n' && d.null() {
		return 0
	}
	v, ok := d.whole(math.MaxUint32)
	if !ok {
		d.invalid(key, "not a whole number from 0 to %d", uint32(math.MaxUint32))
	}
	return uint32(v)
}

// time reads milliseconds and returns microseconds.
func (d *profilerTrace) time(key string, most float64) int64 {
	us, ok := microseconds(d.float(), most)
	if !ok {
		d.invalid(key, "out of range")
	}
	return us
}

// resolve checks the ids that could not be checked while reading, because the tables
// may stand in any order, and brings frames into their final form.
func (d *profilerTrace) resolve() {
	for i, there := range d.read {
		if !there {
			d.stop(refuse(Malformed, d.where+tableNames[i], "missing"))
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

// isProfilerTrace reports whether data begins like what [DecodeProfilerTrace] reads: an
// object with one of the tables, at its top or under "trace".
func isProfilerTrace(data []byte) bool {
	var r jsonReader
	r.reset(data)
	inside, empty := false, 0
	for r.object(); r.key(); {
		switch name := string(r.name); {
		case name == "trace" && !inside && r.peek() == '{':
			inside = true
			r.object()
		case slices.Contains(tableNames[:], name) && r.peek() == '[':
			r.array()
			if r.element() {
				return isRow(&r, name)
			}
			empty++
		default:
			r.skip()
		}
	}
	return empty > 1 && r.err == nil
}

// isRow reports whether what comes next may be a row of a table. Other formats have
// tables of the same names.
func isRow(r *jsonReader, table string) bool {
	if table == "resources" {
		r.str()
		return r.err == nil
	}
	r.object()
	if !r.key() {
		return false
	}
	keys := map[string][]string{
		"frames":  {"name", "resourceId", "line", "column"},
		"stacks":  {"frameId", "parentId"},
		"samples": {"timestamp", "stackId", "marker"},
	}[table]
	return slices.Contains(keys, string(r.name))
}
