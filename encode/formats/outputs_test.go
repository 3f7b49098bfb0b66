package formats

import (
	"bytes"
	"io"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
)

// TestWriteErrors checks that every format returns the error of its writer.
func TestWriteErrors(t *testing.T) {
	for _, f := range All() {
		if f.Encode == nil {
			continue
		}
		if err := f.Encode(fixture.FailingWriter{Err: io.ErrShortWrite}, fixture.GroupedProfile(),
			output.Options{Template: fixture.HTMLTemplate()}); err == nil {
			t.Errorf("%s: no error", f.Name)
		}
	}
}

// FuzzDecode checks that decoded input of any format is valid, and that every format can write it.
func FuzzDecode(f *testing.F) {
	for _, tr := range fixture.HandmadeTraces() {
		data, err := encode.EncodeTrace(tr)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for name, data := range fixture.RealTraces(f) {
		f.Add(data)
		if name == fixture.GoldenTraces[0] {
			f.Add(fixture.Gzipped(data))
		}
	}
	f.Add(plainPprof(f, fixture.GroupedProfile()))
	f.Add([]byte(`{"version":1,"options":{"sampleInterval":10},"profile":{"strings":["a"],` +
		`"stackFrames":{"1":{"name":0}},"main-thread":[{"type":"stack","timestamp":1,"stack":1}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) && len(data) > 1<<12 {
			return // may expand a thousandfold
		}
		d, err := Decode(bytes.NewReader(data), encode.Limits{Samples: 2000, Nodes: 2000})
		if err != nil {
			if encode.KindOf(err) == 0 {
				t.Errorf("%v is not an *Error", err)
			}
			return
		}
		p := d.Profile
		if d.Trace != nil {
			if err := d.Trace.Validate(); err != nil {
				t.Fatal(err)
			}
			if _, err := encode.EncodeTrace(d.Trace); err != nil {
				t.Fatal(err)
			}
			p = d.Trace.Profile()
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, f := range All() {
			if f.Encode != nil {
				if err := f.Encode(io.Discard, p, output.Options{Template: fixture.HTMLTemplate()}); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
		}
	})
}
