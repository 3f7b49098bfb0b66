package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestGo checks that each block of Go in go.md is in an example that the tests run.
func TestGo(t *testing.T) {
	lines := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
		return b.String()
	}
	var examples string
	for _, name := range []string{"../trie/example_test.go", "../store/shared/example_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		examples += lines(string(text))
	}
	text, err := os.ReadFile("go.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 4 {
		t.Errorf("%d blocks", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(examples, lines(block[1])) {
			t.Errorf("no example has\n%s", block[1])
		}
	}
}
