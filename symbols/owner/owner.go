// Package owner says whose code a function is: the app's, and there which team's, or that of a
// package, a framework, a bundler, another company.
//
// [Rules] decide for one frame. A [Finder] remembers what they said for the frames of an answer,
// and makes of each frame what stands for all code of its owner, team, package or file.
// [FoldOthers] and [OnlyApp] make the code of others small in a profile, and lose no time of it.
//
// Where a frame has no readable name, its script is all there is to tell by. Where symbols named
// it, its [Origin] tells more: the source file, and the CODEOWNERS file of the build.
package owner

import (
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Kind is a kind of owner.
type Kind string

// The kinds.
const (
	App        Kind = "app"
	Package    Kind = "package"     // a library
	Framework  Kind = "framework"   // a package that calls the app more than the app calls it
	Runtime    Kind = "runtime"     // what a bundler adds to a build
	ThirdParty Kind = "third-party" // a script of another host, of which nothing more is stored
	Extension  Kind = "extension"   // of the browser
	Browser    Kind = "browser"     // the browser itself: code without a script, or a script of its own
	Unmapped   Kind = "unmapped"    // a script of which no source is known
	Unknown    Kind = "unknown"     // nobody can say: hidden code, or what a smaller profile left out
)

// named says which kinds have owners with names.
var named = map[Kind]bool{
	App: false, Package: true, Framework: true, Runtime: true, ThirdParty: true,
	Extension: false, Browser: false, Unmapped: false, Unknown: false,
}

// Owner is whose code something is.
type Owner struct {
	Kind Kind `json:"kind"`
	// Name is that of the package, of the bundler, or the host of a third party; else "".
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"` // of the package, such as 19.2.0; "" if not known
	// Team is who looks after the source, as a CODEOWNERS file has it; "" for nobody. Several
	// teams of one source are one text, with a space between them.
	Team string `json:"team,omitempty"`
}

// String returns the kind and the name, such as "app", "framework react-dom" or
// "third-party cdn.example.com". It does not tell versions and teams apart.
func (o Owner) String() string {
	if o.Name == "" {
		return string(o.Kind)
	}
	return string(o.Kind) + " " + o.Name
}

// Frame returns the frame that stands for all code of o: its text in parentheses, as all frames
// that stand for no function of their own are called. [Rules.Of] knows it again.
func (o Owner) Frame() trie.Frame { return trie.Frame{Name: "(" + o.String() + ")"} }

// Is reports whether o is what a text says: a kind, such as "framework", or one owner, such as
// "framework react-dom".
func (o Owner) Is(text string) bool { return text == string(o.Kind) || text == o.String() }

// OfTeam reports whether team is one of those that look after the source.
func (o Owner) OfTeam(team string) bool {
	return team != "" && (team == o.Team || slices.Contains(strings.Fields(o.Team), team))
}

// standsFor returns the owner whose frame has a name, see [Owner.Frame].
func standsFor(name string) (Owner, bool) {
	if name == trie.FrameFieldtrie {
		return Owner{Kind: Package, Name: "fieldtrie"}, true
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

// marker reports whether a frame says what the browser did, or that something was left out, and
// is no function. Such a frame says more than the name of its owner.
func marker(f trie.Frame) bool {
	switch f.Name {
	case trie.FrameGC, trie.FrameStyle, trie.FrameLayout, trie.FramePaint, trie.FrameIdle, trie.FrameProgram, trie.FrameOther:
		return f.Resource == ""
	}
	return false
}
