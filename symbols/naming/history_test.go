package naming

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// A source gets the commits that edit its file, even if one of the paths has more parent folders.
func TestHistory(t *testing.T) {
	h := History{RepositoryURL: "https://git.example/shop.git/", Commits: []symbols.Commit{
		{SHA: "c3", Files: []string{"web/src/lib/money.ts"}}, {SHA: "c2", Files: []string{"src/lib/money.ts", "x"}},
		{SHA: "c1", Files: []string{"src/lib/old-money.ts", "money.ts.md"}}}}
	for source, want := range map[string]string{"src/lib/money.ts": "c3c2", "lib/money.ts": "c3c2",
		"packages/shop/web/src/lib/money.ts": "c3c2", "money.ts": "c3c2", "y.ts": "", "": ""} {
		got := ""
		for _, c := range h.Of(source) {
			got += c.SHA
		}
		if got != want {
			t.Errorf("%s: %s, not %s", source, got, want)
		}
	}
	if got := h.URL("c3"); got != "https://git.example/shop/commit/c3" {
		t.Errorf("got %s", got)
	}
	if (&History{}).URL("c3") != "" || len((*Symbolizer)(nil).History("r").Commits) > 0 {
		t.Error("got commits without a history")
	}
}
