package naming

import (
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
)

// ofRelease identifies a script that was uploaded for a release.
type ofRelease struct{ path, prefix string }

// Release returns the tables of all scripts that were uploaded for a release, and the scripts
// without a table. If a script was uploaded several times, the newest upload counts.
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

// SourceOrigin returns the origin of a source file of a release, or of the newest upload if release
// is "". It returns the zero Origin for unknown files.
func (s *Symbolizer) SourceOrigin(release, name string) owner.Origin {
	for ; s != nil; s = s.next {
		if o, ok := s.sourcesOf(release)[name]; ok {
			return o
		}
	}
	return owner.Origin{}
}

// sourcesOf returns the source files of a release, by name.
func (s *indexed) sourcesOf(release string) map[string]owner.Origin {
	x, _ := s.current()
	if known, ok := x.sources.Load(release); ok {
		return known.(map[string]owner.Origin)
	}
	of := map[string]owner.Origin{}
	for _, c := range x.all {
		if release == "" && c.rank > 0 || release != "" && !slices.Contains(c.releases, release) {
			continue
		}
		t, err := s.library.Table(c.SHA256)
		if err != nil {
			continue // [Symbolizer.Release] reports it
		}
		for _, f := range t.Sources {
			if _, ok := of[f.Name]; !ok {
				of[f.Name] = owner.Origin{Source: f.Name, Version: f.Version, Ignored: f.Ignored, Teams: c.owners}
			}
		}
	}
	x.sources.Store(release, of)
	return of
}

// FirstUploads returns the time of the first upload of each release.
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

// Tables returns the tables that provided names, each once.
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

// Unnamed returns the resources of a release without symbols.
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

// Link returns the URL of a place in the sources of a release, see [Links.Of].
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
