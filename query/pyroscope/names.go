package pyroscope

import (
	"cmp"
	"net/url"
	"path"
	"strconv"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// namesOf returns a name for each frame of a trie. The names are unique: frames with the
// same short name get the full URL.
func namesOf(t *trie.Trie) []string {
	names := make([]string, len(t.Frames))
	count := map[string]int{}
	for i := range names {
		f := t.FrameOf(trie.FrameID(i))
		names[i] = nameOf(f, shortResource(f.Resource))
		count[names[i]]++
	}
	for i, name := range names {
		if count[name] > 1 {
			f := t.FrameOf(trie.FrameID(i))
			names[i] = nameOf(f, f.Resource)
		}
	}
	return names
}

// nameOf returns the name of a frame, with resource as the URL of its script.
func nameOf(f trie.Frame, resource string) string {
	name := cmp.Or(f.Name, output.Anonymous)
	if resource == "" {
		return name
	}
	name += " " + resource
	if f.Line > 0 {
		name += ":" + strconv.FormatUint(uint64(f.Line), 10)
		if f.Column > 0 {
			name += ":" + strconv.FormatUint(uint64(f.Column), 10)
		}
	}
	return name
}

// shortResource returns the last part of a URL's path, or the host if the path has no
// parts, as for an inline script of the home page.
func shortResource(resource string) string {
	u, err := url.Parse(resource)
	if err != nil || u.Opaque != "" || u.Path == "" && u.Host == "" {
		return resource
	}
	if base := path.Base(u.Path); base != "/" && base != "." {
		return base
	}
	return u.Host + "/"
}
