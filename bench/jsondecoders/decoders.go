// Package jsondecoders compares libraries that read JSON, on the two documents that
// Fieldtrie is given the largest of: a .cpuprofile and a Chrome trace. It is a module of
// its own, so that none of them becomes a dependency of the product.
//
//	PROFILE=FILE TRACE=FILE go test -bench . -benchmem          add GOEXPERIMENT=jsonv2 for encoding/json/v2
//	PROFILE=FILE TRACE=FILE go test -run 'Hostile|Peak' -v
//
// Each library reads what a merge needs, into plain structs, and what is in an
// [encode.Document] with all checks is ours.
package jsondecoders

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"github.com/bytedance/sonic"
	gojson "github.com/goccy/go-json"
	segmentio "github.com/segmentio/encoding/json"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/formats"
)

// profile is what is wanted of a .cpuprofile.
type profile struct {
	Nodes      []node  `json:"nodes"`
	Samples    []int64 `json:"samples"`
	TimeDeltas []int64 `json:"timeDeltas"`
}

type node struct {
	ID        int64   `json:"id"`
	Parent    int64   `json:"parent"`
	Children  []int64 `json:"children"`
	CallFrame frame   `json:"callFrame"`
}

type frame struct {
	FunctionName string `json:"functionName"`
	URL          string `json:"url"`
	LineNumber   int64  `json:"lineNumber"`
	ColumnNumber int64  `json:"columnNumber"`
}

// trace is what is wanted of a Chrome trace.
type trace struct {
	TraceEvents []event `json:"traceEvents"`
}

type event struct {
	Name string  `json:"name"`
	Ph   string  `json:"ph"`
	Cat  string  `json:"cat"`
	Ts   float64 `json:"ts"`
	Dur  float64 `json:"dur"`
	Pid  int64   `json:"pid"`
	Tid  int64   `json:"tid"`
	Args struct {
		Data data `json:"data"`
	} `json:"args"`
}

type data struct {
	CPUProfile    profile `json:"cpuProfile"`
	TimeDeltas    []int64 `json:"timeDeltas"`
	SampleTraceID int64   `json:"sampleTraceId"`
}

// found is how much was read, to tell that all read the same.
type found struct {
	nodes, samples, events int
	name                   string // of the first node's function
}

func (p *profile) found() (f found) {
	f = found{nodes: len(p.Nodes), samples: len(p.Samples)}
	if len(p.Nodes) > 0 {
		f.name = p.Nodes[0].CallFrame.FunctionName
	}
	return f
}

func (t *trace) found() (f found) {
	f.events = len(t.TraceEvents)
	for i := range t.TraceEvents {
		p := &t.TraceEvents[i].Args.Data.CPUProfile
		f.nodes, f.samples = f.nodes+len(p.Nodes), f.samples+len(p.Samples)
	}
	return f
}

// decoder is a library. Each function reads a document from a file, or, if the library
// can only do so, from all of its bytes.
type decoder struct {
	name           string
	profile, trace func(io.Reader) (found, error)
}

// decoders are all libraries; other files add some.
var decoders = []decoder{
	{"ours", ours, ours},
	unmarshals("encoding/json", json.Unmarshal),
	unmarshals("segmentio", segmentio.Unmarshal),
	unmarshals("goccy", gojson.Unmarshal),
	unmarshals("sonic", sonic.Unmarshal),
	unmarshals("sonic/std", sonic.ConfigStd.Unmarshal),
}

// unmarshals returns the decoder of a library that has the function of encoding/json.
func unmarshals(name string, unmarshal func([]byte, any) error) decoder {
	return decoder{name, func(r io.Reader) (found, error) {
		var p profile
		text, err := readAll(r)
		if err == nil {
			err = unmarshal(text, &p)
		}
		return p.found(), err
	}, func(r io.Reader) (found, error) {
		var t trace
		text, err := readAll(r)
		if err == nil {
			err = unmarshal(text, &t)
		}
		return t.found(), err
	}}
}

// inMemory is a document that need not be read.
type inMemory struct {
	*bytes.Reader
	text []byte
}

// readAll returns all of a document.
func readAll(r io.Reader) ([]byte, error) {
	switch r := r.(type) {
	case inMemory:
		return r.text, nil
	case *os.File:
		return os.ReadFile(r.Name()) // at once, of the right size
	}
	return io.ReadAll(r)
}

// ours reads either document.
func ours(r io.Reader) (f found, err error) {
	doc, err := formats.Decode(r, encode.FileLimits())
	if err != nil || doc.Recording == nil {
		return f, err
	}
	for _, t := range doc.Recording.Threads {
		f.events += len(t.Events)
		for _, s := range t.Streams {
			f.nodes, f.samples = f.nodes+len(s.Trace.Nodes), f.samples+len(s.Trace.Samples)
			if len(s.Trace.Nodes) > 1 {
				f.name = s.Trace.Frame(1).Name
			}
		}
	}
	return f, nil
}
