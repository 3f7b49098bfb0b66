package encode

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Format is a format that Fieldtrie reads, writes or both.
type Format struct {
	Name  string // as in --format
	About string // one line for --help
	// Binary reports that what Encode writes is not for a terminal.
	Binary bool
	// Detect reports whether data looks like this format. It may be cheap and wrong if
	// a format before it in [Formats] would have taken the data. nil: not read.
	Detect func(data []byte) bool
	// Decode reads one document. Exactly one field of it is set. nil: not read.
	Decode func(data []byte, lim Limits) (Document, error)
	// Encode writes a profile. nil: not written, or in time order only.
	Encode func(w io.Writer, p *trie.Profile, o Output) error
	// EncodeTimed writes threads in time order, as --timed asks for. nil: it can not.
	EncodeTimed func(w io.Writer, lines []*trie.Timeline, o Output) error
	// Compares reports that Encode shows what p has more and less than o.Base.
	Compares bool
}

// Formats returns all formats in the order of detection: those with a magic number
// first, then those that are told by their structure.
func Formats() []Format {
	return []Format{
		{
			Name: "trie", About: "Fieldtrie's own binary format (docs/format.md)", Binary: true,
			Detect: IsBinary, Decode: DecodeBinary,
			Encode: func(w io.Writer, p *trie.Profile, _ Output) error {
				b, err := EncodeProfile(p)
				if err == nil {
					_, err = w.Write(b)
				}
				return err
			},
		},
		{
			Name: "pprof", About: "gzipped pprof, for go tool pprof and every viewer of it", Binary: true,
			Detect: isPprof, Encode: EncodePprof,
			Decode: func(data []byte, lim Limits) (Document, error) {
				p, err := DecodePprof(data, lim)
				return Document{Profile: p}, err
			},
		},
		{
			Name: "profilertrace", About: "JSON of the JS Self-Profiling API, bare or with page, timeOrigin, interval around it",
			Detect: isProfilerTrace, Decode: traceDecoder(DecodeProfilerTrace),
		},
		{
			Name: "proposal", About: "JSON of the API's first proposal",
			Detect: isProposal, Decode: traceDecoder(DecodeProposal),
		},
		{Name: "folded", About: "folded stacks, root first, in microseconds, for flamegraph.pl and speedscope", Encode: EncodeFolded},
		{Name: "top", About: "table of the heaviest functions, for people", Encode: EncodeTop},
		{Name: "json", About: "coverage, functions and stacks as one JSON object, for programs", Encode: EncodeJSON},
	}
}

func traceDecoder(f func([]byte, Limits) (*trie.Trace, error)) func([]byte, Limits) (Document, error) {
	return func(data []byte, lim Limits) (Document, error) {
		t, err := f(data, lim)
		return Document{Trace: t}, err
	}
}

// Names returns the names of the formats that keep selects, in order.
func Names(keep func(Format) bool) []string {
	var names []string
	for _, f := range Formats() {
		if keep(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Writer returns the format with this name if it can be written.
func Writer(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name && f.Encode != nil {
			return f, nil
		}
	}
	known := Names(func(f Format) bool { return f.Encode != nil })
	return Format{}, fmt.Errorf("unknown format %q; known are %s", name, strings.Join(known, ", "))
}

// maxInflated is how many bytes a gzipped file may hold.
const maxInflated = 1 << 30

// gunzip returns what data holds if it is gzip, else data.
func gunzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, &Error{Malformed, "gzip", err}
	}
	out, err := io.ReadAll(io.LimitReader(z, maxInflated+1))
	if err != nil {
		return nil, &Error{Malformed, "gzip", err}
	}
	return out, check("gzip", len(out), maxInflated)
}

// Decode reads a document of any format that can be read, gzipped or not. The format is
// told by the content.
func Decode(data []byte, lim Limits) (Document, error) {
	data, err := gunzip(data)
	if err != nil {
		return Document{}, err
	}
	for _, f := range Formats() {
		if f.Detect == nil || !f.Detect(data) {
			continue
		}
		d, err := f.Decode(data, lim)
		if err != nil {
			return Document{}, fmt.Errorf("read as %s: %w", f.Name, err)
		}
		return d, nil
	}
	known := Names(func(f Format) bool { return f.Decode != nil })
	return Document{}, refuse(Malformed, "", "not in a known format: neither of %s", strings.Join(known, ", "))
}
