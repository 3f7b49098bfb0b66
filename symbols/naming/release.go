package naming

import (
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// ofRelease is a script that was uploaded for a release.
type ofRelease struct{ path, prefix string }

// Release returns the tables of all scripts that were uploaded for a release, and the scripts of
// which there is none. If a script was uploaded more than once, the newest upload counts.
func (s *Symbolizer) Release(release string) (tables []*symbols.Table, missing []Missing) {
	known, seen := map[ofRelease]bool{}, map[string]bool{}
	for ; s != nil; s = s.next {
		for _, u := range s.library.Uploads() {
			if u.Release != release {
				continue
			}
			newer := map[ofRelease]bool{}
			for _, x := range u.Scripts {
				id := ofRelease{x.Path, x.Prefix}
				if newer[id] = true; known[id] || seen[x.SHA256] {
					continue
				}
				seen[x.SHA256] = true
				t, err := s.library.Table(x.SHA256)
				if err != nil {
					missing = append(missing, Missing{Resource: x.Path, Release: release, Problem: Damaged})
					continue
				}
				tables = append(tables, t)
			}
			for id := range newer {
				known[id] = true
			}
		}
	}
	return tables, missing
}

// FirstUploads returns when symbols of each release were first uploaded.
func (s *Symbolizer) FirstUploads() map[string]time.Time {
	first := map[string]time.Time{}
	for ; s != nil; s = s.next {
		for _, u := range s.library.Uploads() {
			if t, known := first[u.Release]; !known || u.Time.Before(t) {
				first[u.Release] = u.Time
			}
		}
	}
	return first
}

// Tables returns the tables that gave names, each once.
func (n *Names) Tables() (out []*symbols.Table) {
	if n == nil {
		return nil
	}
	seen := map[*symbols.Table]bool{}
	for _, s := range n.order {
		if t := s.chosen.table; t != nil && !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// Unnamed returns the resources of a release that no symbols are of.
func (n *Names) Unnamed() (out []string) {
	if n == nil {
		return nil
	}
	for _, s := range n.order {
		if s.chosen.problem == NoSymbols {
			out = append(out, s.resource)
		}
	}
	return out
}

// Link returns the URL of a place in the sources of a release, as [Links.Of] does.
func (s *Symbolizer) Link(l Links, release, file string, line uint32) string {
	for ; s != nil; s = s.next {
		for _, u := range s.library.Uploads() {
			if u.Release == release {
				return l.url(u.Repository, release, file, line)
			}
		}
	}
	return ""
}
