package wasm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Modules are the modules that may have the frames of a recording.
type Modules []*Module

// Rename returns f with the name of its function in its module. It returns other frames than
// WebAssembly unchanged. It can be passed to [trie.Trace.Coalesce] and [trie.Profile.Coalesce].
//
// A frame wasm-function[N] belongs to the module whose hash is in its URL, as V8 writes it:
// wasm://wasm/HASH or wasm://wasm/NAME-HASH. A stripped copy of a module is recognised, too, if it
// is larger than 16 kB. Otherwise the frame belongs to the only module with the name in the URL,
// either its own name or its file name. If there is only one module, all frames belong to it. Names
// known to the browser are demangled.
func (m Modules) Rename(f trie.Frame) trie.Frame {
	number, numbered := functionNumber(f.Name)
	if !numbered && !strings.HasPrefix(f.Resource, "wasm") {
		return f
	}
	module := m.find(f.Resource)
	switch {
	case module == nil && !numbered:
		f.Name = demangled(f.Name)
	case module == nil:
	case !numbered:
		f.Name = module.readable(f.Name)
	default:
		if name := module.Function(number); name != "" {
			f.Name = name
		}
	}
	return f
}

// functionNumber returns N of a name wasm-function[N]. JavaScriptCore puts text about the
// module and a dot before it.
func functionNumber(name string) (uint32, bool) {
	const begin, end = "wasm-function[", "]"
	i := strings.LastIndex(name, begin)
	if i < 0 || i > 0 && name[i-1] != '.' || !strings.HasSuffix(name, end) {
		return 0, false
	}
	n, err := strconv.ParseUint(name[i+len(begin):len(name)-len(end)], 10, 32)
	return uint32(n), err == nil
}

// find returns the module of a resource, or nil.
func (m Modules) find(resource string) *Module {
	name, hash, hashed := cutURL(resource)
	if hashed {
		for _, x := range m {
			if slices.Contains(x.hashes, hash) {
				return x
			}
		}
	}
	var found *Module
	for _, x := range m {
		if name == "" || name != x.own && name != stem(x.Name) {
			continue
		}
		if found != nil {
			return nil // ambiguous
		}
		found = x
	}
	if found == nil && len(m) == 1 {
		return m[0]
	}
	return found
}

// cutURL returns the name of the module in a URL and its hash, if V8 wrote one.
func cutURL(url string) (name string, hash uint32, hashed bool) {
	const prefix, digits = "wasm://wasm/", 8
	rest, ok := strings.CutPrefix(url, prefix)
	if !ok {
		url, _, _ = strings.Cut(url, "?")
		url, _, _ = strings.Cut(url, "#")
		return stem(url), 0, false
	}
	name, text := "", rest
	if i := len(rest) - digits - 1; i >= 0 && rest[i] == '-' {
		name, text = rest[:i], rest[i+1:]
	}
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil || len(text) != digits {
		return rest, 0, false
	}
	return name, uint32(n), true
}

// stem returns the last element of a path without its extensions.
func stem(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	name, _, _ := strings.Cut(file[strings.LastIndexByte(file, '/')+1:], ".wasm")
	return strings.TrimSpace(name)
}

// V8 hashes the bytes of a module like a string, and the URL contains the hash as in the header of
// a string: two bits are its type.
const (
	hashShift = 2
	isHash    = 2
	// maxHashed is the number of bytes that V8 hashes. The hash of a longer string is its length.
	maxHashed = 16383
)

// urlHashes returns the hashes that V8 may use for a module: the hash of data and, if data is
// large, of stripped forms with these sizes. The hash of a small module is as in V8 of Node.js 20;
// V8 in Chromium 156 hashes small modules differently, but large ones alike.
func urlHashes(data []byte, stripped ...int) []uint32 {
	if len(data) <= maxHashed {
		return []uint32{oneAtATime(data)<<hashShift | isHash}
	}
	hashes := []uint32{uint32(len(data))<<hashShift | isHash}
	for _, n := range stripped {
		if n > maxHashed {
			hashes = append(hashes, uint32(n)<<hashShift|isHash)
		}
	}
	return hashes
}

// oneAtATime is the hash function of that name by Bob Jenkins.
func oneAtATime(data []byte) uint32 {
	var h uint32
	for _, c := range data {
		h += uint32(c)
		h += h << 10
		h ^= h >> 6
	}
	h += h << 3
	h ^= h >> 11
	return h + h<<15
}
