package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Parts configures how functions are grouped. The zero value keeps functions separate.
type Parts struct {
	// By is one of [PartsBy]: nested calls within one part become one node. "" means function.
	By string
	// Only is "app" for the functions of the app alone, where the time of other code counts for the
	// nearest caller in the app. With "mine", consecutive calls of other code below and above the
	// app's become one node. "" means all functions.
	Only string
}

// PartsBy returns the values of [Parts.By].
func PartsBy() []string {
	return []string{"function", "file", "package", "team", "owner", "resource"}
}

// Values of [Parts.Only].
const (
	onlyApp  = "app"
	onlyMine = "mine"
)

// Check returns an error for unknown values.
func (p Parts) Check() error {
	switch {
	case p.By != "" && !slices.Contains(PartsBy(), p.By):
		return fmt.Errorf("by: %.40q is none of %s", p.By, strings.Join(PartsBy(), ", "))
	case p.Only != "" && p.Only != onlyApp && p.Only != onlyMine:
		return fmt.Errorf("only: %.40q is neither %s nor %s", p.Only, onlyApp, onlyMine)
	}
	return nil
}

// Given reports whether p groups functions.
func (p Parts) Given() bool { return p.By != "" && p.By != "function" || p.Only != "" }

// Show returns a profile with its functions grouped. Totals stay the same.
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

// Renamer returns the function that maps each function to its part, or nil if functions stay
// separate.
func (p Parts) Renamer(of *owner.Finder) func(trie.Frame) trie.Frame {
	if p.By == "" || p.By == "function" {
		return nil
	}
	by, err := of.By(p.By)
	if err != nil {
		return nil // rejected by Check
	}
	return by
}
