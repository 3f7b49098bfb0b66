package formats

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/fieldtrie/fieldtrie/encode/folded"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/encode/pprof"
	"github.com/fieldtrie/fieldtrie/encode/view"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestComparedFormats checks the formats that were the last to support comparisons: they show
// increases and decreases.
func TestComparedFormats(t *testing.T) {
	now, base := fixture.ComparedPair()
	o := output.Options{Base: base}
	fixture.CompareGolden(t, "compared.folded", []byte(fixture.Written(t, folded.Encode, now, o)))
	fixture.CompareGolden(t, "compared.top", []byte(fixture.Written(t, view.EncodeTop, now, o)))
	fixture.CompareGolden(t, "compared.json", readable(t, "json", []byte(fixture.Written(t, view.EncodeJSON, now, o))))
	fixture.CompareGolden(t, "compared.pprof", readable(t, "pprof", []byte(fixture.Written(t, pprof.Encode, now, o))))
}

// TestComparedEmpty checks that every writer accepts an empty profile as the profile, as its base,
// and as both.
func TestComparedEmpty(t *testing.T) {
	p, nothing := fixture.GroupedProfile(), trie.NewProfile()
	for _, f := range append(writers(), writer{name: "top", write: view.EncodeTop}, writer{name: "folded",
		write: folded.Encode},
		writer{name: "json", write: view.EncodeJSON}, writer{name: "pprof", write: pprof.Encode}) {
		if f.write != nil {
			fixture.Written(t, f.write, p, output.Options{Base: nothing})
			fixture.Written(t, f.write, nothing, output.Options{Base: p})
			fixture.Written(t, f.write, nothing, output.Options{Base: nothing})
		}
	}
}

// TestPprofTool checks that Google's pprof reads a profile and a comparison, with the same sums.
func TestPprofTool(t *testing.T) {
	now, base := fixture.ComparedPair()
	for name, c := range map[string]struct {
		o    output.Options
		want []string
	}{
		"plain.pb.gz": {output.Options{}, []string{"110ms total", "70ms 63.64% 63.64%       70ms 63.64%  render",
			"10ms  9.09%   100%       10ms  9.09%  map"}},
		"compared.pb.gz": {output.Options{Base: base}, []string{"-20ms", "render", "-5ms", "querySelector",
			"10ms", "map"}},
	} {
		path := filepath.Join(t.TempDir(), name)
		data := []byte(fixture.Written(t, pprof.Encode, now, c.o))
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
		if err := pprof.Encode(&again, now, c.o); err != nil || !bytes.Equal(again.Bytes(), data) {
			t.Errorf("%s: the bytes differ", name)
		}
	}
}
