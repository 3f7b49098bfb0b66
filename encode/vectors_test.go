package encode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
)

// TestVectors encodes the traces of testdata/sdk, like the tests of the browser script: both must
// produce the same bytes. A vector is an envelope for [DecodeProfilerTrace] as JSON, with its
// document, which -update writes.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob("../testdata/sdk/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d vectors, error %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := DecodeTraceJSON(data, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		document, err := EncodeTrace(trace)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		fixture.CompareGolden(t, filepath.Join("..", strings.TrimSuffix(file, ".json")+".ftr"), document)
	}
}
