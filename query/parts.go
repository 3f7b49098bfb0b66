package query

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
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

// check refuses what there is not.
func (p Parts) check() error {
	switch {
	case p.By != "" && !slices.Contains(PartsBy(), p.By):
		return fmt.Errorf("by: %.40q is none of %s", p.By, strings.Join(PartsBy(), ", "))
	case p.Only != "" && p.Only != onlyApp && p.Only != onlyMine:
		return fmt.Errorf("only: %.40q is neither %s nor %s", p.Only, onlyApp, onlyMine)
	}
	return nil
}

// given reports whether functions are not each for itself.
func (p Parts) given() bool { return p.By != "" && p.By != "function" || p.Only != "" }

// show returns a profile with its functions summed up. The sums of all stay what they are.
func (p Parts) show(in *trie.Profile, of *owner.Finder) *trie.Profile {
	switch p.Only {
	case onlyApp:
		in = owner.OnlyApp(in, of.Of)
	case onlyMine:
		in = owner.FoldOthers(in, of.Of)
	}
	if by := p.rename(of); by != nil {
		in = in.Fold(by)
	}
	if p.given() {
		boundReach(in)
	}
	return in
}

// rename returns what replaces each function, nil if each is for itself.
func (p Parts) rename(of *owner.Finder) func(trie.Frame) trie.Frame {
	if p.By == "" || p.By == "function" {
		return nil
	}
	by, err := of.By(p.By)
	if err != nil {
		return nil // check refuses it
	}
	return by
}

// finder returns what says whose code frames are that were given names; of several names that
// know a frame the first count, and names may be nil.
func finder(rules *owner.Rules, names ...*naming.Names) *owner.Finder {
	if rules == nil {
		rules = owner.Default()
	}
	return owner.NewFinder(rules, func(f trie.Frame) owner.Origin {
		var o naming.Origin
		ok := false
		for i := 0; i < len(names) && !ok; i++ {
			o, ok = names[i].Origin(f)
		}
		if !ok || o.Function == nil || o.Function.Source < 0 {
			return owner.Origin{}
		}
		return owner.Origin{Source: o.Source.Name, Version: o.Source.Version, Ignored: o.Source.Ignored, Teams: o.Owners}
	})
}

// amounts returns how the self times of functions, or of what rename gives for them, vary from
// page view to page view. Of a part nothing is known but its functions: the time of a page view
// in it is the sum of theirs, and its square at most that of the sum of their roots, by Cauchy
// and Schwarz. So intervals of parts are too wide rather than too narrow.
func (s spreads) amounts(rename func(trie.Frame) trie.Frame) map[trie.Frame]compare.Amount {
	out := make(map[trie.Frame]compare.Amount, len(s))
	for f, x := range s {
		a := amountOf(&x.Self)
		if rename != nil {
			f = rename(f)
			if old, ok := out[f]; ok {
				root := math.Sqrt(old.Squares) + math.Sqrt(a.Squares)
				a = compare.Amount{Seen: old.Seen + a.Seen, Sum: old.Sum + a.Sum, Squares: root * root}
			}
		}
		out[f] = a
	}
	return out
}

// boundReach sees to it that no function is in more page views than there are: where several
// became one, the number of page views with one of them is at most the sum, and at most all.
func boundReach(p *trie.Profile) {
	for i := range p.Groups {
		g := &p.Groups[i]
		most := g.Coverage.Views
		if most <= 0 {
			continue // a difference, or of a format that counts none
		}
		type over struct {
			node trie.NodeID
			by   int64
		}
		var all []over
		for n, w := range g.Weights.All() {
			if w.Reach > most {
				all = append(all, over{n, w.Reach - most})
			}
		}
		for _, x := range all {
			g.Weights.Add(x.node, trie.Weight{Reach: -x.by})
		}
	}
}
