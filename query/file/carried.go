package file

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
	"github.com/fieldtrie/fieldtrie/trie"
)

// carriedMaps is a [naming.Library] of the scripts that a file carries with their source maps.
// A table is made when a frame of its script is seen, since most scripts of a page take no time.
type carriedMaps struct {
	upload  symbols.Upload
	scripts map[string]trie.Script // by hash

	mu       sync.Mutex
	tables   map[string]*symbols.Table // nil for those that can not be made
	problems []string
}

// newCarriedMaps returns a Library of scripts, nil if there are none.
func newCarriedMaps(scripts []trie.Script) *carriedMaps {
	if len(scripts) == 0 {
		return nil
	}
	c := &carriedMaps{scripts: map[string]trie.Script{}, tables: map[string]*symbols.Table{}}
	for _, s := range scripts {
		of := s.Text
		if of == nil {
			of = s.Map
		}
		sum := sha256.Sum256(of)
		key := hex.EncodeToString(sum[:])
		if _, ok := c.scripts[key]; !ok {
			c.scripts[key] = s
		}
		c.upload.Scripts = append(c.upload.Scripts, carriedScript(s.URL, key))
	}
	return c
}

// carriedScript returns a script by its URL: that URL alone will do, unless it has a query,
// which is no part of a path.
func carriedScript(url, key string) symbols.Script {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return symbols.Script{Path: url, SHA256: key}
	}
	host, path, _ := strings.Cut(rest, "/")
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		return symbols.Script{Path: path[:end], SHA256: key}
	}
	return symbols.Script{Prefix: scheme + "://" + host, Path: path, SHA256: key}
}

// Uploads implements [naming.Library].
func (c *carriedMaps) Uploads() []symbols.Upload { return []symbols.Upload{c.upload} }

// Generation implements [naming.Library].
func (c *carriedMaps) Generation() string { return "carried" }

// Table implements [naming.Library].
func (c *carriedMaps) Table(sha256 string) (*symbols.Table, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	table, ok := c.tables[sha256]
	if !ok {
		s := c.scripts[sha256]
		var err error
		if table, err = makeCarried(s); err != nil {
			c.problems = append(c.problems, fmt.Sprintf("the source map of %s is not used: %v", s.URL, err))
		}
		c.tables[sha256] = table
	}
	if table == nil {
		return nil, errors.New("its source map can not be used")
	}
	return table, nil
}

func makeCarried(s trie.Script) (*symbols.Table, error) {
	if s.Text == nil {
		return nil, errors.New("the file has no text of the script, by which its functions are found; have the browser save that, too, or name the folder of the build with --maps")
	}
	m, err := sourcemap.Read(s.Map, sourcemap.Limits{})
	if err != nil {
		return nil, err
	}
	table, _, err := symbols.Make(s.Text, m)
	return table, err
}

// shownProblems is how many maps of a file warnings are about.
const shownProblems = 10

// warnings returns what was wrong with the maps that were needed.
func (c *carriedMaps) warnings() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if more := len(c.problems) - shownProblems; more > 0 {
		return append(c.problems[:shownProblems:shownProblems], fmt.Sprintf("%d more source maps are not used", more))
	}
	return c.problems
}

// carried returns the maps of r, nil if there are none or if names are not wanted.
func (p *picking) carried(r *trie.Recording) *carriedMaps {
	if p.Minified {
		return nil
	}
	return newCarriedMaps(r.Scripts)
}

// symbols returns what names functions; own, the maps of their file, may be nil. Maps that were
// asked for come before those of a file.
func (p Pick) symbols(own *carriedMaps) *naming.Symbolizer {
	switch {
	case p.Minified:
		return nil
	case own == nil:
		return p.Symbols
	}
	return p.Symbols.Before(naming.New(own))
}

// addRecording merges what p chooses of r. The functions of a file with maps of its own are named
// at once, as its maps say nothing about other files.
func (p *picking) addRecording(m *trie.Merger, file string, r *trie.Recording, sel selection.Selection) error {
	own := p.carried(r)
	if own == nil {
		return p.add(m, file, r, sel)
	}
	alone := trie.NewMerger()
	if err := p.add(alone, file, r, sel); err != nil {
		return err
	}
	named, names := p.symbols(own).Profile(alone.Profile())
	p.named, p.names = append(p.named, named), append(p.names, names)
	p.warnAll(file, own.warnings())
	return nil
}

// recordedTimelines returns the calls of what p chooses of r, and whether they are named already.
func (p *picking) recordedTimelines(file string, r *trie.Recording) (lines []*trie.Timeline, named bool, err error) {
	lines, err = p.timelines(file, r)
	own := p.carried(r)
	if err != nil || own == nil {
		return lines, false, err
	}
	p.names = append(p.names, nameTimelines(lines, p.symbols(own)))
	p.warnAll(file, own.warnings())
	return lines, true, nil
}

// nameTimelines names those lines that are in these places.
func (p *picking) nameTimelines(lines []*trie.Timeline, places []int) {
	some := make([]*trie.Timeline, len(places))
	for i, k := range places {
		some[i] = lines[k]
	}
	p.names = append(p.names, nameTimelines(some, p.symbols(nil)))
	for i, k := range places {
		lines[k] = some[i]
	}
}

func (p *picking) warnAll(file string, warnings []string) {
	for _, w := range warnings {
		p.warn(file, "%s", w)
	}
}

// nameTimelines names the frames of timelines, which have no releases.
func nameTimelines(lines []*trie.Timeline, symbols *naming.Symbolizer) *naming.Names {
	n := symbols.Begin()
	if n == nil {
		return nil
	}
	for _, line := range lines {
		for f := range line.Frames {
			n.See("", line.FrameOf(trie.FrameID(f)), 0)
		}
	}
	names := n.Names()
	for i, line := range lines {
		lines[i] = line.Rewrite(func(f trie.Frame) trie.Frame { return names.Of("", f) }, false)
	}
	return names
}
