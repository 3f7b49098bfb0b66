package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mapped matches a line of doc.go that describes a file.
var mapped = regexp.MustCompile(`(?m)^//\t(\w+\.go)\s+\S`)

// The doc.go of a package lists exactly the files of the package.
func TestMapOfFiles(t *testing.T) {
	for _, dir := range []string{".", "commits", "directory", "shared", "shared/backup", "shared/check",
		"shared/layout", "shared/read", "shared/roll", "shared/write"} {
		text, err := os.ReadFile(filepath.Join(dir, "doc.go"))
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		for _, m := range mapped.FindAllSubmatch(text, -1) {
			there[string(m[1])] = true
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			name := filepath.Base(path)
			if strings.HasSuffix(name, "_test.go") || name == "doc.go" {
				continue
			}
			if !there[name] {
				t.Errorf("%s: got no line about %s, want one", filepath.Join(dir, "doc.go"), name)
			}
			delete(there, name)
		}
		for name := range there {
			t.Errorf("%s: got a line about %s, want none, because it does not exist", filepath.Join(dir,
				"doc.go"), name)
		}
	}
}

// The doc.go of a package also lists its subpackages.
func TestMapOfPackages(t *testing.T) {
	for _, dir := range []string{".", "shared"} {
		text, err := os.ReadFile(filepath.Join(dir, "doc.go"))
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() || e.Name() == "testdata" {
				continue
			}
			line := regexp.MustCompile(`(?m)^//\t` + e.Name() + `\s+\S|Package ` + e.Name() + ` `)
			if !line.Match(text) {
				t.Errorf("%s: got no line about package %s, want one", filepath.Join(dir, "doc.go"), e.Name())
			}
		}
	}
}
