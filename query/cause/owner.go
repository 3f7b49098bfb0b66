package cause

import (
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Owner returns a function that returns the owner and the team of a changed function, by the rules
// of a source and the symbols of the release with the change. Both are empty if the change is not
// of a function.
func Owner(source query.Local) func(*watch.Change) (name, team string) {
	return func(c *watch.Change) (name, team string) {
		f := c.What.Function
		if f == nil {
			return "", ""
		}
		rules := source.Rules()
		if rules == nil {
			rules = owner.Default()
		}
		frame := trie.Frame{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column}
		o := rules.Of(frame, source.OfPage(c.Pages[0].Page).Symbols.SourceOrigin(c.Release, f.Resource))
		return o.String(), o.Team
	}
}
