package sdk

import (
	"bytes"
	"compress/gzip"
	"testing"
)

// TestSize holds the built scripts to a budget of gzipped bytes. It is a little above
// what they have; docs/benchmarks.md has what is aimed for.
func TestSize(t *testing.T) {
	for name, budget := range map[string]int{"fieldtrie.mjs": 4750, "core.mjs": 4150} {
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
