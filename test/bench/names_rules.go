package main

import (
	"regexp"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/outline"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
	"github.com/fieldtrie/fieldtrie/test/bundles"
)

// answer is the result of a rule for a function of a script.
type answer struct {
	name string
	// by reports that the rule identifies the function, and not only a possible name. Then file and
	// place are the function's.
	by           bool
	file         string
	line, column uint32 // from 1
	kept         bool   // nothing was found, and the minified name stays
}

// right reports whether a result is correct.
func (a answer) right(row bundles.Row) bool {
	if a.kept {
		return row.Minified == row.Name && row.Name != ""
	}
	if a.by {
		return a.file == row.File && (a.line == row.SourceLine && a.column == row.SourceColumn || row.Name != "" &&
			a.name == row.Name)
	}
	return a.name == row.Name
}

// rule names a function of a script. The rules of other tools are reimplemented from the
// behaviour of their code.
type rule struct {
	name string
	of   func(*namedScript, bundles.Row) answer
}

// namedScript is a script with the data for all rules.
type namedScript struct {
	bundles.Script
	m         *sourcemap.Map
	positions *sourcemap.Positions
	functions map[[2]uint32]*outline.Function // by place, from 1
	table     *symbols.Table
	sources   map[int32]*namedSource
}

// namedSource is a source of a script.
type namedSource struct {
	text      []byte
	positions *sourcemap.Positions
	functions []outline.Function
}

func newNamedScript(s bundles.Script) (*namedScript, error) {
	m, err := sourcemap.Read(s.Map, sourcemap.DefaultLimits())
	if err != nil {
		return nil, err
	}
	table, _, err := symbols.Make(s.Text, m)
	if err != nil {
		return nil, err
	}
	x := &namedScript{Script: s, m: m, positions: sourcemap.NewPositions(s.Text),
		functions: map[[2]uint32]*outline.Function{}, table: table, sources: map[int32]*namedSource{}}
	all, _, _ := outline.Functions(s.Text, outline.Script)
	for i := range all {
		line, column := x.positions.Place(all[i].Place)
		x.functions[[2]uint32{uint32(line) + 1, uint32(column) + 1}] = &all[i]
	}
	return x, nil
}

// source returns a source with its functions.
func (x *namedScript) source(i int32) *namedSource {
	if x.sources[i] == nil {
		s := x.m.Sources[i]
		language := outline.JavaScript
		switch {
		case strings.HasSuffix(s.Name, ".tsx"):
			language = outline.TSX
		case strings.HasSuffix(s.Name, ".ts"):
			language = outline.TypeScript
		}
		of := &namedSource{text: s.Content, positions: sourcemap.NewPositions(s.Content)}
		of.functions, _, _ = outline.Functions(s.Content, language)
		x.sources[i] = of
	}
	return x.sources[i]
}

// at returns the last mapping at or before a place, counted from 0.
func (x *namedScript) at(line, column int32) (sourcemap.Mapping, bool) {
	k := x.m.At(line, column)
	if k < 0 || x.m.Mappings()[k].Source < 0 {
		return sourcemap.Mapping{}, false
	}
	return x.m.Mappings()[k], true
}

// nameOf returns the name in a mapping. Without one, or if ok is false, it returns the minified
// name.
func (x *namedScript) nameOf(to sourcemap.Mapping, ok bool, row bundles.Row) answer {
	if ok && to.Name >= 0 {
		return answer{name: x.m.Names[to.Name]}
	}
	return answer{name: row.Minified, kept: true}
}

func namingRules() []rule {
	return []rule{
		{"no map", func(_ *namedScript, row bundles.Row) answer { return answer{name: row.Minified, kept: true} }},
		{"names at the place", func(x *namedScript, row bundles.Row) answer {
			to, ok := x.at(int32(row.Line)-1, int32(row.Column)-1)
			return x.nameOf(to, ok, row)
		}},
		{"DevTools", devTools},
		{"speedscope", speedscope},
		{"Sentry", sentry},
		{"Firefox", innermost},
		{"Fieldtrie", func(x *namedScript, row bundles.Row) answer {
			f := x.table.Find(row.Line, row.Column)
			if f == nil || f.Way == symbols.Kept {
				return answer{name: row.Minified, kept: true}
			}
			return answer{name: f.Name, by: true, file: x.table.Sources[f.Source].Name, line: f.SourceLine,
				column: f.SourceColumn}
		}},
	}
}

// devTools uses the name of the mapping at the parenthesis of the parameters.
func devTools(x *namedScript, row bundles.Row) answer {
	line, column := int32(row.Line)-1, int32(row.Column)-1
	if f := x.functions[[2]uint32{row.Line, row.Column}]; f != nil && f.Kind == outline.Arrow {
		if i := strings.IndexByte(string(x.Text[f.Start:f.Body]), '('); i >= 0 {
			line, column = x.positions.Place(f.Start + i)
		}
	}
	to, ok := x.at(line, column)
	return x.nameOf(to, ok, row)
}

var wordLike = regexp.MustCompile(`\w+`)

// speedscope uses the mapping before the place, and without a name the next word of the source
// there.
func speedscope(x *namedScript, row bundles.Row) answer {
	to, ok := x.at(int32(row.Line)-1, int32(row.Column)-2)
	if !ok {
		return answer{name: row.Minified, kept: true}
	}
	a := x.nameOf(to, ok, row)
	if a.kept {
		s := x.source(to.Source)
		text := s.text[s.positions.Offset(to.SourceLine, to.SourceColumn):]
		if i := strings.IndexByte(string(text), '\n'); i >= 0 {
			text = text[:i]
		}
		if word := wordLike.Find(text); word != nil {
			a = answer{name: string(word)}
		}
	}
	switch a.name {
	case "constructor":
		a.name = row.Minified + " constructor"
	case "function", "const", "export":
		return answer{name: row.Minified, kept: true}
	}
	return a
}

// sentry uses the name of the mapping of the function's binding in the script.
func sentry(x *namedScript, row bundles.Row) answer {
	f := x.functions[[2]uint32{row.Line, row.Column}]
	if f == nil || f.BindStart < 0 {
		return answer{name: row.Minified, kept: true}
	}
	line, column := x.positions.Place(f.BindStart)
	to, ok := x.at(line, column)
	if a := x.nameOf(to, ok && to.Column == column, row); !a.kept || f.Binding != outline.Key {
		return a
	}
	return answer{name: f.Name}
}

// innermost uses the innermost function of the source at the mapped place.
func innermost(x *namedScript, row bundles.Row) answer {
	to, ok := x.at(int32(row.Line)-1, int32(row.Column)-1)
	if !ok {
		return answer{name: row.Minified, kept: true}
	}
	s := x.source(to.Source)
	offset := s.positions.Offset(to.SourceLine, to.SourceColumn)
	var found *outline.Function
	for i := range s.functions {
		if f := &s.functions[i]; f.Kind.Written() && f.Start <= offset && offset < f.End {
			found = f // nested functions come later
		} else if f.Binding == outline.Own && f.BindStart == offset {
			found = f
		}
	}
	if found == nil {
		return answer{name: row.Minified, kept: true}
	}
	line, column := s.positions.Place(found.Place)
	return answer{name: found.Name, by: true, file: symbols.SourceName(x.m.Sources[to.Source].Name),
		line: uint32(line) + 1, column: uint32(column) + 1}
}
