package build

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// Loaded is a script with its map in memory.
type Loaded struct {
	Script
	Text      []byte
	MapText   []byte         // as stored; nil if missing
	Map       *sourcemap.Map // nil if missing or unreadable
	MapSHA256 [sha256.Size]byte
	Problems  []Problem // with the map, by kind
}

// Load reads a script of b and its map. It reads sources without content in the map from the folder
// of the project, if there is one. An unreadable map is a problem of the script. Load returns an
// error if the script is no longer readable, or has changed.
//
// If the script has no debug ID, the result has the debug ID of the map.
func (b *Build) Load(s Script) (*Loaded, error) {
	text, err := read(b.fsys, s.Path, b.options.Limits.ScriptBytes)
	if err == nil && sha256.Sum256(text) != s.SHA256 {
		err = errors.New("it changed while the folder was read; wait for the end of the build")
	}
	if err != nil {
		return nil, fmt.Errorf("read script %s: %w", s.Path, err)
	}
	l := &Loaded{Script: s, Text: text}
	if s.Way == NoMap {
		return l, nil
	}
	if err := b.loadMap(l); err != nil {
		l.tell(MapUnreadable, adviceBuild, "%v", err)
		return l, nil
	}
	if id := l.Map.DebugID; id != "" && s.DebugID != "" && id != s.DebugID {
		l.tell(DebugIDDiffers, "empty the folder before the build, and inject IDs into both",
			"its debug ID is %s, but its map has %q", s.DebugID, shorten(id))
	}
	l.DebugID = cmp.Or(s.DebugID, l.Map.DebugID)
	b.complete(l)
	sortProblems(l.Problems)
	return l, nil
}

func (l *Loaded) tell(kind Kind, advice, format string, args ...any) {
	l.Problems = append(l.Problems, Problem{l.Path, kind, fmt.Sprintf(format, args...), advice})
}

// loadMap reads the map of a script.
func (b *Build) loadMap(l *Loaded) (err error) {
	where := "in its data: URL"
	if l.Way == Inline {
		l.MapText, err = decodeDataURL(readComments(l.Text).mapURL)
	} else {
		where = l.MapPath
		l.MapText, err = read(b.fsys, l.MapPath, b.options.Limits.MapBytes)
	}
	if err == nil {
		l.Map, err = sourcemap.Read(l.MapText, b.options.Limits.Map)
	}
	if err != nil {
		return fmt.Errorf("map %s: %w", where, err)
	}
	l.MapSHA256 = sha256.Sum256(l.MapText)
	return nil
}

// complete reads sources without content in the map, and records those that are still missing.
func (b *Build) complete(l *Loaded) {
	var missing []Missing
	if b.options.Sources != nil {
		at := path.Join(b.options.Dir, cmp.Or(l.MapPath, l.Path))
		missing = Complete(l.Map, b.options.Sources, at, b.options.Limits.SourceBytes)
	} else {
		missing = withoutContent(l.Map)
	}
	if len(missing) == 0 {
		return
	}
	const most = 3
	var names []string
	for _, m := range missing[:min(len(missing), most)] {
		name := strconv.Quote(shorten(m.Name))
		if m.Why != "" {
			name += " (" + m.Why + ")"
		}
		names = append(names, name)
	}
	if len(missing) > most {
		names = append(names, "…")
	}
	l.tell(SourcesMissing, "configure the build to write sourcesContent, or pass the folder of the project",
		"its map has no content of %d of %d sources, so some functions keep their names: %s",
		len(missing), len(l.Map.Sources), strings.Join(names, ", "))
}
