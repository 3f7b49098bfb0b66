package docs_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// codeOf returns the code blocks of a package comment, as Markdown has them.
func codeOf(comment string) (blocks []string) {
	block := ""
	for line := range strings.Lines(comment) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok {
			block += "    " + text
		} else if block != "" {
			blocks, block = append(blocks, block), ""
		}
	}
	return blocks
}

// TestLayoutOfRollups holds the bytes of rollups in storage.md against the comment of the package
// that writes them.
func TestLayoutOfRollups(t *testing.T) {
	blocks := codeOf(readText(t, "../trie/rollup/doc.go"))
	if len(blocks) != 2 {
		t.Fatalf("trie/rollup has %d blocks of code, want those of records and stacks", len(blocks))
	}
	storage := readText(t, "storage.md")
	for _, block := range blocks {
		if !strings.Contains(storage, "\n\n"+block+"\n") {
			t.Errorf("storage.md lacks this block of trie/rollup/doc.go:\n%s", block)
		}
	}
}

// TestObjectsOfStore has the same objects in storage.md and in the comment of the package that
// names them.
func TestObjectsOfStore(t *testing.T) {
	_, table, _ := strings.Cut(readText(t, "storage.md"), "## Layout\n")
	table, _, _ = strings.Cut(table, "\n`HOUR` is")
	var documented, named []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(table, -1) {
		documented = append(documented, strings.Split(strings.ReplaceAll(row[1], "`", ""), ", ")...)
	}
	for _, line := range strings.Split(codeOf(readText(t, "../store/shared/layout/doc.go"))[0], "\n") {
		if keys, _, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			named = append(named, strings.Split(keys, ", ")...)
		}
	}
	slices.Sort(documented)
	slices.Sort(named)
	if !slices.Equal(documented, named) || len(named) < 14 {
		t.Errorf("storage.md has %q, store/shared/layout/doc.go %q", documented, named)
	}
}
