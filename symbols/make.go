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

// MaxScript bounds the script of [Make], in bytes.
const MaxScript = 64 << 20

// Report describes the quality of a table, for people who can improve it.
type Report struct {
	Functions int          // of the script
	Found     [EndWays]int // by the way
	Sources   int          // of the map
	// WithoutText lists the sources without content in the map. Their functions get only the names
	// in the map, which are few.
	WithoutText []string
	// Minified lists the sources that were already minified before bundling.
	Minified []string
	// Misplaced is the share of the mappings, from 0 to 1, that point into the middle of a word of
	// the script, or out of it. In a map of this script hardly any do.
	Misplaced float64
}

// Named returns the share of the functions, from 0 to 1, whose original is known.
func (r *Report) Named() float64 {
	if r.Functions == 0 {
		return 1
	}
	return 1 - float64(r.Found[Kept])/float64(r.Functions)
}

// OtherScriptError says that a map belongs to another script.
type OtherScriptError struct{ Misplaced float64 }

func (e *OtherScriptError) Error() string {
	return fmt.Sprintf("the map is that of another script: %.1f %% of its mappings lead into the middle of words, or out of the script; upload the two that were built together", 100*e.Misplaced)
}

// The share of misplaced mappings that an accepted map may have. Turbopack misplaces 3.2 % in its
// own small scripts. In large scripts such a share cannot be chance: maps of another build have 3.9
// % and more there, and 15 % in small ones.
const (
	maxMisplaced      = 0.03
	maxMisplacedSmall = 0.1
	fewMisplaced      = 200 // so many are those of a small script
)

// ofAnother reports whether a map with this many misplaced mappings belongs to another script.
func ofAnother(misplaced, all int) bool {
	most := maxMisplaced
	if misplaced <= fewMisplaced {
		most = maxMisplacedSmall
	}
	return float64(misplaced) > most*float64(all)
}

// Make makes the table of a script from its map. The text of the sources is that in the map. A map
// of another script is an [OtherScriptError].
func Make(script []byte, m *sourcemap.Map) (*Table, Report, error) {
	report := Report{Sources: len(m.Sources)}
	if len(script) > MaxScript {
		return nil, report, fmt.Errorf("the script has %d bytes, the most is %d", len(script), MaxScript)
	}
	if len(m.Mappings()) == 0 && len(script) > 0 {
		return nil, report, errors.New("the map has no mappings, so that it says nothing; see how the bundler is told to make one")
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

// list writes the matches into a table.
func (x *matching) list(t *Table) {
	w := tableWriter{matching: x, table: t, sources: make([]int32, len(x.m.Sources)), hashes: make([][]hashes, len(x.m.Sources)), codes: x.codeHashes(),
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

// tableWriter makes the functions of a table.
type tableWriter struct {
	*matching
	table   *Table
	sources []int32           // by source of the map: that of the table, -1 if none yet
	hashes  [][]hashes        // by source of the map and function: of the texts
	codes   []uint32          // by function of the script
	seen    map[string]uint32 // by source and name: how many functions without an original have it
}

// source returns the number in the table for a source of the map.
func (w *tableWriter) source(s int32) int32 {
	if w.sources[s] < 0 {
		w.sources[s] = int32(len(w.table.Sources))
		w.table.Sources = append(w.table.Sources, Source{SourceName(w.m.Sources[s].Name), owner.PackageVersion(w.m.Sources[s].Name), w.m.Sources[s].Ignored})
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

// numbered gives a function without an original a key: functions with one name in one source are
// numbered in order.
func (w *tableWriter) numbered(f *Function, source int32, name string) {
	if source < 0 {
		return
	}
	at := keySource(w.m.Sources[source].Name)
	f.Ordinal = w.seen[at+"\x00"+name]
	f.Key = keyOf(at, "\x00"+name, f.Ordinal)
	w.seen[at+"\x00"+name]++
}

// boundName returns the name that a function is bound to, as given by the map, the text of the
// source, or a key that is not minified; "" if there is none.
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
	if g.Binding == outline.Key && !numeric(g.Name) { // webpack numbers modules
		return g.Name
	}
	return ""
}

func numeric(name string) bool { return strings.Trim(name, "0123456789") == "" }

// identifierAt returns the identifier at the beginning of a text, or "" for a word of the language.
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
