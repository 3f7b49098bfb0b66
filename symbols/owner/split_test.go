package owner

import (
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

func TestSplit(t *testing.T) {
	p := profileOf("react:work > /Row 5", "react:work > /Row > react:hook 3", "/main 2")
	p.Groups[0].Coverage = trie.Coverage{Views: 3, Traces: 3, Stackless: 7}
	got := map[string][]string{}
	split := Split(p, "owner", ofTest())
	for i := range split.Groups {
		alone := &trie.Profile{Trie: split.Trie, Groups: split.Groups[i : i+1]}
		stacks := stacksOf(alone)
		for n, w := range split.Groups[i].Weights.All() {
			if w.Self == 0 && w.Reach > 0 {
				stacks = append(stacks, "through "+p.Frame(n).Name)
			}
		}
		got[split.Groups[i].Labels.Value("owner")] = stacks
	}
	want := map[string][]string{
		"":                  nil,
		"(app)":             {"/main 2 of 1", "through work", "work > /Row 5 of 2"},
		"(framework react)": {"through Row", "through work", "work > /Row > hook 3 of 1"},
	}
	for name := range want {
		slices.Sort(got[name])
		if !slices.Equal(got[name], want[name]) {
			t.Errorf("%q: got %q, want %q", name, got[name], want[name])
		}
	}
	if len(got) != len(want) || split.Groups[0].Coverage != p.Groups[0].Coverage {
		t.Errorf("groups %q, coverage %+v", got, split.Groups[0].Coverage)
	}
}

// checkSplit checks that the groups of owners add up to the original, and that no node has more
// page views than before, or fewer than the nodes below it.
func checkSplit(t *testing.T, p *trie.Profile) {
	t.Helper()
	of := ofTest()
	split := Split(p, "owner", of)
	if err := split.Validate(); err != nil {
		t.Fatal(err)
	}
	type sum struct{ self, samples int64 }
	want, got := map[trie.NodeID]sum{}, map[trie.NodeID]sum{}
	for i := range p.Groups {
		for n, w := range p.Groups[i].Weights.All() {
			if w.Self != 0 || w.Samples != 0 {
				want[n] = sum{want[n].self + w.Self, want[n].samples + w.Samples}
			}
		}
	}
	flat, _ := p.Flat()
	for i := range split.Groups {
		g := &split.Groups[i]
		name := g.Labels.Value("owner")
		for n, w := range g.Weights.All() {
			if w.Self != 0 || w.Samples != 0 {
				if whose := of(p.Frame(n)).Frame().Name; whose != name {
					t.Errorf("a function of %s has time in the group of %s", whose, name)
				}
				got[n] = sum{got[n].self + w.Self, got[n].samples + w.Samples}
			}
			if w.Reach > flat[n].Reach {
				t.Errorf("a node is in %d page views, and was in %d", w.Reach, flat[n].Reach)
			}
		}
	}
	for n, w := range want {
		if got[n] != w {
			t.Errorf("a node has %v, but had %v", got[n], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d nodes have time, %d had", len(got), len(want))
	}
}
