// Package formats is the table of all formats: their names, detection, decoders and encoders.
package formats

import (
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/firefox"
	"github.com/fieldtrie/fieldtrie/encode/folded"
	"github.com/fieldtrie/fieldtrie/encode/html"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/otlp"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/encode/pprof"
	"github.com/fieldtrie/fieldtrie/encode/speedscope"
	"github.com/fieldtrie/fieldtrie/encode/view"
	"github.com/fieldtrie/fieldtrie/trie"

	v8 "github.com/fieldtrie/fieldtrie/encode/v8"
)

// Format is a format that Fieldtrie reads, writes or both.
type Format struct {
	Name  string // as in --format
	About string // one line for --help
	Loses string // data that files of this format cannot hold, or that are not read
	// Binary reports that the output of Encode is not for a terminal.
	Binary bool
	// Detect reports whether a document looks like this format, given its beginning, which
	// may be cut anywhere. It may be wrong about documents that an earlier format in [All]
	// accepts. nil: not read.
	Detect func(head []byte) bool
	// Decode reads one document. Exactly one field of it is set. nil: not read.
	Decode func(r io.Reader, lim encode.Limits) (encode.Document, error)
	// Encode writes a profile. nil: not written, or only in time order.
	Encode func(w io.Writer, p *trie.Profile, o output.Options) error
	// EncodeTimed writes threads in time order, for --timed. nil: not supported.
	EncodeTimed func(w io.Writer, lines []*trie.Timeline, o output.Options) error
	// Labels reports that Encode keeps the groups of a profile apart.
	Labels bool
	// ForPeople reports that Encode shows recordings to people, who want to see one thread first,
	// not the sum of all.
	ForPeople bool
	// Compares reports that Encode shows the difference between p and o.Base.
	Compares bool
	// Template reports that Encode needs o.Template.
	Template bool
}

// All returns all formats in the order of detection: those with a magic number first, then
// those detected by structure.
func All() []Format {
	return append(readFormats(), writtenFormats()...)
}

// readFormats are the readable formats, in the order of detection.
func readFormats() []Format {
	return []Format{
		{
			Name: "trie", About: "Fieldtrie's own binary format (docs/format.md)", Binary: true, Labels: true,
			Loses:  "written: samples and their times; of traces from the field all is read",
			Detect: encode.IsBinary, Decode: whole(encode.DecodeBinary),
			Encode: func(w io.Writer, p *trie.Profile, _ output.Options) error {
				b, err := encode.EncodeProfile(p)
				if err == nil {
					_, err = w.Write(b)
				}
				return err
			},
		},
		{
			Name: "pprof", About: "gzipped pprof, for go tool pprof and every viewer of it", Binary: true, Labels: true,
			Loses:  "times, total reach; read: mappings, addresses, numeric labels",
			Detect: pprof.Detect, Encode: pprof.Encode, Compares: true,
			Decode: whole(profileDecoder(pprof.Decode)),
		},
		{
			Name:   "profilertrace",
			About:  "JSON of the JS Self-Profiling API, bare or with page, timeOrigin, interval around it",
			Loses:  "nothing",
			Detect: encode.IsProfilerTrace, Decode: whole(traceDecoder(encode.DecodeProfilerTrace)),
		},
		{
			Name: "proposal", About: "JSON of the API's first proposal",
			Loses:  "entries of other types than stack",
			Detect: encode.IsProposal, Decode: whole(traceDecoder(encode.DecodeProposal)),
		},
		{
			Name: "speedscope", About: "JSON of speedscope, for speedscope.app; --timed: in time order",
			Loses:  "reach, counts, coverage; read: the name of the exporter",
			Detect: speedscope.Detect, Decode: whole(recordingDecoder(speedscope.Decode)),
			Encode: speedscope.Encode, EncodeTimed: speedscope.EncodeTimed, Labels: true,
		},
		{
			Name: "firefox", About: "processed profile of the Firefox Profiler (profiler.firefox.com); always in " +
				"time order. The Gecko profile is read, too",
			Loses:  "reach, counts, coverage, labels; read: markers, counters, allocations",
			Detect: firefox.Detect, Decode: whole(recordingDecoder(firefox.Decode)),
			EncodeTimed: firefox.EncodeTimed,
		},
		{
			Name: "cpuprofile",
			About: ".cpuprofile, for Chrome DevTools and VS Code: stacks laid end to end; --timed: in time " +
				"order, one thread. The older tree with a head is read, too",
			Loses:  "reach, counts, coverage, labels; read: hit counts, lines of samples, deoptimisations",
			Detect: v8.IsCPUProfile, Decode: streamDecoder(v8.DecodeCPUProfile),
			Encode: v8.EncodeCPUProfile, EncodeTimed: v8.EncodeCPUProfileTimed,
		},
		{
			Name: "chrometrace",
			About: "Chrome's Trace Event Format, for Perfetto, chrome://tracing and DevTools; always in time " +
				"order. Traces of React Native (Hermes) are read, too",
			Loses:  "reach, counts, coverage, labels; read: asynchronous and flow events, counters, arguments",
			Detect: v8.IsChromeTrace, Decode: streamDecoder(v8.DecodeChromeTrace),
			EncodeTimed: v8.EncodeChromeTraceTimed,
		},
		{
			Name: "folded", About: "folded stacks, root first, in microseconds, for flamegraph.pl and inferno",
			Loses:  "times, counts, reach, coverage, labels; read: the unit; microseconds are assumed",
			Detect: folded.Detect, Decode: whole(profileDecoder(folded.Decode)),
			Encode: folded.Encode, Compares: true,
		},
	}
}

// writtenFormats are the formats that can only be written.
func writtenFormats() []Format {
	return []Format{
		{
			Name: "top", About: "table of the heaviest functions, for people", Encode: view.EncodeTop, Compares: true,
			ForPeople: true,
			Loses:     "stacks, times, labels",
		},
		{
			Name: "tree", About: "call tree, for people", Encode: view.EncodeTree, Compares: true, ForPeople: true,
			Loses: "times, labels; thin branches are folded",
		},
		{
			Name: "svg", About: "flame graph that stands alone: search, zoom, nothing loaded from elsewhere",
			Encode: view.EncodeSVG, Compares: true, ForPeople: true,
			Loses: "times, labels, reach; what is too narrow to see",
		},
		{
			Name: "html", About: "one self-contained HTML file to share: flame graph, table of functions, search, " +
				"nothing loaded from elsewhere", Encode: html.Encode, Compares: true, ForPeople: true,
			Loses: "times, counts, reach, coverage, labels; of more than 50,000 nodes the lightest", Binary: true,
			Template: true,
		},
		{
			Name: "d3", About: "JSON for d3-flame-graph; --timed: the chronological chart", Encode: view.EncodeD3,
			EncodeTimed: view.EncodeD3Timed, Compares: true,
			Loses: "times, counts, reach, coverage, labels",
		},
		{
			Name: "json", About: "coverage, functions and stacks as one JSON object, for programs",
			Encode: view.EncodeJSON, Compares: true,
			Loses: "times; labels are kept for groups, not for stacks",
		},
		{
			Name: "csv", About: "functions as comma-separated values", Encode: view.EncodeCSV, Compares: true,
			Loses: "stacks, times, labels, coverage",
		},
		{
			Name: "otlp", About: "OpenTelemetry profiles, ProfilesData of v1development as protobuf; that proto is " +
				"not stable yet", Binary: true, Labels: true, Encode: otlp.Encode,
			Loses: "times, reach, coverage",
		},
		{
			Name: "dump", About: "the output of --format trie, byte by byte with explanations, for people " +
				"(docs/format.md)", Labels: true,
			Loses: "samples and their times",
			Encode: func(w io.Writer, p *trie.Profile, _ output.Options) error {
				b, err := encode.EncodeProfile(p)
				if err != nil {
					return err
				}
				return encode.Dump(w, b)
			},
		},
	}
}

// whole returns a decoder that holds all of a document in memory.
func whole(f func([]byte, encode.Limits) (encode.Document, error)) func(io.Reader,
	encode.Limits) (encode.Document, error) {
	return func(r io.Reader, lim encode.Limits) (encode.Document, error) {
		data, err := input.ReadWhole(r)
		if err != nil {
			return encode.Document{}, err
		}
		return f(data, lim)
	}
}

func traceDecoder(f func([]byte, encode.Limits) (*trie.Trace, error)) func([]byte,
	encode.Limits) (encode.Document, error) {
	return func(data []byte, lim encode.Limits) (encode.Document, error) {
		t, err := f(data, lim)
		return encode.Document{Trace: t}, err
	}
}

func profileDecoder(f func([]byte, encode.Limits) (*trie.Profile, error)) func([]byte,
	encode.Limits) (encode.Document, error) {
	return func(data []byte, lim encode.Limits) (encode.Document, error) {
		p, err := f(data, lim)
		return encode.Document{Profile: p}, err
	}
}

func recordingDecoder(f func([]byte, encode.Limits) (*trie.Recording, error)) func([]byte,
	encode.Limits) (encode.Document, error) {
	return func(data []byte, lim encode.Limits) (encode.Document, error) {
		r, err := f(data, lim)
		return encode.Document{Recording: r}, err
	}
}

func streamDecoder(f func(io.Reader, encode.Limits) (*trie.Recording, error)) func(io.Reader,
	encode.Limits) (encode.Document, error) {
	return func(r io.Reader, lim encode.Limits) (encode.Document, error) {
		rec, err := f(r, lim)
		return encode.Document{Recording: rec}, err
	}
}

// Writes reports whether f can be written, by stack or in time order.
func (f Format) Writes() bool { return f.Encode != nil || f.EncodeTimed != nil }

// Abilities returns four letters or dashes for the abilities of f: r for read, w for written,
// t for written in time order, d for showing a difference.
func (f Format) Abilities() string {
	out := []byte("rwtd")
	for i, can := range []bool{f.Decode != nil, f.Encode != nil, f.EncodeTimed != nil, f.Compares} {
		if !can {
			out[i] = '-'
		}
	}
	return string(out)
}

// Names returns the names of the formats selected by keep, in order.
func Names(keep func(Format) bool) []string {
	var names []string
	for _, f := range All() {
		if keep(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Writer returns the format with this name if it can be written.
func Writer(name string) (Format, error) {
	for _, f := range All() {
		if f.Name == name && f.Writes() {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("unknown format %q; known are %s", name, strings.Join(Names(Format.Writes), ", "))
}
