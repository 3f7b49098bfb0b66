package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Parts say what functions are summed up to. The zero value keeps each for itself.
type Parts struct {
	// By is one of [PartsBy]: calls within one of these are one node. "" is function.
	By string
	// Only is "app" for the functions of the app alone: the time of others is that of the
	// nearest caller of the app; or "mine", which has one node for a run of others' code below
	// and above the app's. "" is for all.
	Only string
}

// PartsBy are what functions can be summed up to.
func PartsBy() []string {
	return []string{"function", "file", "package", "team", "owner", "resource"}
}

// What [Parts.Only] may be.
const (
	onlyApp  = "app"
	onlyMine = "mine"
)

// Check refuses what there is not.
func (p Parts) Check() error {
	switch {
	case p.By != "" && !slices.Contains(PartsBy(), p.By):
		return fmt.Errorf("by: %.40q is none of %s", p.By, strings.Join(PartsBy(), ", "))
	case p.Only != "" && p.Only != onlyApp && p.Only != onlyMine:
		return fmt.Errorf("only: %.40q is neither %s nor %s", p.Only, onlyApp, onlyMine)
	}
	return nil
}

// Given reports whether functions are not each for itself.
func (p Parts) Given() bool { return p.By != "" && p.By != "function" || p.Only != "" }

// Show returns a profile with its functions summed up. The sums of all stay what they are.
func (p Parts) Show(in *trie.Profile, of *owner.Finder) *trie.Profile {
	switch p.Only {
	case onlyApp:
		in = owner.OnlyApp(in, of.Of)
	case onlyMine:
		in = owner.FoldOthers(in, of.Of)
	}
	if by := p.Renamer(of); by != nil {
		in = in.Fold(by)
	}
	if p.Given() {
		in.BoundReach()
	}
	return in
}

// Renamer returns what replaces each function, nil if each is for itself.
func (p Parts) Renamer(of *owner.Finder) func(trie.Frame) trie.Frame {
	if p.By == "" || p.By == "function" {
		return nil
	}
	by, err := of.By(p.By)
	if err != nil {
		return nil // check refuses it
	}
	return by
}
