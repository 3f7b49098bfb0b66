package formats

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFormatsDocument checks that docs/formats.md has a row for each format, with its capabilities
// and losses.
func TestFormatsDocument(t *testing.T) {
	name := "../../docs/formats.md"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, f := range All() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", f.Name, f.Abilities(), f.Loses)
	}
	if strings.Contains(string(data), table.String()) {
		return
	}
	t.Errorf("%s lacks the table\n%s", name, table.String())
}
