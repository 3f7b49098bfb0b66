package sourcemap

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// largeMap returns a map like those of bundlers: one generated line, a tenth of the mappings with
// names, and contents with an escape in each line.
func largeMap() []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var p plainMap
	line := "\tconst value = compute(\"key\", index);\n"
	for range 60 {
		p.Sources = append(p.Sources, Source{Name: "webpack://app/./src/file.ts",
			Content: []byte(strings.Repeat(line, 400))})
	}
	for range 2500 {
		p.Names = append(p.Names, "identifier")
	}
	column := int32(0)
	for i := range 75_000 {
		column += 1 + int32(r.IntN(12))
		m := Mapping{Column: column, Source: int32(i / 1250), SourceLine: int32(i % 1250 / 3),
			SourceColumn: int32(r.IntN(40)), Name: -1}
		if r.IntN(10) == 0 {
			m.Name = int32(r.IntN(len(p.Names)))
		}
		p.Mappings = append(p.Mappings, plain{0, m})
	}
	return p.json()
}

func BenchmarkRead(b *testing.B) {
	text := largeMap()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(text, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAt(b *testing.B) {
	m, err := Read(largeMap(), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	column := int32(0)
	for b.Loop() {
		column = (column + 104_729) % 450_000
		m.At(0, column)
	}
}

func BenchmarkPositions(b *testing.B) {
	for name, piece := range map[string]string{"ascii": "const value = 1;\n", "wide": "const välue = '𝒳';"} {
		text := []byte(strings.Repeat(piece, 1<<20/len(piece)))
		b.Run(name+"/new", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				NewPositions(text)
			}
		})
		p := NewPositions(text)
		b.Run(name+"/place", func(b *testing.B) {
			offset := 0
			for b.Loop() {
				offset = (offset + 104_729) % len(text)
				p.Place(offset)
			}
		})
		b.Run(name+"/offset", func(b *testing.B) {
			line, column := int32(0), int32(0)
			for b.Loop() {
				column = (column + 104_729) % int32(len(text)/2)
				line = column % int32(p.Lines())
				p.Offset(line, column)
			}
		})
	}
}
