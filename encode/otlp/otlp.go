// Package otlp writes profiles of OpenTelemetry.
package otlp

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Encode writes p in the profiles signal of OpenTelemetry, as a binary ProfilesData
// message, the form for files. The signal is not stable yet: the output is v1development
// as of version 0.4.0 of its Go module, and a later version may not read it.
//
// There are two profiles, since each has one type of value: wall in nanoseconds, which
// comes first because tools show the first, and samples as a count. A sample is a node
// with self weight in one group, and the labels of the group are its attributes; a label
// key with several values is an attribute with a list. The id of a profile is a hash of
// its content. Equal profiles and times give equal bytes.
func Encode(w io.Writer, p *trie.Profile, o output.Options) error {
	if err := output.CheckStacks(p); err != nil {
		return err
	}
	t := newOTLPTables(p.Canonical())
	wall := t.profile("wall", "nanoseconds", func(w trie.Weight) int64 { return output.Nanoseconds(w.Self) })
	count := t.profile("samples", "count", func(w trie.Weight) int64 { return w.Samples })
	scope := &otlp.ScopeProfiles{
		Scope:    &common.InstrumentationScope{Name: "github.com/fieldtrie/fieldtrie"},
		Profiles: []*otlp.Profile{wall, count},
	}
	of := &resource.Resource{Attributes: []*common.KeyValue{{Key: "telemetry.sdk.language", Value: textValue("webjs")}}}
	data := &otlp.ProfilesData{
		ResourceProfiles: []*otlp.ResourceProfiles{{Resource: of, ScopeProfiles: []*otlp.ScopeProfiles{scope}}},
		Dictionary:       t.dictionary,
	}
	for _, profile := range scope.Profiles {
		if !o.Since.IsZero() && !o.Until.IsZero() {
			profile.TimeUnixNano = uint64(o.Since.UnixNano())
			profile.DurationNano = uint64(o.Until.Sub(o.Since))
		}
		if err := t.identify(profile); err != nil {
			return err
		}
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode otlp: %w", err)
	}
	_, err = w.Write(b)
	return err
}

// otlpTables are the tables shared by all profiles of a message. In each, entry 0 is the
// zero value and means none.
type otlpTables struct {
	p          *trie.Profile // canonical
	dictionary *otlp.ProfilesDictionary
	texts      map[string]int32
	attributes map[string]int32 // by key and values, as labels
	functions  map[function]int32
	locations  []int32 // by FrameID; 0 is not added yet
	stacks     []int32 // by NodeID; 0 is not added yet
}

func newOTLPTables(p *trie.Profile) *otlpTables {
	return &otlpTables{
		p: p,
		dictionary: &otlp.ProfilesDictionary{
			MappingTable:   []*otlp.Mapping{{}},
			LocationTable:  []*otlp.Location{{}},
			FunctionTable:  []*otlp.Function{{}},
			LinkTable:      []*otlp.Link{{TraceId: make([]byte, 16), SpanId: make([]byte, 8)}},
			StringTable:    []string{""},
			AttributeTable: []*otlp.KeyValueAndUnit{{}},
			StackTable:     []*otlp.Stack{{}},
		},
		texts:      map[string]int32{"": 0},
		attributes: map[string]int32{},
		functions:  map[function]int32{},
		locations:  make([]int32, len(p.Frames)),
		stacks:     make([]int32, len(p.Nodes)),
	}
}

// profile returns the weights selected by value.
func (t *otlpTables) profile(kind, unit string, value func(trie.Weight) int64) *otlp.Profile {
	out := &otlp.Profile{SampleType: &otlp.ValueType{TypeStrindex: t.text(kind), UnitStrindex: t.text(unit)}}
	for i := range t.p.Groups {
		g := &t.p.Groups[i]
		labels := t.labels(g.Labels)
		for n, w := range g.Weights.All() {
			if v := value(w); v != 0 {
				out.Samples = append(out.Samples, &otlp.Sample{
					StackIndex: t.stack(n), AttributeIndices: labels, Values: []int64{v},
				})
			}
		}
	}
	return out
}

// text returns the number of s. Strings of a protobuf message must be UTF-8.
func (t *otlpTables) text(s string) int32 {
	s = strings.ToValidUTF8(s, "�")
	i, known := t.texts[s]
	if !known {
		i = int32(len(t.dictionary.StringTable))
		t.texts[s] = i
		t.dictionary.StringTable = append(t.dictionary.StringTable, s)
	}
	return i
}

// labels returns the attributes for the labels of a group, each key once.
func (t *otlpTables) labels(l trie.Labels) []int32 {
	var out []int32
	for len(l) > 0 {
		n := 1
		for n < len(l) && l[n].Key == l[0].Key {
			n++
		}
		out = append(out, t.attribute(l[:n]))
		l = l[n:]
	}
	return out
}

// attribute returns the number of the attribute for labels of one key.
func (t *otlpTables) attribute(l trie.Labels) int32 {
	key := fmt.Sprintf("%q", l)
	i, known := t.attributes[key]
	if !known {
		value := textValue(l[0].Value)
		if len(l) > 1 {
			list := &common.ArrayValue{}
			for _, x := range l {
				list.Values = append(list.Values, textValue(x.Value))
			}
			value = &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
		}
		i = int32(len(t.dictionary.AttributeTable))
		t.attributes[key] = i
		t.dictionary.AttributeTable = append(t.dictionary.AttributeTable,
			&otlp.KeyValueAndUnit{KeyStrindex: t.text(l[0].Key), Value: value})
	}
	return i
}

// stack returns the number of the stack of n.
func (t *otlpTables) stack(n trie.NodeID) int32 {
	if t.stacks[n] == 0 {
		s := &otlp.Stack{}
		for a := range t.p.Stack(n) {
			s.LocationIndices = append(s.LocationIndices, t.location(t.p.Nodes[a].Frame))
		}
		t.stacks[n] = int32(len(t.dictionary.StackTable))
		t.dictionary.StackTable = append(t.dictionary.StackTable, s)
	}
	return t.stacks[n]
}

// location returns the number of the location of a frame.
func (t *otlpTables) location(id trie.FrameID) int32 {
	if t.locations[id] == 0 {
		f := t.p.FrameOf(id)
		t.locations[id] = int32(len(t.dictionary.LocationTable))
		t.dictionary.LocationTable = append(t.dictionary.LocationTable, &otlp.Location{
			Lines: []*otlp.Line{{FunctionIndex: t.function(f), Line: int64(f.Line), Column: int64(f.Column)}},
		})
	}
	return t.locations[id]
}

// function returns the number of the function of a frame. Functions have no column, so
// several on one line may become one.
func (t *otlpTables) function(f trie.Frame) int32 {
	k := function{t.text(output.Shown(f)), t.text(f.Resource), int64(f.Line)}
	i, known := t.functions[k]
	if !known {
		i = int32(len(t.dictionary.FunctionTable))
		t.functions[k] = i
		t.dictionary.FunctionTable = append(t.dictionary.FunctionTable, &otlp.Function{NameStrindex: k.name,
			FilenameStrindex: k.file, StartLine: k.line})
	}
	return i
}

// function is the identity of a function.
type function struct {
	name, file int32 // numbers of texts
	line       int64
}

// identify sets the id of p to a hash of it and of the tables.
func (t *otlpTables) identify(p *otlp.Profile) error {
	h := sha256.New()
	for _, m := range []proto.Message{t.dictionary, p} {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			return fmt.Errorf("encode otlp: %w", err)
		}
		h.Write(b)
	}
	p.ProfileId = h.Sum(nil)[:16]
	return nil
}

func textValue(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: strings.ToValidUTF8(s, "�")}}
}
