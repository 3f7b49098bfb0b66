package naming

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Links is a template for URLs of sources, with {repo}, {release}, {file} and {line}. The zero
// value makes no links.
type Links struct{ template string }

// ParseLinks reads a template, such as
// https://git.example.com/{repo}/blob/{release}/{file}#L{line}.
func ParseLinks(template string) (Links, error) {
	u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(template))
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return Links{}, errors.New("not a URL that begins with https:// or http://")
	case !strings.Contains(template, "{file}"):
		return Links{}, errors.New("{file} is missing; other placeholders are {repo}, {release} and {line}")
	}
	return Links{template}, nil
}

// Of returns the URL of the source of a frame returned by [Names.Of]. It returns "" if the source
// is unknown or outside the repository, for example in a package.
func (l Links) Of(n *Names, named trie.Frame) string {
	if l.template == "" {
		return ""
	}
	o, ok := n.Origin(named)
	if !ok || o.Function == nil {
		return ""
	}
	return l.url(o.Repository, o.Release, o.Source.Name, o.Function.SourceLine)
}

// url returns the URL of a place in the sources, or "" if it is unknown or outside the repository.
func (l Links) url(repository, release, file string, line uint32) string {
	if l.template == "" || file == "" || strings.Contains(file, "node_modules/") || strings.Contains(file, ":") {
		return ""
	}
	return strings.NewReplacer(
		"{repo}", escapePath(repository), "{release}", url.PathEscape(release),
		"{file}", escapePath(file), "{line}", strconv.FormatUint(uint64(line), 10),
	).Replace(l.template)
}

// escapePath escapes the parts of a path, but not the slashes.
func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
