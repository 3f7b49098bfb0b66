package naming

import (
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// History is what is known of the commits of a release.
type History struct {
	Commit        string // that was built; "" if unknown
	RepositoryURL string
	Commits       []symbols.Commit // since the release before, the newest first
}

// History returns the commits of a release: those of its newest upload that has any.
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

// Of returns the commits that edit a source file, the newest first. A path in the sources may lack the folders above the project, and
// one in the repository those within which the bundler ran.
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

// URL returns the address of a commit, "" if nobody knows it.
func (h *History) URL(sha string) string {
	if h.RepositoryURL == "" {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(h.RepositoryURL, "/"), ".git") + "/commit/" + sha
}
