package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestTreeRows checks that the heaviest nodes are shown, and the rest is summed.
func TestTreeRows(t *testing.T) {
	p := trie.NewProfile()
	for i := range 300 {
		p.Add(nil, p.Insert(fixture.FrameMain, trie.Frame{Name: fmt.Sprintf("f%03d", i)}),
			trie.Weight{Self: int64(10_000 + i), Samples: 1})
	}
	for rows, want := range map[int]struct {
		lines int
		rest  string
	}{
		0:  {1, "… 300 more"}, // each has less than 0.5 %
		-1: {301, ""},
	} {
		got := fixture.Written(t, EncodeTree, p, output.Options{Rows: rows})
		_, table, _ := strings.Cut(got, "(root)\n")
		lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
		last := lines[len(lines)-1]
		if strings.Contains(last, "more") {
			lines = lines[:len(lines)-1]
		}
		if len(lines) != want.lines || want.rest != "" && !strings.HasSuffix(last, want.rest) {
			t.Errorf("%d rows: got %d, last %q", rows, len(lines), last)
		}
	}
	q := trie.NewProfile()
	for i := range 20 {
		q.Add(nil, q.Insert(fixture.FrameMain, trie.Frame{Name: fmt.Sprintf("f%02d", i)}),
			trie.Weight{Self: int64(10_000 * (i + 1)), Samples: 1})
	}
	got := fixture.Written(t, EncodeTree, q, output.Options{Rows: 4})
	want := `      2100.0 100.00%          0.0  (root)
      2100.0 100.00%          0.0  main (https://example.com/app.js:1:1)
       200.0   9.52%        200.0  ├─ f19
       190.0   9.05%        190.0  ├─ f18
       180.0   8.57%        180.0  ├─ f17
      1530.0  72.86%               └─ … 17 more
`
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant it to end with\n%s", got, want)
	}
}

// TestTreeNames checks that names cannot move the cursor of a terminal.
func TestTreeNames(t *testing.T) {
	for r := range strings.SplitSeq(fixture.Written(t, EncodeTree, fixture.HostileProfile(), output.Options{}), "\n") {
		if strings.ContainsFunc(r, output.IsControl) {
			t.Errorf("got %q", r)
		}
	}
}
