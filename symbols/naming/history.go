package naming

import (
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// History is the known history of a release.
type History struct {
	Commit        string // the commit that was built; "" if unknown
	RepositoryURL string
	Commits       []symbols.Commit // since the previous release, newest first
}

// History returns the commits of a release, from its newest upload with commits.
func (s *Symbolizer) History(release string) History {
	var out History
	for ; s != nil; s = s.next {
		for _, u := range s.library.Uploads() {
			if u.Release == release && (u.Commit != "" || len(u.Commits) > 0) {
				return History{u.Commit, u.RepositoryURL, u.Commits}
			}
		}
	}
	return out
}

// Of returns the commits that edit a source file, newest first. A path in the sources may lack
// folders above the project. A path in the repository may lack folders in which the bundler ran.
func (h *History) Of(source string) (out []symbols.Commit) {
	for _, c := range h.Commits {
		for _, f := range c.Files {
			if endsWith(f, source) || endsWith(source, f) {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

// URL returns the URL of a commit, or "" if unknown.
func (h *History) URL(sha string) string {
	if h.RepositoryURL == "" {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(h.RepositoryURL, "/"), ".git") + "/commit/" + sha
}
