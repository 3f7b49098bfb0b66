package encode

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// compareGolden compares got with the file testdata/name, which -update writes.
func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %s\nif that is meant, -update rewrites it", name, firstDifference(got, want))
	}
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		line := func(s []string) string {
			if i < len(s) {
				return fmt.Sprintf("%.300q", s[i])
			}
			return "the end"
		}
		if line(g) != line(w) || i >= len(g) || i >= len(w) {
			return fmt.Sprintf("line %d:\ngot  %s\nwant %s", i+1, line(g), line(w))
		}
	}
	return "lines differ after 300 characters"
}

// dump returns what Dump writes.
func dump(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Dump(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
