package sdk

import (
	"bytes"
	"compress/gzip"
	"testing"
)

// TestSize holds the built scripts to budgets of gzipped bytes. That of the loader is what all
// visitors pay; those of the others are a little above what they have. docs/benchmarks.md has what is
// aimed for.
func TestSize(t *testing.T) {
	for name, budget := range map[string]int{"sdk.js": 1210, "sdk.mjs": 1200, "sdk-rest.mjs": 6630, "sdk-all.mjs": 7600, "sdk-core.mjs": 4580} {
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
