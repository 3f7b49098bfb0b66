package owner

import (
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Finder finds the owners of the frames of a response. It decides once per file. It is safe for
// concurrent use if origin is.
type Finder struct {
	rules  *Rules
	origin func(trie.Frame) Origin
	mu     sync.Mutex
	known  map[evidence]Owner
}

// evidence is everything that an owner depends on.
type evidence struct {
	trie.Frame // without its place; with a name only if it has no resource
	Origin
}

// NewFinder returns a Finder. origin returns the symbols' data about a frame; it may be nil without
// symbols.
func NewFinder(rules *Rules, origin func(trie.Frame) Origin) *Finder {
	if origin == nil {
		origin = func(trie.Frame) Origin { return Origin{} }
	}
	return &Finder{rules: rules, origin: origin, known: map[evidence]Owner{}}
}

// Of returns the owner of f, see [Rules.Of].
func (x *Finder) Of(f trie.Frame) Owner {
	key := evidence{trie.Frame{Resource: f.Resource}, x.origin(f)}
	if f.Resource == "" {
		key.Name = f.Name
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	o, ok := x.known[key]
	if !ok {
		o = x.rules.Of(f, key.Origin)
		x.known[key] = o
	}
	return o
}

// By returns a function for [trie.Profile.Fold] that maps each frame to one for all code of its
// owner, team, package or file. "resource" is a synonym of file.
func (x *Finder) By(what string) (func(trie.Frame) trie.Frame, error) {
	switch what {
	case "owner":
		return x.ByOwner, nil
	case "team":
		return x.ByTeam, nil
	case "package":
		return x.ByPackage, nil
	case "file", "resource":
		return ByFile, nil
	}
	return nil, fmt.Errorf("by %.40q: known are owner, team, package, file, resource", what)
}

// ByOwner returns the frame for the owner of f, such as "(app)" or "(framework react-dom)".
func (x *Finder) ByOwner(f trie.Frame) trie.Frame { return x.Of(f).Frame() }

// ByTeam returns the frame for the team of f. The app's code without a team is "(no team)", and the
// code of others has the kind of its owner, such as "(framework)".
func (x *Finder) ByTeam(f trie.Frame) trie.Frame {
	switch o := x.Of(f); {
	case o.Team != "":
		return trie.Frame{Name: o.Team}
	case o.Kind == App:
		return trie.Frame{Name: "(no team)"}
	default:
		return trie.Frame{Name: "(" + string(o.Kind) + ")"}
	}
}

// ByPackage returns the frame for the package of f, with its version if known: "lodash@4.17.21".
// Code outside packages is in parentheses: "(app)", "(browser)", "(runtime webpack)" and the rest
// like in [Finder.ByOwner]. A script without a known source and package is "(unmapped HOST)",
// "(node)" or "(wasm)", or "(app)" if it has no host. Frames in parentheses are unchanged.
func (x *Finder) ByPackage(f trie.Frame) trie.Frame {
	o := x.Of(f)
	switch {
	case f.Resource == "" && strings.HasPrefix(f.Name, "("):
		return f
	case o.Kind != Package && o.Kind != Framework:
		return x.withoutPackage(f, o)
	case o.Version != "":
		return trie.Frame{Name: o.Name + "@" + o.Version}
	}
	return trie.Frame{Name: o.Name}
}

// withoutPackage is ByPackage for a frame outside packages. It is more specific than the owner for
// scripts without a source.
func (x *Finder) withoutPackage(f trie.Frame, o Owner) trie.Frame {
	switch {
	case x.origin(f).Source != "" || f.Resource == "":
		return o.Frame()
	case strings.HasPrefix(f.Resource, "node:"):
		return trie.Frame{Name: "(node)"}
	case o.Kind != Unmapped:
		return o.Frame()
	case strings.HasPrefix(f.Resource, "wasm:"), strings.HasPrefix(f.Resource, "wasm "):
		return trie.Frame{Name: "(wasm)"}
	}
	if u, err := url.Parse(f.Resource); err == nil && u.Host != "" && strings.HasPrefix(u.Scheme, "http") {
		return trie.Frame{Name: "(" + string(Unmapped) + " " + u.Host + ")"}
	}
	return Owner{Kind: App}.Frame()
}

// ByFile returns the frame for the source file of f, or for its script if the source is unknown. A
// frame without either is unchanged.
func ByFile(f trie.Frame) trie.Frame {
	if f.Resource == "" {
		return f
	}
	return trie.Frame{Name: f.Resource}
}
