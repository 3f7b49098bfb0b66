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

// carriedMaps is a [naming.Library] of the scripts that a file contains with their source maps. It
// builds a table on the first frame of a script, because most scripts of a page take no time.
type carriedMaps struct {
	upload  symbols.Upload
	scripts map[string]trie.Script // by hash

	mu       sync.Mutex
	tables   map[string]*symbols.Table // nil if the table cannot be built
	problems []string
}

// newCarriedMaps returns a Library of scripts, or nil if there are none.
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

// carriedScript returns a script by its URL. If the URL has a query, the key is needed, because a
// query does not belong to a path.
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
			c.problems = append(c.problems, fmt.Sprintf("ignored the source map of %s: %v", s.URL, err))
		}
		c.tables[sha256] = table
	}
	if table == nil {
		return nil, errors.New("its source map cannot be used")
	}
	return table, nil
}

func makeCarried(s trie.Script) (*symbols.Table, error) {
	if s.Text == nil {
		return nil, errors.New(
			"the file lacks the text of the script, which is needed to find its functions; save the script's text " +
				"in the browser, too, or pass the build folder with --maps")
	}
	m, err := sourcemap.Read(s.Map, sourcemap.Limits{})
	if err != nil {
		return nil, err
	}
	table, _, err := symbols.Make(s.Text, m)
	return table, err
}

// shownProblems limits the warnings about the maps of a file.
const shownProblems = 10

// warnings returns the problems with maps that were needed.
func (c *carriedMaps) warnings() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if more := len(c.problems) - shownProblems; more > 0 {
		return append(c.problems[:shownProblems:shownProblems], fmt.Sprintf("ignored %d more source maps", more))
	}
	return c.problems
}

// carried returns the maps of r, or nil if r has none or p does not want names.
func (p *picking) carried(r *trie.Recording) *carriedMaps {
	if p.Minified {
		return nil
	}
	return newCarriedMaps(r.Scripts)
}

// symbols returns the symbolizer of p combined with own, the maps of the file, which may be nil.
// Maps that the user passed take precedence over maps of the file.
func (p Pick) symbols(own *carriedMaps) *naming.Symbolizer {
	switch {
	case p.Minified:
		return nil
	case own == nil:
		return p.Symbols
	}
	return p.Symbols.Before(naming.New(own))
}

// addRecording merges the threads of r that p selects. It names the functions of a file with source
// maps immediately, because these maps do not apply to other files.
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

// recordedTimelines returns the calls of the threads of r that p selects, and reports whether they
// are already named.
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

// nameTimelines names the lines at the given indexes.
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
