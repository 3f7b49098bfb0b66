package symbols

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// MaxScript is the maximum size of a script in [Make], in bytes.
const MaxScript = 64 << 20

// Report describes the quality of a table.
type Report struct {
	Functions int          // in the script
	Found     [EndWays]int // by Way
	Sources   int          // in the map
	// WithoutText lists the sources without content in the map. Their functions get only names from
	// the map, which has few.
	WithoutText []string
	// Minified lists the sources that were minified before bundling.
	Minified []string
	// Misplaced is the share of mappings, from 0 to 1, that point into the middle of a word of the
	// script, or out of it. It is near 0 if the map belongs to the script.
	Misplaced float64
}

// Named returns the share of functions, from 0 to 1, whose original is known.
func (r *Report) Named() float64 {
	if r.Functions == 0 {
		return 1
	}
	return 1 - float64(r.Found[Kept])/float64(r.Functions)
}

// OtherScriptError is returned if a map belongs to another script.
type OtherScriptError struct{ Misplaced float64 }

func (e *OtherScriptError) Error() string {
	return fmt.Sprintf("the map belongs to another script: %.1f %% of its mappings point into the middle of words, "+
		"or out of the script; upload a script and map from the same build", 100*e.Misplaced)
}

// The maximum share of misplaced mappings in an accepted map. Turbopack misplaces 3.2 % in its own
// small scripts. In large scripts such a share cannot be chance: maps of another build have at
// least 3.9 % there, and 15 % in small ones.
const (
	maxMisplaced      = 0.03
	maxMisplacedSmall = 0.1
	fewMisplaced      = 200 // in a small script
)

// ofAnother reports whether a map with this many misplaced mappings belongs to another script.
func ofAnother(misplaced, all int) bool {
	most := maxMisplaced
	if misplaced <= fewMisplaced {
		most = maxMisplacedSmall
	}
	return float64(misplaced) > most*float64(all)
}

// Make makes the table of a script from its map. It takes the text of sources from the map. It
// returns an [OtherScriptError] for a map of another script.
func Make(script []byte, m *sourcemap.Map) (*Table, Report, error) {
	report := Report{Sources: len(m.Sources)}
	if len(script) > MaxScript {
		return nil, report, fmt.Errorf("the script has %d bytes, the most is %d", len(script), MaxScript)
	}
	if len(m.Mappings()) == 0 && len(script) > 0 {
		return nil, report, errors.New("the map has no mappings; check the source map options of the bundler")
	}
	for _, s := range m.Sources {
		switch {
		case s.Content == nil:
			report.WithoutText = append(report.WithoutText, SourceName(s.Name))
		case minifiedText(s.Content):
			report.Minified = append(report.Minified, SourceName(s.Name))
		}
	}
	x := newMatching(script, m)
	misplaced := x.misplaced()
	if report.Misplaced = float64(misplaced) / float64(max(len(x.mappings), 1)); ofAnother(misplaced, len(x.mappings)) {
		return nil, report, &OtherScriptError{report.Misplaced}
	}
	x.run()
	t := &Table{Script: sha256.Sum256(script), DebugID: m.DebugID}
	x.list(t)
	t.index()
	report.Functions, report.Found = len(t.Functions), t.Found()
	return t, report, nil
}

// misplaced returns how many mappings point into the middle of a word, or out of the script.
func (x *matching) misplaced() (bad int) {
	for line := range x.m.Lines() {
		first, end := x.m.Line(line)
		for k := first; k < end; k++ {
			column := x.mappings[k].Column
			offset := x.positions.Offset(int32(line), column)
			switch {
			case offset >= len(x.code):
				if l, c := x.positions.Place(len(x.code)); int32(line) > l || int32(line) == l && column > c {
					bad++
				}
			case offset > 0 && identifierByte(x.code[offset]) && identifierByte(x.code[offset-1]):
				if _, c := x.positions.Place(offset); c > 0 {
					bad++
				}
			}
		}
	}
	return bad
}

// list adds the matches to a table.
func (x *matching) list(t *Table) {
	w := tableWriter{matching: x, table: t, sources: make([]int32, len(x.m.Sources)), hashes: make([][]hashes,
		len(x.m.Sources)), codes: x.codeHashes(),
		seen: map[string]uint32{}}
	for i := range w.sources {
		w.sources[i] = -1
	}
	for i := range x.functions {
		t.Functions = append(t.Functions, w.function(i))
	}
	slices.SortStableFunc(t.Functions, func(a, b Function) int {
		return cmp.Compare(place(a.Line, a.Column), place(b.Line, b.Column))
	})
	t.Functions = slices.CompactFunc(t.Functions, func(a, b Function) bool {
		return place(a.Line, a.Column) == place(b.Line, b.Column)
	})
}

// tableWriter builds the functions of a table.
type tableWriter struct {
	*matching
	table   *Table
	sources []int32           // by source of the map: index in the table, -1 if not yet added
	hashes  [][]hashes        // text hashes, by source of the map and function
	codes   []uint32          // by function of the script
	seen    map[string]uint32 // by source and name: number of functions without an original
}

// source returns the index in the table of a source of the map.
func (w *tableWriter) source(s int32) int32 {
	if w.sources[s] < 0 {
		w.sources[s] = int32(len(w.table.Sources))
		w.table.Sources = append(w.table.Sources, Source{SourceName(w.m.Sources[s].Name),
			owner.PackageVersion(w.m.Sources[s].Name), w.m.Sources[s].Ignored})
	}
	return w.sources[s]
}

func (w *tableWriter) function(i int) Function {
	g := &w.functions[i]
	line, column := w.positions.Place(g.Place)
	f := Function{Line: uint32(line) + 1, Column: uint32(column) + 1, Source: -1}
	if g.Binding != outline.Member {
		f.Minified = g.Name
	}
	f.Name = f.Minified
	if x := w.matches[i]; x.function >= 0 {
		w.matched(&f, x)
		f.Code = w.codes[i]
		return f
	}
	if h := w.heads[i]; h.source >= 0 {
		f.Source, f.SourceLine, f.SourceColumn = w.source(h.source), uint32(h.line)+1, uint32(h.column)+1
	}
	v := &w.votes[i]
	switch name := w.boundName(g); {
	case name != "":
		f.Name, f.Way = name, Named
		w.numbered(&f, w.heads[i].source, name)
	case (v.toplevelCode() || v.outside > 0 && moduleWrapper(g)) && g.Kind.Written():
		f.Name, f.Way = "(module)", Module
		f.Source, f.SourceLine, f.SourceColumn = w.source(v.toplevel), 1, 1
		w.numbered(&f, v.toplevel, f.Name)
	}
	return f
}

// matched describes a function by its original.
func (w *tableWriter) matched(f *Function, x match) {
	o := w.originals[x.source]
	o.describe()
	if w.hashes[x.source] == nil {
		w.hashes[x.source] = o.textHashes()
	}
	line, column := o.positions.Place(o.functions[x.function].Place)
	f.Source, f.SourceLine, f.SourceColumn = w.source(x.source), uint32(line)+1, uint32(column)+1
	f.Name, f.Way = o.label(x.function), x.way
	f.Ordinal = o.ordinals[x.function]
	f.Key = keyOf(keySource(w.m.Sources[x.source].Name), o.paths[x.function], f.Ordinal)
	f.Text, f.Own = w.hashes[x.source][x.function].whole, w.hashes[x.source][x.function].own
}

// numbered sets the key of a function without an original: functions with the same name and source
// are numbered in order.
func (w *tableWriter) numbered(f *Function, source int32, name string) {
	if source < 0 {
		return
	}
	at := keySource(w.m.Sources[source].Name)
	f.Ordinal = w.seen[at+"\x00"+name]
	f.Key = keyOf(at, "\x00"+name, f.Ordinal)
	w.seen[at+"\x00"+name]++
}

// boundName returns the name that a function is bound to, from the map, the text of the source, or
// a key that is not minified; or "".
func (x *matching) boundName(g *outline.Function) string {
	if g.BindStart < 0 {
		return ""
	}
	line, column := x.positions.Place(g.BindStart)
	if k := x.m.At(line, column); k >= 0 && x.mappings[k].Column == column {
		to := &x.mappings[k]
		if to.Name >= 0 && x.m.Names[to.Name] != "" {
			return x.m.Names[to.Name]
		}
		if to.Source >= 0 && x.offsets[k] >= 0 {
			if word := identifierAt(x.originals[to.Source].text[x.offsets[k]:]); word != "" {
				return word
			}
		}
	}
	if g.Binding == outline.Key && !numeric(g.Name) { // webpack's modules have numbers
		return g.Name
	}
	return ""
}

func numeric(name string) bool { return strings.Trim(name, "0123456789") == "" }

// identifierAt returns the identifier at the start of a text, or "" for a reserved word.
func identifierAt(text []byte) string {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (n == 0 || !unicode.IsDigit(r)) {
			break
		}
		n += size
	}
	switch word := string(text[:n]); word {
	case "function", "const", "let", "var", "export", "async", "class", "return", "default", "static", "get", "set",
		"new", "this", "if", "for", "import":
		return ""
	default:
		return word
	}
}
