package columns

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// web/test/tree-key.test.ts tests the same keys, because the dashboard makes them, too.
func TestKey(t *testing.T) {
	main := trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 4, Column: 109}
	for want, stack := range map[string][]trie.Frame{
		"cbf29ce484222325": nil, "ea5e7ae9076e14e6": {main}, "3e00929e07427569": {main, {Name: "über ✓"}},
	} {
		if got := Key(stack...); got != want {
			t.Errorf("%v: %s, want %s", stack, got, want)
		}
	}
}

// The other side has the same nodes, and pruned nodes are part of (other).
func TestOf(t *testing.T) {
	profile := func(self map[string]int64) *trie.Profile {
		p := trie.NewProfile()
		p.Views = 1
		for name, us := range self {
			p.Add(nil, p.Insert(trie.Frame{Name: "main"}, trie.Frame{Name: name}), trie.Weight{Self: us})
		}
		return p
	}
	a, b := profile(map[string]int64{"draw": 50, "sort": 3, "load": 2}), profile(map[string]int64{"draw": 40,
		"gone": 7})
	for _, most := range []int{100, 2} {
		got, err := Of(a, b, "", most)
		if err != nil {
			t.Fatal(err)
		}
		n := len(got.Label)
		if got.Total != 55 || got.Base.Total != 47 || len(got.Level) != n || len(got.Self) != n ||
			len(got.Base.Self) != n {
			t.Errorf("%d nodes at most: %+v, %+v", most, got, got.Base)
		}
		if folded := got.Pruned.Self > 0; folded != (most == 2) {
			t.Errorf("%d nodes at most: %+v is pruned", most, got.Pruned)
		}
	}
	if _, err := Of(a, nil, "0123456789abcdef", 100); err == nil {
		t.Error("an unknown key is accepted")
	}
}
