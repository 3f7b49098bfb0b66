package naming

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie/scripturl"
)

// index finds the scripts that a URL may belong to.
type index struct {
	generation string
	byBase     map[string][]*candidate // by the last segment of the path
	byDebugID  map[string][]*candidate
	ambiguous  bool         // two builds have scripts that match the same URL
	all        []*candidate // newest first
	sources    sync.Map     // by release: map[string]owner.Origin, see sourcesOf
}

// candidate is a script of one or more uploads. Its fields are from the newest upload.
type candidate struct {
	symbols.Script
	releases   []string          // of all uploads with the script, newest first
	repository string            // of the newest upload
	owners     *owner.Codeowners // of the newest upload; nil if it has none
	rank       int               // of the newest upload; 0 is the newest
}

func newIndex(generation string, uploads []symbols.Upload) *index {
	x := &index{generation: generation, byBase: map[string][]*candidate{}, byDebugID: map[string][]*candidate{}}
	known := map[symbols.Script]*candidate{}
	teams := map[string]*owner.Codeowners{} // most builds share the file of the previous build
	for rank := range uploads {
		u := &uploads[rank]
		if _, ok := teams[u.Owners]; !ok && u.Owners != "" {
			teams[u.Owners], _, _ = owner.ParseCodeowners(u.Owners) // the upload reported errors
		}
		for _, s := range u.Scripts {
			if c := known[s]; c != nil {
				if !slices.Contains(c.releases, u.Release) {
					c.releases = append(c.releases, u.Release)
				}
				continue
			}
			c := &candidate{Script: s, releases: []string{u.Release}, repository: u.Repository, owners: teams[u.Owners],
				rank: rank}
			known[s] = c
			x.all = append(x.all, c)
			base := baseName(s.Path)
			for _, other := range x.byBase[base] {
				x.ambiguous = x.ambiguous || other.SHA256 != s.SHA256
			}
			x.byBase[base] = append(x.byBase[base], c)
			if s.DebugID != "" {
				x.byDebugID[s.DebugID] = append(x.byDebugID[s.DebugID], c)
			}
		}
	}
	return x
}

// candidates returns the scripts that a resource of a release may be: scripts with its debug ID, or
// else scripts whose path it ends with. If there are several, scripts of the release have
// precedence. The newest comes first, and each table appears once.
func (x *index) candidates(resource, release string) []*candidate {
	url, id := scripturl.CutDebugID(resource)
	found := x.byDebugID[id]
	if id == "" || len(found) == 0 {
		found = x.byPath(url)
	}
	if distinct(found) > 1 {
		ofRelease := slices.DeleteFunc(slices.Clone(found), func(c *candidate) bool {
			return !slices.Contains(c.releases, release)
		})
		if len(ofRelease) > 0 {
			found = ofRelease
		}
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b *candidate) int { return cmp.Compare(a.rank, b.rank) })
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(c *candidate) bool {
		again := seen[c.SHA256]
		seen[c.SHA256] = true
		return again
	})
}

// byPath returns the scripts that share the longest path suffix with a URL.
func (x *index) byPath(url string) []*candidate {
	path := pathOf(url)
	var best []*candidate
	most := 0
	for _, c := range x.byBase[baseName(path)] {
		n := 0
		switch {
		case c.Prefix != "":
			if strings.TrimSuffix(c.Prefix, "/")+"/"+strings.TrimPrefix(c.Path, "/") == url {
				n = len(c.Path) + len(c.Prefix)
			}
		case endsWith(path, c.Path), endsWith(c.Path, path):
			n = min(len(c.Path), len(path))
		case hashed(baseName(path)): // served from elsewhere; the name is unique
			n = 1
		}
		if n > most {
			best, most = nil, n
		}
		if n > 0 && n == most {
			best = append(best, c)
		}
	}
	return best
}

func distinct(all []*candidate) int {
	seen := map[string]bool{}
	for _, c := range all {
		seen[c.SHA256] = true
	}
	return len(seen)
}

// pathOf returns the path of a URL without its leading slash.
func pathOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		_, url, _ = strings.Cut(rest, "/")
	}
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	return strings.TrimLeft(url, "/")
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// endsWith reports whether the last segments of a path equal another path.
func endsWith(path, end string) bool {
	end = strings.TrimPrefix(end, "./")
	return end != "" && (path == end || strings.HasSuffix(path, "/"+end))
}

// hashed reports whether a file name has a content hash, which makes it unique.
func hashed(name string) bool { return unhashed(name) != name }

// unhashed returns a file name without the content hash of bundlers, which differs between
// builds: app-3f9a81bc.js is app.js.
func unhashed(name string) string {
	parts := strings.Split(name, ".")
	out := parts[:1:1]
	if hash(parts[0]) {
		out = []string{"(hash)"}
	}
	for i, part := range parts {
		last := i > 0 && i == len(parts)-1 // the extension
		switch cut := cutHash(part); {
		case i == 0 && out[0] == part:
			out[0] = cut
		case i > 0 && (last || !hash(part)):
			out = append(out, cut)
		}
	}
	return strings.Join(out, ".")
}

// cutHash returns a part of a file name without the hash after a dash or underscore. Hashes in
// base 64 may have these, too.
func cutHash(part string) string {
	for i := 1; i < len(part); i++ {
		if (part[i] == '-' || part[i] == '_') && hash(part[i+1:]) {
			return part[:i]
		}
	}
	return part
}

// hash reports whether a text looks like a hash in hexadecimal, base 32, 36 or 64, as bundlers
// write them: at least eight characters that are not words.
func hash(text string) bool {
	if len(text) < 8 || len(text) > 64 {
		return false
	}
	digits, capitals, lower, hexadecimal := 0, 0, 0, true
	for _, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			capitals++
		case c >= 'a' && c <= 'z':
			lower++
		case c != '-' && c != '_':
			return false
		}
		hexadecimal = hexadecimal && (c >= '0' && c <= '9' || c >= 'a' && c <= 'f')
	}
	switch {
	case digits > 0:
		return hexadecimal || len(text) <= 24 && !strings.ContainsAny(text, "-_") || len(text) == 8 &&
			capitals > 0 && lower > 0
	case capitals == len(text):
		return len(text) == 8
	}
	return len(text) == 8 && capitals > 0 && lower > 0 && !words(text)
}

// words reports whether a text without digits is made of words of three letters and more, each
// with or without a capital first letter.
func words(text string) bool {
	length := 3
	for i, c := range []byte(text) {
		switch {
		case c == '-' || c == '_':
			return false
		case c >= 'A' && c <= 'Z':
			if i > 0 && length < 3 {
				return false
			}
			length = 1
		default:
			length++
		}
	}
	return length >= 3
}
