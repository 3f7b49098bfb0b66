package encode

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/fieldtrie/fieldtrie/trie"
)

// TestComparedFormats: the formats that could not compare before say what is more and
// what is less.
func TestComparedFormats(t *testing.T) {
	now, base := comparedPair()
	o := Output{Base: base}
	compareGolden(t, "formats/compared.folded", []byte(written(t, EncodeFolded, now, o)))
	compareGolden(t, "formats/compared.top", []byte(written(t, EncodeTop, now, o)))
	compareGolden(t, "formats/compared.json", readable(t, "json", []byte(written(t, EncodeJSON, now, o))))
	compareGolden(t, "formats/compared.pprof", readable(t, "pprof", []byte(written(t, EncodePprof, now, o))))
}

// TestComparedEmpty: comparing with nothing, and nothing with something.
func TestComparedEmpty(t *testing.T) {
	p, nothing := groupedProfile(), trie.NewProfile()
	for _, f := range append(writers(), writer{name: "top", write: EncodeTop}, writer{name: "folded", write: EncodeFolded},
		writer{name: "json", write: EncodeJSON}, writer{name: "pprof", write: EncodePprof}) {
		if f.write != nil {
			written(t, f.write, p, Output{Base: nothing})
			written(t, f.write, nothing, Output{Base: p})
			written(t, f.write, nothing, Output{Base: nothing})
		}
	}
}

// TestPprofTool: Google's own program reads a profile and a comparison, and sums what
// we sum.
func TestPprofTool(t *testing.T) {
	now, base := comparedPair()
	for name, c := range map[string]struct {
		o    Output
		want []string
	}{
		"plain.pb.gz":    {Output{}, []string{"110ms total", "70ms 63.64% 63.64%       70ms 63.64%  render", "10ms  9.09%   100%       10ms  9.09%  map"}},
		"compared.pb.gz": {Output{Base: base}, []string{"-20ms", "render", "-5ms", "querySelector", "10ms", "map"}},
	} {
		path := filepath.Join(t.TempDir(), name)
		data := []byte(written(t, EncodePprof, now, c.o))
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("go", "tool", "pprof", "-top", path).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: got %s, want it to have %q", name, out, want)
			}
		}
		p, err := profile.ParseData(data)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CheckValid(); err != nil {
			t.Error(err)
		}
		var again bytes.Buffer
		if err := EncodePprof(&again, now, c.o); err != nil || !bytes.Equal(again.Bytes(), data) {
			t.Errorf("%s: the bytes differ", name)
		}
	}
}
