package owner

import (
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// Origin is the symbols' data about a frame. The zero Origin means that symbols did not name the
// frame; its resource is then the URL of a script.
type Origin struct {
	Source  string      // normalised path of the source file; "" if unknown
	Ignored bool        // in the ignoreList of the source map: third-party code
	Version string      // of the package, see [PackageVersion]; "" if unknown
	Teams   *Codeowners // of the build; nil if it has none
}

// Rules determine the owner of a frame. Get them from [Default] or [Parse]. They are immutable.
type Rules struct {
	ours       names     // packages of the app
	own        pathRules // sources of the app
	frameworks names
	packages   pathRules // sources of a package; the text is its name
	teams      pathRules
}

// Default returns the rules of a build that has none of its own: they know only frameworks.
func Default() *Rules {
	r := new(Rules)
	for _, name := range frameworks {
		_ = r.frameworks.add(name) // the list is valid, which a test checks
	}
	return r
}

// Of returns the owner of f. The first match counts:
//
//   - For a frame with a source: the packages of the rules, by path; the sources of the app of the
//     rules; the runtimes of bundlers; the package of its folder, which is the app's, a framework
//     or any package; the ignoreList, whose sources are packages named by the path of their
//     folder; the app.
//   - For a script without a source: browser extensions and browser internals; the package of its
//     folder, or in the URL of a CDN; [Unmapped].
//   - Without a script: the frames of owners, see [Owner.Frame]; (other) is [Unknown]; the
//     browser.
//
// The rules assign teams to all sources except runtimes. Where they assign none, CODEOWNERS does,
// except in node_modules, which is not in the repository.
func (r *Rules) Of(f trie.Frame, from Origin) Owner {
	switch {
	case from.Source != "":
		return r.ofSource(from)
	case f.Resource != "":
		return r.ofScript(f.Resource)
	case f.Name == trie.FrameOther:
		return Owner{Kind: Unknown}
	}
	if o, ok := standsFor(f.Name); ok {
		return o
	}
	return Owner{Kind: Browser}
}

func (r *Rules) ofSource(from Origin) Owner {
	o := r.kindOf(from)
	if o.Kind == Runtime {
		return o
	}
	team, said := r.teams.of(from.Source)
	if !said && packageOf(from.Source) == "" {
		team = from.Teams.Team(from.Source)
	}
	o.Team = team
	return o
}

// kindOf returns the owner of a source, without its team.
func (r *Rules) kindOf(from Origin) Owner {
	source := from.Source
	if name, ok := r.packages.of(source); ok {
		return r.ofPackage(name, "")
	}
	if _, ok := r.own.of(source); ok {
		return Owner{Kind: App}
	}
	pkg := packageOf(source)
	if bundler := bundlerOf(source, pkg); bundler != "" {
		return Owner{Kind: Runtime, Name: bundler}
	}
	switch {
	case pkg != "":
		return r.ofPackage(pkg, from.Version)
	case from.Ignored:
		return Owner{Kind: Package, Name: ignoredName(source)}
	}
	return Owner{Kind: App}
}

func (r *Rules) ofPackage(name, version string) Owner {
	switch {
	case r.ours.has(name):
		return Owner{Kind: App}
	case r.frameworks.has(name):
		return Owner{Kind: Framework, Name: name, Version: version}
	}
	return Owner{Kind: Package, Name: name, Version: version}
}

func (r *Rules) ofScript(resource string) Owner {
	scheme, _, _ := strings.Cut(strings.TrimPrefix(resource, "blob:"), ":")
	scheme = strings.ToLower(scheme)
	switch {
	case strings.HasSuffix(scheme, "-extension"):
		return Owner{Kind: Extension}
	case scheme == "chrome", scheme == "resource", scheme == "devtools", scheme == "node":
		return Owner{Kind: Browser}
	}
	name, version := scripturl.Package(resource), PackageVersion(resource)
	if name == "" {
		name, _ = cdnPackage(resource)
	}
	if name != "" {
		return r.ofPackage(name, version)
	}
	return Owner{Kind: Unmapped}
}
