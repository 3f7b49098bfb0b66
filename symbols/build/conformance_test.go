package build

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fieldtrie/fieldtrie/test/bundles"
)

// TestConformance finds the scripts and maps of bundlers by every rule, without problems.
func TestConformance(t *testing.T) {
	all := fstest.MapFS{}
	for name, b := range builtFiles(t) {
		if strings.Contains(name, "starts/") {
			continue // scripts that no bundler wrote
		}
		all[name] = &fstest.MapFile{Data: b}
	}
	folders, err := fs.ReadDir(all, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			fsys, err := fs.Sub(all, folder.Name())
			if err != nil {
				t.Fatal(err)
			}
			checkBundle(t, fsys, strings.Contains(folder.Name(), "vite"), strings.Contains(folder.Name(), "rollup"))
		})
	}
}

// checkBundle checks the folder of a bundler that may or may not write comments with the URL of the
// map, and debug IDs.
func checkBundle(t *testing.T, fsys fs.FS, hidden, hasID bool) {
	b, err := Find(fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Scripts) == 0 || len(b.Problems) > 0 {
		t.Fatalf("%d scripts, problems %v", len(b.Scripts), b.Problems)
	}
	way := ByComment
	if hidden {
		way = Beside
	}
	for _, s := range b.Scripts {
		l, err := b.Load(s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Way != way || s.MapPath != s.Path+".map" || path.Dir(s.Path) != "." || (s.DebugID != "") != hasID {
			t.Errorf("%+v", s)
		}
		if len(l.Problems) > 0 || len(l.Map.Mappings()) == 0 || l.DebugID != l.Map.DebugID {
			t.Errorf("%s: %d mappings, problems %v", s.Path, len(l.Map.Mappings()), l.Problems)
		}
	}
}

// builtFiles returns the files of builds by their paths.
func builtFiles(t testing.TB) map[string][]byte {
	t.Helper()
	all, err := bundles.Files(bundles.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
