package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
)

// detectWindows are the sizes of a document's beginning used to detect its format, tried in
// this order.
var detectWindows = [...]int{input.HeadSize, 4 << 20, 64 << 20}

// Decode reads a document of any readable format, gzipped or not, in UTF-8 or in UTF-16 with a byte
// order mark. It detects the format by content. Use [encode.FileLimits] as limits for local files,
// and the zero value for untrusted data.
func Decode(r io.Reader, lim encode.Limits) (encode.Document, error) {
	b, err := plain(bufio.NewReaderSize(r, input.HeadSize), maxCompressions)
	if err != nil {
		return encode.Document{}, err
	}
	var head []byte
	for _, window := range detectWindows {
		more, err := io.ReadAll(io.LimitReader(b, int64(window-len(head))))
		head = append(head, more...)
		ended := len(head) < window
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return encode.Document{}, input.ReadError(err)
		}
		if f, ok := detect(head); ok {
			d, err := f.Decode(io.MultiReader(bytes.NewReader(head), &rest{b, err}), lim)
			if err != nil {
				return encode.Document{}, fmt.Errorf("read as %s: %w", f.Name, err)
			}
			return d, nil
		}
		if err != nil {
			return encode.Document{}, input.ReadError(err)
		}
		if ended {
			break
		}
	}
	if err := neighbour(head); err != nil {
		return encode.Document{}, err
	}
	known := Names(func(f Format) bool { return f.Decode != nil })
	return encode.Document{}, input.Refuse(input.Malformed, "", "not in a known format, which are %s",
		strings.Join(known, ", "))
}

// rest is the document after the inspected beginning.
type rest struct {
	r   io.Reader
	err error // with which the beginning ended
}

func (r *rest) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.r.Read(p)
}

func detect(head []byte) (Format, bool) {
	for _, f := range readFormats() {
		if f.Detect(head) {
			return f, true
		}
	}
	return Format{}, false
}

// maxCompressions is how often a document may be gzipped. Some are gzipped twice, by a tool
// and by a server; and there are gzip files that decompress to themselves.
const maxCompressions = 3

// plain returns the content of b in UTF-8, after up to compressions layers of gzip.
func plain(b *bufio.Reader, compressions int) (io.Reader, error) {
	magic, _ := b.Peek(2) // an empty document is not in a known format
	switch string(magic) {
	case "\x1f\x8b":
		if compressions == 0 {
			return nil, input.Refuse(input.TooLarge, "gzip", "gzipped more than %d times", maxCompressions)
		}
		z, err := input.NewGunzip(b)
		if err != nil {
			return nil, err
		}
		return plain(bufio.NewReaderSize(z, input.HeadSize), compressions-1)
	case "\xff\xfe", "\xfe\xff":
		return transform.NewReader(b, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()), nil
	}
	return b, nil
}

// neighbour returns an error about a document that looks like a profile of a format that
// cannot be merged here, and nil if it is not recognised.
func neighbour(head []byte) error {
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return input.Refuse(input.Invalid, "",
			"a zip archive; unpack it, or if it is a .devtools file of Edge, save the trace itself from its "+
				"Performance panel")
	}
	if bytes.HasPrefix(head, []byte("v8-version,")) || bytes.HasPrefix(head, []byte("shared-library,")) {
		return input.Refuse(input.Invalid, "", "the log of node --prof; record with node --cpu-prof instead")
	}
	var r input.JSON
	r.Reset(head)
	seen := map[string]bool{}
	if r.Peek() != '{' {
		return nil
	}
	for r.Object(); r.Key(); r.Skip() {
		key := string(r.Name)
		seen[key] = true
		ahead := r // which looks at the value and does not read it
		switch {
		case key == "snapshot":
			return input.Refuse(input.Invalid, "", "a heap snapshot has memory and not time; record a CPU profile")
		case key == "head" && ahead.HasMember("selfSize"):
			return input.Refuse(input.Invalid, "",
				"a heap profile: its sizes are bytes and not time; record a CPU profile, for example with node "+
					"--cpu-prof")
		case key == "samples" && ahead.FirstHasMember("size"):
			return input.Refuse(input.Invalid, "",
				"an allocation profile: its samples are bytes and not time; record a CPU profile, for example with "+
					"node --cpu-prof")
		case seen["code"] && seen["functions"] && seen["ticks"]:
			return input.Refuse(input.Invalid, "",
				"the processed log of node --prof; record with node --cpu-prof instead")
		case key == "log" && r.Peek() == '{' && bytes.Contains(head, []byte(`"entries"`)):
			return input.Refuse(input.Invalid, "",
				"an HTTP archive (HAR): it has requests and no stacks; record a trace in the Performance panel")
		}
	}
	return nil
}
