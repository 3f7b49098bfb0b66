package owner

import (
	"strings"

	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// frameworks are the packages that call the app: their time depends on what the app asks them to
// render. Libraries for them, such as routers and stores, are ordinary packages.
var frameworks = []string{
	"react", "react-dom", "react-reconciler", "react-server-dom-*", "scheduler", "preact", "@preact/*", "inferno",
	"next", "@next/*", "gatsby", "@remix-run/react", "astro",
	"vue", "@vue/*", "nuxt", "@nuxt/*",
	"svelte", "@sveltejs/*",
	"@angular/*", "zone.js", "angular",
	"solid-js", "@solidjs/*",
	"@builder.io/qwik", "@builder.io/qwik-city", "@qwik.dev/*",
	"lit", "lit-html", "lit-element", "@lit/*", "@polymer/*", "@stencil/core",
	"ember-source", "@ember/*", "@glimmer/*",
	"alpinejs", "@alpinejs/*", "htmx.org", "stimulus", "@hotwired/*",
	"jquery", "backbone", "knockout", "mithril",
}

// names are patterns of package names. In them, * is any text.
type names struct {
	plain map[string]bool
	globs []glob
}

func (n *names) add(pattern string) error {
	g, err := newGlob(pattern)
	switch {
	case err != nil:
		return err
	case g.between != nil:
		n.globs = append(n.globs, g)
	case n.plain == nil:
		n.plain = map[string]bool{g.first: true}
	default:
		n.plain[g.first] = true
	}
	return nil
}

func (n *names) has(name string) bool {
	if n.plain[name] {
		return true
	}
	for i := range n.globs {
		if n.globs[i].fits(name) {
			return true
		}
	}
	return false
}

// modulesFolder is the prefix of the path of an installed source, which is not in the repository.
const modulesFolder = "node_modules/"

// packageOf returns the package of a source, or "". Files that tools put into node_modules
// belong to a package with the name of the folder, such as .prisma.
func packageOf(source string) string {
	if name := scripturl.Package(source); name != "" {
		return name
	}
	rest, ok := strings.CutPrefix(source, modulesFolder)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// ignoredName returns a name for code that a build marks as third-party and that is in no package:
// its path up to the folder, or file, in a folder for third-party code, otherwise the top-level
// folder.
func ignoredName(source string) string {
	end := strings.IndexByte(source, '/')
	for from := 0; ; {
		i := strings.IndexByte(source[from:], '/')
		if i < 0 {
			break
		}
		switch folder := strings.ToLower(source[from : from+i]); folder {
		case "vendor", "vendors", "vendored", "third_party", "third-party", "thirdparty", "external", "externals",
			"lib", "libs":
			end = strings.IndexByte(source[from+i+1:], '/')
			if end >= 0 {
				end += from + i + 1
			}
		}
		from += i + 1
	}
	if end < 0 {
		return source
	}
	return source[:end]
}

// bundlerOf returns the bundler that added a source to the build, or "".
func bundlerOf(source, pkg string) string {
	if i := strings.IndexByte(source, 0); i >= 0 { // a virtual module of a Rollup plugin
		for _, bundler := range []string{"vite", "rolldown"} {
			if strings.HasPrefix(source[i+1:], bundler) {
				return bundler
			}
		}
		return "rollup"
	}
	switch first, rest, _ := strings.Cut(source, "/"); {
	case pkg == "webpack" || strings.HasPrefix(pkg, "@rspack/"), first == "(webpack)":
		return "webpack"
	case strings.HasPrefix(pkg, "@parcel/"):
		return "parcel"
	case pkg == "vite":
		return "vite"
	case first == "webpack" && webpackModule(rest), strings.HasPrefix(source, "external "):
		return "webpack"
	case first == "[turbopack]", first == "[externals]":
		return "turbopack"
	case first == "[next]":
		return "next"
	case strings.HasPrefix(source, "rolldown:"), first == "rolldown" && strings.HasPrefix(rest, "runtime"):
		return "rolldown"
	case first == "vite" && (strings.HasPrefix(rest, "preload-helper") ||
		strings.HasPrefix(rest, "modulepreload-polyfill")):
		return "vite"
	case strings.HasSuffix(source, "<anon>"):
		return "parcel"
	case source == "<runtime>":
		return "esbuild"
	}
	return ""
}

// webpackModule reports whether a path in webpack/ is a virtual module of webpack, not a folder of
// the app with that name.
func webpackModule(path string) bool {
	for _, made := range []string{"bootstrap", "runtime/", "container/", "container_", "sharing/", "startup",
		"before-startup", "after-startup", "universalModuleDefinition"} {
		if strings.HasPrefix(path, made) {
			return true
		}
	}
	return false
}
