// Package owner finds the owner of a function's code: the app, and a team within it, or a package,
// a framework, a bundler or a third party.
//
// [Rules] determine the owner of one frame. A [Finder] caches the owners of the frames of a
// response, and maps each frame to a frame for all code of its owner, team, package or file.
// [FoldOthers] and [OnlyApp] collapse the code of other owners in a profile without losing time.
//
// For a frame without symbols, only the script decides. Frames named by symbols have an [Origin]
// with more: the source file, and the CODEOWNERS file of the build.
package owner

import (
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Kind is a kind of owner.
type Kind string

const (
	App        Kind = "app"
	Package    Kind = "package"     // a library
	Framework  Kind = "framework"   // a package that calls the app more than the app calls it
	Runtime    Kind = "runtime"     // added to a build by a bundler
	ThirdParty Kind = "third-party" // a script of another host, about which nothing else is stored
	Extension  Kind = "extension"   // browser extension
	Browser    Kind = "browser"     // the browser itself: code without a script, or a script of its own
	Unmapped   Kind = "unmapped"    // a script without a known source
	Unknown    Kind = "unknown"     // hidden code, or code that a pruned profile omits
)

// named has the kinds whose owners have names.
var named = map[Kind]bool{
	App: false, Package: true, Framework: true, Runtime: true, ThirdParty: true,
	Extension: false, Browser: false, Unmapped: false, Unknown: false,
}

// Owner is the owner of code.
type Owner struct {
	Kind Kind `json:"kind"`
	// Name is the name of the package or bundler, or the host of a third party; otherwise "".
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"` // of the package, such as 19.2.0; "" if not known
	// Team is the team of the source from a CODEOWNERS file, or "". Several teams are separated by
	// a space.
	Team string `json:"team,omitempty"`
}

// String returns the kind and the name, such as "app", "framework react-dom" or "third-party
// cdn.example.com". It does not include version and team.
func (o Owner) String() string {
	if o.Name == "" {
		return string(o.Kind)
	}
	return string(o.Kind) + " " + o.Name
}

// Frame returns the frame for all code of o: its text in parentheses, like the names of all
// frames that are not functions. [Rules.Of] recognises it.
func (o Owner) Frame() trie.Frame { return trie.Frame{Name: "(" + o.String() + ")"} }

// Is reports whether o matches a text: a kind, such as "framework", or one owner, such as
// "framework react-dom".
func (o Owner) Is(text string) bool { return text == string(o.Kind) || text == o.String() }

// OfTeam reports whether team is one of the teams of the source.
func (o Owner) OfTeam(team string) bool {
	return team != "" && (team == o.Team || slices.Contains(strings.Fields(o.Team), team))
}

// Script returns the owner of the profiling script, [trie.FrameFieldtrie].
func Script() Owner { return Owner{Kind: Package, Name: "fieldtrie"} }

// standsFor returns the owner whose frame has this name, see [Owner.Frame].
func standsFor(name string) (Owner, bool) {
	if name == trie.FrameFieldtrie {
		return Script(), true
	}
	text, opens := strings.CutPrefix(name, "(")
	text, closes := strings.CutSuffix(text, ")")
	if !opens || !closes {
		return Owner{}, false
	}
	kind, of, _ := strings.Cut(text, " ")
	hasName, known := named[Kind(kind)]
	return Owner{Kind: Kind(kind), Name: of}, known && (of == "" || hasName)
}

// marker reports whether a frame is not a function, but represents work of the browser or omitted
// code. Such a frame is more specific than its owner.
func marker(f trie.Frame) bool {
	switch f.Name {
	case trie.FrameGC, trie.FrameStyle, trie.FrameLayout, trie.FramePaint, trie.FrameIdle, trie.FrameProgram,
		trie.FrameOther:
		return f.Resource == ""
	}
	return false
}
