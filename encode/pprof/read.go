package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Detect reports whether data is a sequence of protobuf fields that could all be fields of
// a pprof profile, with a sample type and a string table that begins with "". The fields
// may come in any order: Go's own profiles begin with the time, and the string table comes
// last, so for a long profile the beginning must be enough.
func Detect(data []byte) bool {
	sampleType, firstString, long := false, -1, len(data) >= input.HeadSize
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) == 0 || text[0] == '{' || text[0] == '[' {
		return false // JSON, and a line break in front could be a field
	}
	for len(data) > 0 {
		number, typ, n := protowire.ConsumeField(data)
		if n < 0 && long && errors.Is(protowire.ParseError(n), io.ErrUnexpectedEOF) {
			return sampleType
		}
		if n < 0 || number > 15 || (typ != protowire.BytesType && typ != protowire.VarintType) {
			return false
		}
		switch number {
		case 1: // sample_type
			sampleType = true
		case 6: // string_table
			if firstString < 0 {
				firstString = n - 2
			}
		}
		data = data[n:]
	}
	return sampleType && firstString == 0
}

// Decode reads a pprof profile, gzipped or not. Self time is its sample type with a unit
// of time: wall if there is one, else the default, else the last. Sample types
// samples/count and pageviews/count are read if present. The labels of the samples become
// groups. Numeric labels, mappings and addresses are left out.
func Decode(data []byte, lim input.Limits) (*trie.Profile, error) {
	lim = lim.WithDefaults()
	in, err := parsePprof(data)
	if err != nil {
		return nil, err
	}
	if err := input.Check("location", len(in.Location), lim.Frames); err != nil {
		return nil, err
	}
	columns, err := pprofColumns(in)
	if err != nil {
		return nil, err
	}
	p := trie.NewProfile()
	if err := addSamples(p, in, columns, lim); err != nil {
		return nil, err
	}
	for _, c := range in.Comments {
		readCoverage(c, p)
	}
	p = p.Canonical()
	if err := p.Validate(); err != nil {
		return nil, &input.Error{Kind: input.Invalid, Err: err}
	}
	return p, nil
}

// addSamples adds the samples of in to p, by its labels.
func addSamples(p *trie.Profile, in *profile.Profile, columns pprofColumn, lim input.Limits) error {
	frames := map[*profile.Location][]trie.FrameID{} // root first
	for _, l := range in.Location {
		var err error
		if frames[l], err = locationFrames(p, l, lim); err != nil {
			return err
		}
		if err := input.Check("location", len(p.Frames), lim.Frames); err != nil { // inlined ones too
			return err
		}
	}
	for i, s := range in.Sample {
		field := fmt.Sprintf("sample[%d]", i)
		n := trie.Root
		for _, l := range slices.Backward(s.Location) {
			for _, f := range frames[l] {
				n = p.Child(n, f)
			}
			if err := input.Check(field, len(p.Nodes)-1, lim.Nodes); err != nil {
				return err
			}
		}
		w, ok := columns.weight(s.Value)
		if !ok {
			return input.Refuse(input.Invalid, field, "value out of range")
		}
		labels := sampleLabels(s)
		g := p.Group(labels)
		if n == trie.Root {
			g.Coverage.Add(trie.Coverage{Stackless: w.Self})
			continue
		}
		g.Weights.Add(n, w)
	}
	return nil
}

// parsePprof is profile.ParseData, but accepts only the protobuf form and bounds the size
// of a decompressed profile.
func parsePprof(data []byte) (*profile.Profile, error) {
	data, err := input.Gunzip(data)
	if err != nil {
		return nil, err
	}
	in, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, &input.Error{Kind: input.Malformed, Err: err}
	}
	if err := in.CheckValid(); err != nil {
		return nil, &input.Error{Kind: input.Invalid, Err: err}
	}
	return in, nil
}

// pprofColumn holds the indexes of the values of a sample; -1 for a missing one.
type pprofColumn struct {
	self, samples, views int
	perMicro             int64 // self units in a µs, or less than 0: -µs in a unit
}

func pprofColumns(in *profile.Profile) (pprofColumn, error) {
	c := pprofColumn{self: -1, samples: -1, views: -1}
	units := map[string]int64{"nanoseconds": 1000, "microseconds": 1, "milliseconds": -1e3, "seconds": -1e6}
	rank := 0
	for i, t := range in.SampleType {
		switch {
		case t.Type == "samples" && t.Unit == "count":
			c.samples = i
		case t.Type == "pageviews" && t.Unit == "count":
			c.views = i
		case units[t.Unit] != 0:
			r := 1
			if t.Type == in.DefaultSampleType {
				r = 2
			}
			if t.Type == "wall" {
				r = 3
			}
			if r >= rank {
				rank, c.self, c.perMicro = r, i, units[t.Unit]
			}
		}
	}
	if c.self < 0 {
		var have []string
		for _, t := range in.SampleType {
			have = append(have, t.Type+"/"+t.Unit)
		}
		return c, input.Refuse(input.Invalid, "sample_type", "no type with a unit of time, only %s",
			strings.Join(have, ", "))
	}
	return c, nil
}

// weight returns the values of a sample, and whether they are in range. A time that is not
// a whole number of microseconds is rounded, half away from zero, so that negative weights
// of a difference survive a round trip.
func (c pprofColumn) weight(v []int64) (w trie.Weight, ok bool) {
	w.Self = v[c.self]
	if c.perMicro > 0 {
		rest := w.Self % c.perMicro
		w.Self /= c.perMicro
		if 2*rest >= c.perMicro {
			w.Self++
		} else if 2*rest <= -c.perMicro {
			w.Self--
		}
	} else if most := trie.MaxWeight / -c.perMicro; w.Self >= -most && w.Self <= most {
		w.Self *= -c.perMicro
	} else {
		return w, false
	}
	if c.samples >= 0 {
		w.Samples = v[c.samples]
	}
	if c.views >= 0 {
		w.Reach = v[c.views]
	}
	return w, true
}

// locationFrames returns the frames of l, root first. A location with inlined functions
// has several, the innermost first.
func locationFrames(p *trie.Profile, l *profile.Location, lim input.Limits) ([]trie.FrameID, error) {
	var out []trie.FrameID
	for i := len(l.Line) - 1; i >= 0; i-- {
		line := l.Line[i]
		fn := line.Function // CheckValid has ensured that there is one
		f := trie.Frame{Name: fn.Name, Resource: fn.Filename, Line: input.ClampLine(fn.StartLine),
			Column: input.ClampLine(line.Column)}
		switch fn.StartLine {
		case line.Line:
		case 0:
			f.Line = input.ClampLine(line.Line)
		default:
			f.Column = 0 // it belongs to the executed line, not to the definition
		}
		if f.Name == output.Anonymous {
			f.Name = ""
		}
		if n := max(len(f.Name), len(f.Resource)); n > lim.StringBytes {
			return nil, input.Refuse(input.TooLarge, "function", "a text of %d bytes, the most is %d", n,
				lim.StringBytes)
		}
		f.Name, f.Resource = strings.ToValidUTF8(f.Name, "\ufffd"), strings.ToValidUTF8(f.Resource, "\ufffd")
		out = append(out, p.Intern(f))
	}
	if len(out) == 0 {
		out = append(out, p.Intern(trie.Frame{Name: "0x" + strconv.FormatUint(l.Address, 16)}))
	}
	return out, nil
}

func sampleLabels(s *profile.Sample) trie.Labels {
	var l trie.Labels
	for k, values := range s.Label {
		for _, v := range values {
			if k != "" {
				l = append(l, trie.Label{Key: strings.ToValidUTF8(k, "\ufffd"), Value: strings.ToValidUTF8(v,
					"\ufffd")})
			}
		}
	}
	return l.Sort()
}

// readCoverage adds the coverage that [Encode] wrote into a comment. Its group is no
// longer known.
func readCoverage(comment string, p *trie.Profile) {
	text, ok := strings.CutPrefix(comment, coverageComment)
	if !ok {
		return
	}
	c := &p.Group(nil).Coverage
	for field := range strings.FieldsSeq(text) {
		k, v, _ := strings.Cut(field, "=")
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < -trie.MaxWeight || n > trie.MaxWeight {
			continue
		}
		switch k {
		case "views":
			c.Views += n
			p.Views += n
		case "traces":
			c.Traces += n
			p.Traces += n
		case "stackless_us":
			c.Stackless += n
		case "idle_us":
			c.Idle += n
		case "unsampled_us":
			c.Unsampled += n
		case "truncated":
			c.Truncated += n
		}
	}
}
