package outline_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
)

// BenchmarkFunctions parses a script of this package many times, and bundles if they are available.
func BenchmarkFunctions(b *testing.B) {
	forms, err := os.ReadFile(filepath.Join("testdata", "starts", "forms.js"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("forms", func(b *testing.B) { benchmarkText(b, bytes.Repeat(forms, 100), outline.Script) })
	typed, err := os.ReadFile(filepath.Join("testdata", "typed.tsx"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("typed", func(b *testing.B) { benchmarkText(b, bytes.Repeat(typed, 100), outline.TSX) })
	b.Run("bundles", func(b *testing.B) {
		for name, data := range bundles(b) {
			if path.Ext(name) == ".js" && len(data) > 100_000 {
				b.Run(name, func(b *testing.B) { benchmarkText(b, data, outline.Script) })
			}
		}
	})
}

func benchmarkText(b *testing.B, text []byte, language outline.Language) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := outline.Functions(text, language); err != nil {
			b.Fatal(err)
		}
	}
}
