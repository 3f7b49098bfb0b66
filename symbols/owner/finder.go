package owner

import (
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Finder finds the owners of the frames of a response. It decides once for each file. It is safe
// for concurrent use if origin is.
type Finder struct {
	rules  *Rules
	origin func(trie.Frame) Origin
	mu     sync.Mutex
	known  map[evidence]Owner
}

// evidence is everything that an owner depends on.
type evidence struct {
	trie.Frame // without its place, and with a name only if it has no resource
	Origin
}

// NewFinder returns a Finder. origin returns the symbols' data about a frame; nil is for frames
// without symbols.
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
// The app's own code is "(app)", and code added by a bundler is "(runtime webpack)". A frame
// without a known source goes by its script: the package that its folder belongs to, or "(unmapped
// HOST)", "(extension)", "(node)", "(wasm)" or "(own code)". A function of the browser without a
// script is "(browser)"; frames in parentheses stay.
func (x *Finder) ByPackage(f trie.Frame) trie.Frame {
	if x.origin(f).Source == "" {
		return x.byScript(f)
	}
	o := x.Of(f)
	switch {
	case o.Kind != Package && o.Kind != Framework:
		return o.Frame()
	case o.Version != "":
		return trie.Frame{Name: o.Name + "@" + o.Version}
	}
	return trie.Frame{Name: o.Name}
}

// byScript is ByPackage for a frame with nothing known but the URL of its script.
func (x *Finder) byScript(f trie.Frame) trie.Frame {
	if f.Resource == "" {
		if strings.HasPrefix(f.Name, "(") {
			return f
		}
		return trie.Frame{Name: "(" + string(Browser) + ")"}
	}
	if name := trie.PackageOf(f.Resource); name != "" {
		return trie.Frame{Name: name}
	}
	switch {
	case strings.HasPrefix(f.Resource, "node:"):
		return trie.Frame{Name: "(node)"}
	case strings.HasPrefix(f.Resource, "wasm:"), strings.HasPrefix(f.Resource, "wasm "):
		return trie.Frame{Name: "(wasm)"}
	}
	if u, err := url.Parse(f.Resource); err == nil && u.Host != "" && strings.HasPrefix(u.Scheme, "http") {
		return trie.Frame{Name: "(" + string(Unmapped) + " " + u.Host + ")"}
	}
	if x.Of(f).Kind == Extension {
		return trie.Frame{Name: "(" + string(Extension) + ")"}
	}
	return trie.Frame{Name: "(own code)"}
}

// ByFile returns the frame for the source file of f, or for its script if no source is known. A
// frame without either stays.
func ByFile(f trie.Frame) trie.Frame {
	if f.Resource == "" {
		return f
	}
	return trie.Frame{Name: f.Resource}
}
