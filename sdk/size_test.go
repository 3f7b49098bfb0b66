package sdk

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestSize compares the built scripts with budgets in gzipped bytes. Every visitor loads the
// loader, so its budget is a target; the other budgets are slightly above the current sizes. The
// targets are in docs/benchmarks.md.
func TestSize(t *testing.T) {
	for name, budget := range map[string]int{"sdk.js": 1210, "sdk.mjs": 1200, "sdk-rest.mjs": 6660, "sdk-all.mjs": 7640,
		"sdk-core.mjs": 4580} {
		script, err := dist.ReadFile("dist/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = z.Write(script) // a buffer takes everything
		_ = z.Close()
		if b.Len() > budget {
			t.Errorf("%s has %d bytes gzipped, the budget is %d", name, b.Len(), budget)
		}
	}
}

// The README and the documentation state the sizes that the daemon serves.
func TestStatedSizes(t *testing.T) {
	brotli, zipped := map[string]int{}, map[string]int{}
	for _, s := range built() {
		brotli[s.file], zipped[s.file] = len(s.brotli), len(newFile(s.body, s.hash, "").encoded[0].body)
	}
	kb := func(sizes map[string]int, files ...string) string {
		sum := 0
		for _, name := range files {
			if sizes[name] == 0 {
				t.Fatalf("%s is missing", name)
			}
			sum += sizes[name]
		}
		return fmt.Sprintf("%.1f", float64(sum)/1000)
	}
	const loader, rest, stackless, recorder, all = "sdk.js", "sdk-rest.mjs", "sdk-stackless.mjs", "sdk-recorder.mjs",
		"sdk-all.mjs"
	for path, texts := range map[string][]string{
		"../README.md": {fmt.Sprintf("takes %s KB for visitors who are not profiled and %s KB for profiled ones",
			kb(brotli, loader), kb(brotli, loader, rest, stackless))},
		"../docs/sdk.md": {
			fmt.Sprintf("profiled load %s KB.", kb(brotli, loader)),
			fmt.Sprintf("| not profiled | %s KB | %s KB |", kb(brotli, loader), kb(zipped, loader)),
			fmt.Sprintf("| + %s KB, %s KB for the split", kb(brotli, rest), kb(brotli, stackless)),
			fmt.Sprintf("%s KB for a flight recorder | + %s, %s, %s KB |", kb(brotli, recorder), kb(zipped, rest),
				kb(zipped, stackless), kb(zipped, recorder)),
			fmt.Sprintf("| everything in one file | %s KB | %s KB |", kb(brotli, all), kb(zipped, all)),
		},
	} {
		document, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if !strings.Contains(strings.ReplaceAll(string(document), "\n", " "), text) {
				t.Errorf("%s does not contain %q", path, text)
			}
		}
	}
}
