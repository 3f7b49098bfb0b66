package query

import (
	"net/url"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// ByResource returns the frame that stands for all of the script that f is of. A frame
// without a script stays.
func ByResource(f trie.Frame) trie.Frame {
	if f.Resource == "" {
		return f
	}
	return trie.Frame{Name: f.Resource}
}

// ByPackage returns the frame that stands for the npm package of f, or, if it is of none,
// for the site that the script is from, for Node.js, for WebAssembly, or for the program's
// own code. A frame without a script stays.
func ByPackage(f trie.Frame) trie.Frame {
	if f.Resource == "" {
		return f
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
		return trie.Frame{Name: u.Host}
	}
	return trie.Frame{Name: "(own code)"}
}
