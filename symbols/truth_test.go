package symbols_test

import (
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
	"github.com/fieldtrie/fieldtrie/test/bundles"
)

// builds returns the builds with a known truth in $SOURCEMAPS.
func builds(t testing.TB) []bundles.Build {
	t.Helper()
	all, err := bundles.Read(bundles.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tables makes the tables of a build, by script.
func tables(t testing.TB, b bundles.Build) map[string]*symbols.Table {
	out := map[string]*symbols.Table{}
	for _, s := range b.Scripts {
		m, err := sourcemap.Read(s.Map, sourcemap.DefaultLimits())
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		table, _, err := symbols.Make(s.Text, m)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		out[s.Name] = table
	}
	return out
}

// TestTruth compares tables with builds whose functions are known: all functions of the scripts are
// found, with the names that V8 reports, and nearly all of their originals.
func TestTruth(t *testing.T) {
	for _, b := range builds(t) {
		t.Run(b.Name, func(t *testing.T) {
			all := tables(t, b)
			var known, right, wrong, missing int
			for _, s := range b.Scripts {
				for _, row := range s.Truth {
					f := all[s.Name].Find(row.Line, row.Column)
					if f == nil || f.Minified != row.Minified {
						missing++
						t.Logf("%s:%d:%d: %q is %+v", s.Name, row.Line, row.Column, row.Minified, f)
						continue
					}
					if row.Known {
						known++
						switch {
						case isOriginal(all[s.Name], f, row):
							right++
						case f.Way != symbols.Kept:
							wrong++
							t.Logf("%s:%d:%d: %s of %s:%d:%d is %+v", s.Name, row.Line, row.Column, row.Name, row.File,
								row.SourceLine, row.SourceColumn, f)
						}
					}
				}
			}
			t.Logf("%d functions, of %d of which the original is known: %d right, %d wrong", known+missing, known,
				right, wrong)
			if missing > len(b.Scripts) {
				t.Errorf("%d functions are not in the tables", missing)
			}
			if 1000*right < 990*known || 1000*wrong > 5*known {
				t.Errorf("of %d functions %d are right and %d wrong", known, right, wrong)
			}
		})
	}
}

// isOriginal reports whether f is in the source file of row, at its position or with its name.
func isOriginal(t *symbols.Table, f *symbols.Function, row bundles.Row) bool {
	if f.Source < 0 || t.Sources[f.Source].Name != row.File {
		return false
	}
	return f.SourceLine == row.SourceLine && f.SourceColumn == row.SourceColumn || row.Name != "" && f.Name == row.Name
}

// TestSame compares the keys of two releases with the functions that did not change.
func TestSame(t *testing.T) {
	all := map[string]bundles.Build{}
	for _, b := range builds(t) {
		all[b.Name] = b
	}
	for name, b := range all {
		old, ok := all[strings.Replace(name, "-next-", "-", 1)]
		if len(b.Same) == 0 || !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			from, to := tables(t, old), tables(t, b)
			equal := 0
			for _, p := range b.Same {
				f, g := from[p.Old.Script].Find(p.Old.Line, p.Old.Column), to[p.New.Script].Find(p.New.Line,
					p.New.Column)
				switch {
				case f == nil || g == nil:
					t.Errorf("%+v: not in the tables", p)
				case f.Key != 0 && f.Key == g.Key:
					equal++
				default:
					t.Logf("%+v: %+v is %+v", p, f, g)
				}
			}
			t.Logf("%d of %d unchanged functions have equal keys (%.2f %%)", equal, len(b.Same),
				100*float64(equal)/float64(len(b.Same)))
			if 1000*equal < 990*len(b.Same) {
				t.Errorf("%d of %d unchanged functions have equal keys", equal, len(b.Same))
			}
			for script, table := range to {
				seen := map[uint64]*symbols.Function{}
				twice := 0
				for i := range table.Functions {
					f := &table.Functions[i]
					if f.Key != 0 && seen[f.Key] != nil {
						twice++
						t.Logf("%s: one key: %+v, %+v", script, seen[f.Key], f)
					}
					seen[f.Key] = f
				}
				t.Logf("%s: %d of %d functions share a key", script, twice, len(table.Functions))
			}
		})
	}
}
