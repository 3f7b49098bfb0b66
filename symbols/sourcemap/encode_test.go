package sourcemap

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

// plain is a mapping with its generated line, as the tests write and compare them.
type plain struct {
	Line int32
	Mapping
}

// plainMap is a map as a list, which the tests encode with simple code.
type plainMap struct {
	Sources  []Source
	Names    []string
	Mappings []plain // sorted
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

func encodeNumber(n int64) string {
	u := n << 1
	if n < 0 {
		u = -n<<1 | 1
	}
	text := ""
	for {
		digit := u % 32
		u /= 32
		if u == 0 {
			return text + alphabet[digit:digit+1]
		}
		text += alphabet[digit+32 : digit+33]
	}
}

// encodeMappings encodes sorted mappings.
func encodeMappings(mappings []plain) string {
	var text strings.Builder
	var line, column, source, sourceLine, sourceColumn, name int32
	first := true
	for _, m := range mappings {
		for ; line < m.Line; line++ {
			text.WriteString(";")
			column, first = 0, true
		}
		if !first {
			text.WriteString(",")
		}
		first = false
		text.WriteString(encodeNumber(int64(m.Column) - int64(column)))
		column = m.Column
		if m.Source < 0 {
			continue
		}
		text.WriteString(encodeNumber(int64(m.Source - source)))
		text.WriteString(encodeNumber(int64(m.SourceLine) - int64(sourceLine)))
		text.WriteString(encodeNumber(int64(m.SourceColumn) - int64(sourceColumn)))
		source, sourceLine, sourceColumn = m.Source, m.SourceLine, m.SourceColumn
		if m.Name >= 0 {
			text.WriteString(encodeNumber(int64(m.Name - name)))
			name = m.Name
		}
	}
	return text.String()
}

// fields returns the JSON members of p.
func (p plainMap) fields() map[string]any {
	var sources, contents []any
	ignored := []int{}
	for i, s := range p.Sources {
		sources, contents = append(sources, s.Name), append(contents, nil)
		if s.Content != nil {
			contents[i] = string(s.Content)
		}
		if s.Ignored {
			ignored = append(ignored, i)
		}
	}
	return map[string]any{
		"version": 3, "sources": sources, "sourcesContent": contents, "names": p.Names,
		"ignoreList": ignored, "mappings": encodeMappings(p.Mappings),
	}
}

func (p plainMap) json() []byte { return encodeJSON(p.fields()) }

// cut returns p as an index map with a section from the beginning and one from each place.
func (p plainMap) cut(places []plain) []byte {
	var sections []any
	for i, begin := range append([]plain{{}}, places...) {
		part := plainMap{Sources: p.Sources, Names: p.Names}
		for _, m := range p.Mappings {
			if before(m, begin) || i < len(places) && !before(m, places[i]) {
				continue
			}
			if m.Line == begin.Line {
				m.Column -= begin.Column
			}
			m.Line -= begin.Line
			part.Mappings = append(part.Mappings, m)
		}
		sections = append(sections, map[string]any{
			"offset": map[string]any{"line": begin.Line, "column": begin.Column},
			"map":    part.fields(),
		})
	}
	return encodeJSON(map[string]any{"version": 3, "sections": sections})
}

func before(a, b plain) bool {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) < 0
}

func encodeJSON(value any) []byte {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return b
}

// plainOf returns m as a list.
func plainOf(m *Map) plainMap {
	p := plainMap{Sources: m.Sources, Names: m.Names}
	for line := range m.Lines() {
		first, end := m.Line(line)
		for _, mapping := range m.Mappings()[first:end] {
			p.Mappings = append(p.Mappings, plain{int32(line), mapping})
		}
	}
	return p
}

// randomMap returns a random map with all features, and places to cut it.
func randomMap(r *rand.Rand) (p plainMap, places []plain) {
	texts := []string{"", "a", "src/a.ts", "ä\u2028𝒳", "\"\\/\b\f\n\r\t\x01", "<script>"}
	for range 1 + r.IntN(4) {
		s := Source{Name: texts[r.IntN(len(texts))], Ignored: r.IntN(3) == 0}
		if r.IntN(3) > 0 {
			s.Content = []byte(texts[r.IntN(len(texts))])
		}
		p.Sources = append(p.Sources, s)
	}
	for range 1 + r.IntN(4) {
		p.Names = append(p.Names, texts[r.IntN(len(texts))])
	}
	number := func() int32 { return int32(r.Uint32() >> (1 + r.IntN(31))) }
	for range r.IntN(20) {
		m := plain{int32(r.IntN(6)), Mapping{Column: number(), Source: -1, Name: -1}}
		if r.IntN(4) > 0 {
			m.Source = int32(r.IntN(len(p.Sources)))
			m.SourceLine, m.SourceColumn = number(), number()
			if r.IntN(2) > 0 {
				m.Name = int32(r.IntN(len(p.Names)))
			}
		}
		p.Mappings = append(p.Mappings, m)
	}
	slices.SortStableFunc(p.Mappings, func(a, b plain) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for range r.IntN(5) {
		place := plain{int32(r.IntN(8)), Mapping{Column: number()}}
		if len(p.Mappings) > 0 && r.IntN(2) > 0 {
			place = p.Mappings[r.IntN(len(p.Mappings))]
		}
		places = append(places, place)
	}
	slices.SortFunc(places, func(a, b plain) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p, places
}
