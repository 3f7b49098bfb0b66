package edits_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// constants returns the table of a build in testdata/constants, made by esbuild: the original
// build, one that differs from it by a constant (--define), and one with modules in another order,
// more functions and other identifiers.
func constants(t *testing.T, name string) *symbols.Table {
	t.Helper()
	path := filepath.Join("testdata", "constants", name+".js")
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path + ".map")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sourcemap.Read(text, sourcemap.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := symbols.Make(script, m)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Builds that differ by a constant have the same sources, and one function with different code.
func TestRecompiled(t *testing.T) {
	before, constant, order := constants(t, "before"), constants(t, "constant"), constants(t, "order")
	for _, x := range []struct {
		about string
		a, b  []*symbols.Table
		want  []string
	}{
		{"the same build", []*symbols.Table{before}, []*symbols.Table{before}, nil},
		{"another constant", []*symbols.Table{before}, []*symbols.Table{constant}, []string{"formatPrice"}},
		{"another order of modules", []*symbols.Table{before}, []*symbols.Table{order}, nil},
		{"a second copy of the code", []*symbols.Table{before}, []*symbols.Table{constant, before}, nil},
	} {
		var got []string
		for _, e := range edits.Between(x.a, x.b).Edits {
			switch e.Kind {
			case edits.Recompiled:
				got = append(got, e.After.Name)
			case edits.Edited:
				t.Errorf("%s: %s is edited", x.about, e.After.Name)
			}
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: the recompiled functions are %q, not %q", x.about, got, x.want)
		}
	}
}
