package owner

import (
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Origin is what symbols say of a frame. The zero Origin is that of a frame which they did not
// name; its resource is the URL of a script.
type Origin struct {
	Source  string      // path of the source file, normalised; "" if it is not known
	Ignored bool        // in the ignoreList of the source map: its authors do not call it theirs
	Version string      // of the package of the source, see [PackageVersion]; "" if not known
	Teams   *Codeowners // of the repository of the build; nil if there is none
}

// Rules decide whose code a frame is. Get them from [Default] or [Parse]. They do not change.
type Rules struct {
	ours       names     // packages of the app
	own        pathRules // sources of the app
	frameworks names
	packages   pathRules // sources of a package, whose name is the text
	teams      pathRules
}

// Default returns the rules that hold where no file has others.
func Default() *Rules {
	r := new(Rules)
	for _, name := range frameworks {
		_ = r.frameworks.add(name) // the list is right, which a test says
	}
	return r
}

// Of returns whose code f is. The first of these that fits counts:
//
//   - For a frame with a source: the packages of the rules, by path; the sources of the app of
//     the rules; the runtimes of bundlers; the package in whose folder it is, which is the app's,
//     a framework or any package; the ignoreList, whose sources are packages that have the path of
//     their folder for a name; the app.
//   - For a script without one: extensions and what belongs to browsers; the package in whose
//     folder it is, or that the URL of a CDN names; [Unmapped].
//   - For what has no script: the frames that stand for an owner, see [Owner.Frame]; (other) is
//     [Unknown]; the browser.
//
// The teams of the rules are those of all sources but runtimes. Where they say nothing of one,
// CODEOWNERS does, but not of what is in node_modules, which is not in the repository.
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
	name, version := trie.PackageOf(resource), PackageVersion(resource)
	if name == "" {
		name, _ = cdnPackage(resource)
	}
	if name != "" {
		return r.ofPackage(name, version)
	}
	return Owner{Kind: Unmapped}
}
