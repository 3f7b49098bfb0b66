// Package speedscope reads and writes files of speedscope.
package speedscope

import (
	"fmt"
	"math"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Decode reads the file format of speedscope, specified in
// https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts. Each of its
// profiles becomes a thread with one stream. Time 0 is the earliest start of a profile.
//
// A sampled profile keeps its samples; their weights are their durations. An evented one gets a
// sample wherever the stack changes. Decode rounds absolute times to microseconds, not durations,
// so sums stay exact. It interprets values without a unit as microseconds, with a warning. It skips
// profiles of bytes, which are not profiles of time; a file with no other profile is rejected.
//
// Events that do not match are repaired, and counted in warnings. Closing a frame closes the frames
// above it. An event that closes nothing is skipped. Frames still open at the end are closed there.
// A time that runs backwards is replaced by the time of the previous event.
func Decode(data []byte, lim input.Limits) (*trie.Recording, error) {
	d := scopeReader{lim: lim.WithDefaults()}
	d.Reset(data)
	d.document()
	if d.Err != nil {
		return nil, d.Err
	}
	return d.recording()
}

// scopeReader decodes the format of speedscope.
type scopeReader struct {
	input.JSON
	lim      input.Limits
	frames   []scopeFrame
	profiles []scopeProfile
	nodes    int // of all profiles
	samples  int // of all profiles
	warnings []string
}

// scopeFrame is a frame. All profiles share the frames; id is its number in the trie of
// profile number owner.
type scopeFrame struct {
	trie.Frame
	id    trie.FrameID
	owner int // from 1 up
}

// scopeProfile is a profile with times in its own unit.
type scopeProfile struct {
	field           string // where it stands in the document
	kind, name      string
	unit            string
	start, end      float64
	trie            *trie.Trie
	leaves          []trie.NodeID // of the stacks of a sampled profile, or after each event
	at              []float64     // time of each event
	weights         []float64     // of the samples
	late, unmatched int           // events that were mended
	unclosed        int           // frames that were open at the end
}

// scopeUnit returns the microseconds in a unit of time as factor/divisor, both exact.
func scopeUnit(unit string) (factor, divisor float64, ok bool) {
	switch unit {
	case "nanoseconds":
		return 1, 1e3, true
	case "microseconds", "none":
		return 1, 1, true
	case "milliseconds":
		return 1e3, 1, true
	case "seconds":
		return 1e6, 1, true
	}
	return 0, 1, false
}

// document reads the document. The profiles are read last, as the frames may come after
// them.
func (d *scopeReader) document() {
	profiles := -1 // where they begin
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "shared":
			for d.Object(); d.Key(); {
				if string(d.Name) == "frames" {
					d.readFrames()
				} else {
					d.Skip()
				}
			}
		case "profiles":
			d.Peek()
			profiles = d.Pos
			d.Skip()
		default:
			d.Skip()
		}
	}
	d.End()
	if d.Err == nil && profiles < 0 {
		d.Stop(input.Refuse(input.Malformed, "profiles", "missing"))
	}
	if d.Err != nil {
		return
	}
	d.Pos = profiles
	d.Array()
	for i := 0; d.Element(); i++ {
		d.readProfile(fmt.Sprintf("profiles[%d]", i))
	}
}

func (d *scopeReader) readFrames() {
	d.frames = nil
	for d.Array(); d.Element(); {
		field := fmt.Sprintf("shared.frames[%d]", len(d.frames))
		if err := input.Check("shared.frames", len(d.frames)+1, d.lim.Frames); err != nil {
			d.Stop(err)
			return
		}
		var f trie.Frame
		for d.Object(); d.Key(); {
			switch string(d.Name) {
			case "name":
				f.Name = input.FunctionName(d.Text(field+".name", d.lim.StringBytes))
			case "file":
				f.Resource = d.Text(field+".file", d.lim.StringBytes)
			case "line":
				f.Line = d.Position()
			case "col":
				f.Column = d.Position()
			default:
				d.Skip()
			}
		}
		d.frames = append(d.frames, scopeFrame{Frame: f})
	}
}

func (d *scopeReader) readProfile(field string) {
	p := scopeProfile{field: field, trie: trie.New()}
	for d.Object(); d.Key(); {
		switch string(d.Name) {
		case "type":
			p.kind = d.Text(field+".type", d.lim.StringBytes)
		case "name":
			p.name = d.Text(field+".name", d.lim.StringBytes)
		case "unit":
			p.unit = d.Text(field+".unit", d.lim.StringBytes)
		case "startValue":
			p.start = d.Float()
		case "endValue":
			p.end = d.Float()
		case "events":
			d.readEvents(&p)
		case "samples":
			d.readStacks(&p)
		case "weights":
			p.weights = nil
			for d.Array(); d.Element(); {
				p.weights = append(p.weights, d.Float())
				if len(p.weights) > d.lim.Samples {
					d.Stop(input.Check(field+".weights", len(p.weights), d.lim.Samples))
				}
			}
		default:
			d.Skip()
		}
	}
	if err := input.Check("profiles", len(d.profiles)+1, d.lim.Resources); err != nil {
		d.Stop(err)
	}
	d.profiles = append(d.profiles, p)
}

// frame reads the number of a frame, in an element of a list of p.
func (d *scopeReader) frame(p *scopeProfile, list string, i int) uint64 {
	n, ok := d.Whole(math.MaxUint32)
	if d.Err == nil && (!ok || n >= uint64(len(d.frames))) {
		d.Stop(input.Refuse(input.Invalid, p.element(list, i), "not the number of one of %d frames", len(d.frames)))
	}
	return n
}

// element names an element of a list of p.
func (p *scopeProfile) element(list string, i int) string {
	return fmt.Sprintf("%s.%s[%d]", p.field, list, i)
}

func (d *scopeReader) call(p *scopeProfile, n trie.NodeID, frame uint64) trie.NodeID {
	if d.Err != nil {
		return n
	}
	f, owner := &d.frames[frame], len(d.profiles)+1
	if f.owner != owner {
		f.id, f.owner = p.trie.Intern(f.Frame), owner
	}
	before := len(p.trie.Nodes)
	n = p.trie.Child(n, f.id)
	d.nodes += len(p.trie.Nodes) - before
	if err := input.Check(p.field, d.nodes, d.lim.Nodes); err != nil {
		d.Stop(err)
	}
	return n
}

// sampled counts another sample.
func (d *scopeReader) sampled(p *scopeProfile, leaf trie.NodeID) {
	p.leaves = append(p.leaves, leaf)
	if d.samples++; d.samples > d.lim.Samples {
		d.Stop(input.Refuse(input.TooLarge, p.field, "more than %d samples or events in all", d.lim.Samples))
	}
}

func (d *scopeReader) readStacks(p *scopeProfile) {
	p.leaves, p.at = nil, nil
	d.Array()
	for i := 0; d.Element(); i++ {
		n := trie.Root
		for d.Array(); d.Element(); {
			n = d.call(p, n, d.frame(p, "samples", i))
		}
		d.sampled(p, n)
	}
}

// openFrames are the open calls of an evented profile, root first.
type openFrames struct {
	calls []openFrame
	count map[uint64]int // how often each frame is open
}

type openFrame struct {
	frame uint64
	node  trie.NodeID
}

func (o *openFrames) leaf() trie.NodeID {
	if len(o.calls) == 0 {
		return trie.Root
	}
	return o.calls[len(o.calls)-1].node
}

func (o *openFrames) push(frame uint64, n trie.NodeID) {
	o.calls = append(o.calls, openFrame{frame, n})
	o.count[frame]++
}

// close closes the innermost call of frame and all calls in it. It reports whether frame
// was on top.
func (o *openFrames) close(frame uint64) bool {
	if o.count[frame] == 0 {
		return false
	}
	for i := 0; ; i++ {
		c := o.calls[len(o.calls)-1]
		o.calls = o.calls[:len(o.calls)-1]
		o.count[c.frame]--
		if c.frame == frame {
			return i == 0
		}
	}
}

func (d *scopeReader) readEvents(p *scopeProfile) {
	p.leaves, p.at = nil, nil
	open := openFrames{count: map[uint64]int{}}
	d.Array()
	for i := 0; d.Element(); i++ {
		kind, frame, at := "", uint64(math.MaxUint64), math.NaN()
		for d.Object(); d.Key(); {
			switch string(d.Name) {
			case "type":
				kind = d.Text(p.field, d.lim.StringBytes)
			case "frame":
				frame = d.frame(p, "events", i)
			case "at":
				at = d.Float()
			default:
				d.Skip()
			}
		}
		switch {
		case d.Err != nil:
			return
		case frame == math.MaxUint64 || math.IsNaN(at):
			d.Stop(input.Refuse(input.Malformed, p.element("events", i), "no frame or no time"))
			return
		case kind == "O":
			open.push(frame, d.call(p, open.leaf(), frame))
		case kind != "C":
			d.Stop(input.Refuse(input.Malformed, p.element("events", i)+".type", "%.20q is neither O nor C", kind))
			return
		case !open.close(frame):
			p.unmatched++
		}
		if n := len(p.at); n > 0 && at < p.at[n-1] {
			at = p.at[n-1]
			p.late++
		}
		p.at = append(p.at, at)
		d.sampled(p, open.leaf())
	}
	p.unclosed = len(open.calls)
}

// Detect reports whether head, the beginning of a document or all of it, is in the format
// of speedscope.
func Detect(head []byte) bool {
	var r input.JSON
	r.Reset(head)
	for r.Object(); r.Key(); {
		switch name := string(r.Name); {
		case name == "$schema" && r.Peek() == '"':
			if strings.Contains(string(r.Str()), "speedscope") {
				return true
			}
		case name == "shared" && r.HasMember("frames"), name == "profiles" && r.FirstHasMember("startValue"):
			return true
		case name != "shared" && name != "profiles":
			r.Skip()
		}
	}
	return false
}
