package edits

import (
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// PackageChange is a package whose version changed. Before is empty for a new package, and After
// for a removed one.
type PackageChange struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Packages returns the packages whose sources have another version.
func Packages(before, after []*symbols.Table) (out []PackageChange) {
	if len(before) == 0 || len(after) == 0 {
		return nil
	}
	a, b := versions(before), versions(after)
	for name, versions := range b {
		if old := a[name]; old != versions {
			out = append(out, PackageChange{name, old, versions})
		}
	}
	for name, old := range a {
		if _, ok := b[name]; !ok {
			out = append(out, PackageChange{Name: name, Before: old})
		}
	}
	slices.SortFunc(out, func(a, b PackageChange) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// versions returns the versions of packages in tables, separated by commas if there are several. It
// omits packages without a known version.
func versions(tables []*symbols.Table) map[string]string {
	all := map[string][]string{}
	for _, t := range tables {
		for _, s := range t.Sources {
			o := owner.Default().Of(trie.Frame{}, owner.Origin{Source: s.Name, Version: s.Version, Ignored: s.Ignored})
			if s.Version != "" && o.Name != "" && !slices.Contains(all[o.Name], s.Version) {
				all[o.Name] = append(all[o.Name], s.Version)
			}
		}
	}
	out := make(map[string]string, len(all))
	for name, versions := range all {
		slices.Sort(versions)
		out[name] = strings.Join(versions, ", ")
	}
	return out
}
