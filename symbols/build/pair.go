package build

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// Advice shared by several problems.
const (
	adviceBuild  = "configure the build to write source maps"
	adviceUpload = "upload before maps are deleted, or keep them"
	adviceClean  = "empty the folder before the build"
)

// pairing pairs the scripts of a build with maps, rule by rule.
type pairing struct {
	*Build
	// lost has, by index of a script without a map, the fault of the map in its comment.
	lost map[int]Problem
}

// add adds a script, and its map if that is inline, named by its comment, or next to it.
func (p *pairing) add(name string) {
	text, err := read(p.fsys, name, p.options.Limits.ScriptBytes)
	switch {
	case errors.Is(err, errTooLarge):
		p.tell(name, TooLarge, "split the script, as browsers take long to parse it too", "the script is %v", err)
		return
	case err != nil:
		p.tell(name, FileUnreadable, "make it readable or remove it from the folder", "%v", err)
		return
	case isPage(text):
		p.tell(name, NotScript, "check why the build contains it; browsers cannot run it",
			"an HTML page with the name of a script")
		return
	}
	says := readComments(text)
	s := Script{Path: name, Size: int64(len(text)), SHA256: sha256.Sum256(text), DebugID: says.debugID}
	r := reference{}
	if says.mapURL != "" {
		r = refer(name, says.mapURL)
	}
	switch {
	case r.inline:
		s.Way = Inline
	case r.path != "" && p.isFile(r.path):
		s.Way, s.MapPath = ByComment, r.path
	case r.beside != "" && p.isFile(r.beside):
		s.Way, s.MapPath = ByComment, r.beside
	case p.isFile(name + mapSuffix):
		s.Way, s.MapPath = Beside, name+mapSuffix
	}
	i := len(p.Scripts)
	p.Scripts = append(p.Scripts, s)
	if s.Way == NoMap && says.mapURL != "" {
		p.doubt(i, r, says.mapURL)
	}
}

// doubt records a fault in the comment of a script. It matters if no other rule finds a map.
func (p *pairing) doubt(i int, r reference, mapURL string) {
	if r.outside != "" {
		p.lose(i, MapOutside, "put the map next to the script, or pass the folder that contains both",
			"its sourceMappingURL %q is %s, which is not read", shorten(mapURL), r.outside)
		return
	}
	p.lose(i, MapMissing, adviceUpload, "its sourceMappingURL %q does not exist", shorten(mapURL))
}

// lose records why a script has no map.
func (p *pairing) lose(i int, kind Kind, advice, format string, args ...any) {
	p.lost[i] = Problem{p.Scripts[i].Path, kind, fmt.Sprintf(format, args...), advice}
}

// shorten truncates external text to fit on a line.
func shorten(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func (p *pairing) isFile(name string) bool {
	info, err := fs.Stat(p.fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// share resolves maps that several scripts claim: the script whose name the map contains keeps it,
// and the others lose it.
func (p *pairing) share() {
	owners := map[string][]int{}
	for i, s := range p.Scripts {
		if s.MapPath != "" {
			owners[s.MapPath] = append(owners[s.MapPath], i)
		}
	}
	for mapPath, shared := range owners {
		first, last := p.Scripts[shared[0]], p.Scripts[shared[len(shared)-1]]
		if !slices.ContainsFunc(shared, func(i int) bool { return p.Scripts[i].SHA256 != first.SHA256 }) {
			continue // copies of one script
		}
		named := slices.IndexFunc(shared, func(i int) bool { return p.Scripts[i].Path+mapSuffix == mapPath })
		for _, i := range shared {
			s := &p.Scripts[i]
			other := first
			if named >= 0 {
				other = p.Scripts[shared[named]]
				if s.SHA256 == other.SHA256 {
					continue
				}
			} else if i == shared[0] {
				other = last
			}
			s.Way, s.MapPath = NoMap, ""
			p.lose(i, MapShared, adviceClean, "its map %s also belongs to %s", mapPath, other.Path)
		}
	}
}

// claim is an identity in an unused map.
type claim struct {
	path string
	sourcemap.Header
}

// byClaim indexes claims by one of their values.
type byClaim map[string][]claim

func (b byClaim) add(key string, c claim) { b[key] = append(b[key], c) }

// search assigns unused maps that claim a script to scripts without a map.
func (p *pairing) search(maps []string) {
	if !slices.ContainsFunc(p.Scripts, func(s Script) bool { return s.Way == NoMap }) {
		return
	}
	byID, byPath, byName := byClaim{}, byClaim{}, byClaim{}
	for _, c := range p.claims(maps) {
		byID.add(c.DebugID, c)
		byPath.add(path.Join(path.Dir(c.path), c.File), c)
		byName.add(path.Base(c.File), c)
	}
	names := map[string]int{} // scripts without a map by the last part of their path
	for _, s := range p.Scripts {
		if s.Way == NoMap {
			names[path.Base(s.Path)]++
		}
	}
	for i := range p.Scripts {
		s := &p.Scripts[i]
		if s.Way != NoMap {
			continue
		}
		name := path.Base(s.Path)
		switch {
		case s.DebugID != "" && len(byID[s.DebugID]) > 0:
			p.accept(i, ByDebugID, "has its debug ID", byID[s.DebugID])
		case len(byPath[s.Path]) > 0:
			p.accept(i, ByFile, "names it", byPath[s.Path])
		case len(byName[name]) > 0 && names[name] == 1:
			p.accept(i, ByFile, "names it", byName[name])
		}
	}
}

// claims reads the headers of unused maps. It skips other files, because a build may contain other
// files that end with .map.
func (p *pairing) claims(maps []string) (claims []claim) {
	owned := map[string]bool{}
	for _, s := range p.Scripts {
		owned[s.MapPath] = true
	}
	for _, name := range maps {
		if owned[name] {
			continue
		}
		text, err := read(p.fsys, name, p.options.Limits.MapBytes)
		if err != nil {
			continue
		}
		if header, err := sourcemap.ReadHeader(text); err == nil {
			claims = append(claims, claim{name, header})
		}
	}
	return claims
}

// accept assigns a map to a script if exactly one map claims it.
func (p *pairing) accept(i int, way Way, does string, claims []claim) {
	if len(claims) > 1 {
		p.lose(i, MapAmbiguous, adviceClean, "both %s and %s may be its map: each %s", claims[0].path,
			claims[1].path, does)
		return
	}
	p.Scripts[i].Way, p.Scripts[i].MapPath = way, claims[0].path
	delete(p.lost, i)
}

// report adds a problem for each script without a map, or whose debug ID differs from its map's.
func (p *pairing) report() {
	firstWithID := map[string]Script{}
	for i, s := range p.Scripts {
		if first, found := firstWithID[s.DebugID]; found && first.SHA256 != s.SHA256 {
			p.tell(s.Path, DebugIDShared, adviceClean, "its debug ID %s is also used by %s", s.DebugID, first.Path)
		} else if !found && s.DebugID != "" {
			firstWithID[s.DebugID] = s
		}
		if s.Way != NoMap {
			continue
		}
		if problem, found := p.lost[i]; found {
			p.Problems = append(p.Problems, problem)
		} else {
			p.tell(s.Path, MapNone, adviceBuild, "it has no source map")
		}
	}
}
