package wasm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Modules are those that frames of a recording may belong to.
type Modules []*Module

// Rename returns f under the name that its function has in the module that it belongs to.
// Frames that are not of WebAssembly are returned as they are. It suits
// [trie.Trace.Coalesce] and [trie.Profile.Coalesce].
//
// A frame wasm-function[N] belongs to the module whose hash is in its URL, as V8 writes
// it: wasm://wasm/HASH or wasm://wasm/NAME-HASH. A module that was stripped later is
// known too, if it is larger than 16 kB. Otherwise it belongs to the one module with the
// name in the URL: its own, or that of its file. If there is but one module, all frames
// belong to it. The names that a browser knows are made readable.
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

// functionNumber returns N of a name wasm-function[N]. JavaScriptCore writes something
// about the module before it, and a dot.
func functionNumber(name string) (uint32, bool) {
	const begin, end = "wasm-function[", "]"
	i := strings.LastIndex(name, begin)
	if i < 0 || i > 0 && name[i-1] != '.' || !strings.HasSuffix(name, end) {
		return 0, false
	}
	n, err := strconv.ParseUint(name[i+len(begin):len(name)-len(end)], 10, 32)
	return uint32(n), err == nil
}

// find returns the module that a resource is, or nil.
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
			return nil // two have that name
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

// V8 hashes the bytes of a module as if they were a string, and the URL has the hash as
// it stands in the header of a string: two bits say what it is.
const (
	hashShift = 2
	isHash    = 2
	// maxHashed is how many bytes V8 hashes. The hash of a longer string is its length.
	maxHashed = 16383
)

// urlHashes returns the hashes that V8 may know a module by: that of data, and if it is
// large, those of stripped forms of it with these sizes. That of a small module is as V8
// in Node.js 20 has it. V8 in Chromium 156 hashes them in another way; large ones in the
// same.
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
