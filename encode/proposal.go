package encode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// DecodeProposal reads the JSON form of the first proposal of the JS Self-Profiling API:
//
//	{"version": 1, "options": {"sampleInterval": 10}, "profile": {
//	  "strings":     ["main @ app.js:1:1", "render @ app.js:56:78", "unknown"],
//	  "stackFrames": {"101": {"name": 0}, "102": {"name": 1, "parent": 101}},
//	  "main-thread": [{"type": "stack", "timestamp": 12345.678, "stack": 102}]}}
//
// A name without " @ " is a function without a place. "unknown" is code of another
// origin and becomes [trie.FrameUnknown], with runs of it joined. Entries of other types
// than "stack" are skipped; an entry without a stack had none. The interval is
// sampleInterval or timeInterval in milliseconds; without either it is estimated from
// the samples.
//
// Keys, nulls and text follow the rules of [DecodeProfilerTrace].
func DecodeProposal(data []byte, lim Limits) (*trie.Trace, error) {
	d := proposal{lim: lim.WithDefaults(), ids: map[string]int{}}
	d.Reset(data)
	d.document()
	if d.Err != nil {
		return nil, d.Err
	}
	t, err := d.trace()
	if err != nil {
		return nil, err
	}
	if err := t.Validate(); err != nil {
		return nil, &input.Error{Kind: input.Invalid, Err: err}
	}
	Repair(t)
	t = t.Coalesce(nil)
	// Copied out of its trie, so that the maps of the trie can be freed.
	t.Trie = trie.Trie{Strings: t.Strings, Frames: t.Frames, Nodes: t.Nodes}
	return t, nil
}

// proposal decodes the form of the first proposal.
type proposal struct {
	input.JSON
	lim      Limits
	interval uint32
	strings  []string
	calls    []proposalCall // the stackFrames
	ids      map[string]int // where in calls each id is
	samples  []proposalSample
	read     [3]bool // whether the tables were there, in the order of proposalTables
}

// proposalCall is a stack: a call from another stack.
type proposalCall struct {
	id     string
	name   uint64 // index into the strings
	parent string // id of the caller, "" for none
}

type proposalSample struct {
	time  int64
	stack string // id of a stack, "" for none
	row   int    // where it stands in the document
}

var proposalTables = [3]string{"strings", "stackFrames", "main-thread"}

func (d *proposal) document() {
	found := false
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "version":
			if v, ok := d.Whole(1); !ok || v != 1 {
				d.Stop(input.Refuse(input.Invalid, "version", "not 1"))
			}
		case "options":
			for d.Object(); d.Key(); {
				switch string(d.Name) {
				case "sampleInterval", "timeInterval":
					d.readInterval("options." + string(d.Name))
				default:
					d.Skip()
				}
			}
		case "profile":
			found = true
			d.readProfile()
		default:
			d.Skip()
		}
	}
	d.End()
	if !found {
		d.Stop(input.Refuse(input.Malformed, "profile", "missing"))
	}
	for i, there := range d.read {
		if !there {
			d.Stop(input.Refuse(input.Malformed, "profile."+proposalTables[i], "missing"))
		}
	}
}

func (d *proposal) readInterval(field string) {
	if d.Null() {
		return
	}
	var ok bool
	if d.interval, ok = interval(d.Float()); !ok {
		d.Stop(input.Refuse(input.Invalid, field, "not over 0 to 60000 ms"))
	}
}

func (d *proposal) readProfile() {
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "strings":
			d.read[0] = true
			d.readStrings()
		case "stackFrames":
			d.read[1] = true
			d.readCalls()
		case "main-thread":
			d.read[2] = true
			d.readSamples()
		default:
			d.Skip()
		}
	}
}

func (d *proposal) readStrings() {
	d.strings = nil
	for d.Array(); d.Element(); {
		if len(d.strings) == d.lim.Frames {
			d.Stop(input.Refuse(input.TooLarge, "profile.strings", "more than %d", d.lim.Frames))
			return
		}
		s := string(d.Str())
		if len(s) > d.lim.StringBytes {
			d.Stop(input.Refuse(input.TooLarge, fmt.Sprintf("profile.strings[%d]", len(d.strings)),
				"%d bytes, the most is %d", len(s), d.lim.StringBytes))
		}
		d.strings = append(d.strings, s)
	}
}

func (d *proposal) readCalls() {
	d.calls = nil
	clear(d.ids)
	for d.Object(); d.Key(); {
		c := proposalCall{id: string(d.Name)}
		if c.id == "" {
			d.Stop(input.Refuse(input.Invalid, "profile.stackFrames", "an empty id"))
		}
		i, known := d.ids[c.id]
		if !known {
			if len(d.calls) == d.lim.Nodes {
				d.Stop(input.Refuse(input.TooLarge, "profile.stackFrames", "more than %d", d.lim.Nodes))
				return
			}
			i = len(d.calls)
			d.ids[c.id] = i
			d.calls = append(d.calls, c)
		}
		named := false
		for d.Object(); d.Key(); {
			switch string(d.Name) {
			case "name":
				c.name, named = d.Whole(uint64(d.lim.Frames))
				if !named {
					d.Stop(input.Refuse(input.Invalid, callField(c.id, "name"), "not the number of a string"))
				}
			case "parent":
				c.parent = d.id()
			default:
				d.Skip()
			}
		}
		if !named {
			d.Stop(input.Refuse(input.Malformed, callField(c.id, "name"), "missing"))
		}
		if d.Err == nil {
			d.calls[i] = c
		}
	}
}

func callField(id, key string) string {
	return fmt.Sprintf("profile.stackFrames[%.40q].%s", id, key)
}

// id reads the id of a stack. Ids are keys of an object, and references to them may be
// numbers. It returns "" for null.
func (d *proposal) id() string {
	switch c := d.Peek(); {
	case d.Null():
		return ""
	case c == '"':
		at := d.Pos
		s := string(d.Str())
		if s == "" {
			d.Fail(at, "an empty id")
		}
		return s
	}
	return string(d.Number())
}

func (d *proposal) readSamples() {
	d.samples = nil
	d.Array()
	for row := 0; d.Element(); row++ {
		s := proposalSample{row: row}
		var isStack, timed, inRange, odd bool
		for d.Object(); d.Key(); {
			c := d.Peek()
			scalar := c == '"' || c == '-' || c-'0' <= 9
			switch string(d.Name) {
			case "type":
				if isStack = false; c == '"' {
					isStack = string(d.Str()) == "stack"
					continue
				}
			case "timestamp":
				if scalar && c != '"' {
					s.time, inRange = microseconds(d.Float(), trie.MaxTime)
					timed = true
					continue
				}
			case "stack":
				if scalar {
					s.stack = d.id()
					continue
				}
				odd = odd || c != 'n'
			}
			d.Skip() // other types of entries may have other values
		}
		switch {
		case !isStack:
		case odd:
			d.Stop(input.Refuse(input.Malformed, sampleField(row, "stack"), "not an id"))
		case !timed:
			d.Stop(input.Refuse(input.Malformed, sampleField(row, "timestamp"), "missing"))
		case !inRange:
			d.Stop(input.Refuse(input.Invalid, sampleField(row, "timestamp"), "out of range"))
		case len(d.samples) == d.lim.Samples:
			d.Stop(input.Refuse(input.TooLarge, "profile.main-thread", "more than %d", d.lim.Samples))
		default:
			d.samples = append(d.samples, s)
		}
	}
}

func sampleField(row int, key string) string {
	return fmt.Sprintf("profile.main-thread[%d].%s", row, key)
}

// trace makes a trace of the decoded data.
func (d *proposal) trace() (*trie.Trace, error) {
	t := &trie.Trace{Trie: *trie.New()}
	nodes, err := d.nodes(&t.Trie)
	if err != nil {
		return nil, err
	}
	t.Samples = make([]trie.Sample, len(d.samples))
	for i, s := range d.samples {
		t.Samples[i].Time = s.time
		if s.stack == "" {
			continue
		}
		call, ok := d.ids[s.stack]
		if !ok {
			return nil, input.Refuse(input.Invalid, sampleField(s.row, "stack"), "there is no stack %.40q", s.stack)
		}
		t.Samples[i].Node = nodes[call]
	}
	trie.SortSamples(t.Samples)
	if t.Context.Interval = d.interval; d.interval == 0 {
		t.Context.Interval = estimateInterval(t.Samples)
	}
	return t, nil
}

// nodes adds all stacks to t and returns the node of each. A caller may come after its
// callees, so each chain of callers is followed up to a known one and added from there
// down.
func (d *proposal) nodes(t *trie.Trie) ([]trie.NodeID, error) {
	frames := make([]trie.FrameID, len(d.strings))
	for i, s := range d.strings {
		frames[i] = t.Intern(parseFrame(s))
	}
	const waiting = ^trie.NodeID(0) // for its caller
	nodes := make([]trie.NodeID, len(d.calls))
	var path []int
	for i := range d.calls {
		parent := trie.Root
		for call := i; ; {
			if nodes[call] == waiting {
				return nil, input.Refuse(input.Invalid, callField(d.calls[call].id, "parent"), "it calls itself")
			}
			if nodes[call] != trie.Root {
				parent = nodes[call]
				break
			}
			nodes[call] = waiting
			path = append(path, call)
			up := d.calls[call].parent
			if up == "" {
				break
			}
			next, ok := d.ids[up]
			if !ok {
				return nil, input.Refuse(input.Invalid, callField(d.calls[call].id, "parent"),
					"there is no stack %.40q", up)
			}
			call = next
		}
		for ; len(path) > 0; path = path[:len(path)-1] {
			call := path[len(path)-1]
			c := &d.calls[call]
			if c.name >= uint64(len(frames)) {
				return nil, input.Refuse(input.Invalid, callField(c.id, "name"), "%d, but there are %d strings", c.name,
					len(frames))
			}
			parent = t.Child(parent, frames[c.name])
			nodes[call] = parent
		}
	}
	return nodes, nil
}

// parseFrame reads a frame in the form function @ resource:line:column.
func parseFrame(s string) trie.Frame {
	// The last one, since a URL has no spaces, and a name may contain anything.
	i := strings.LastIndex(" "+s, " @ ")
	if i < 0 {
		if s == "unknown" || s == trie.FrameUnknown {
			return trie.Frame{Name: trie.FrameUnknown}
		}
		return trie.Frame{Name: input.FunctionName(s)}
	}
	f := trie.Frame{Name: input.FunctionName(s[:max(i-1, 0)]), Resource: s[i+len("@ "):]}
	if rest, column, ok := input.CutNumber(f.Resource); ok {
		if rest, line, ok := input.CutNumber(rest); ok { // one number alone may be a port
			f.Resource, f.Line, f.Column = rest, line, column
		}
	}
	return f
}

// IsProposal reports whether data begins like input of [DecodeProposal].
func IsProposal(data []byte) bool {
	var r input.JSON
	r.Reset(data)
	for r.Object(); r.Key(); {
		if string(r.Name) != "profile" {
			r.Skip()
			continue
		}
		for r.Object(); r.Key(); r.Skip() {
			if slices.Contains(proposalTables[:], string(r.Name)) {
				return true
			}
		}
	}
	return false
}
