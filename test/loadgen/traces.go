package loadgen

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// ReadTraces reads the traces of a folder in the order of file names. Files end in .json
// or .json.gz and have one trace each, in a format of [encode.DecodeTraceJSON]. Traces
// without samples are left out. A folder without traces is an error.
func ReadTraces(dir string) ([]*trie.Trace, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []*trie.Trace
	for _, e := range entries {
		if !strings.HasSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".json") {
			continue
		}
		t, err := readTrace(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if len(t.Samples) > 0 {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no traces in *.json or *.json.gz in %s", dir)
	}
	return out, nil
}

func readTrace(name string) (*trie.Trace, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	}
	return encode.DecodeTraceJSON(data, encode.Limits{})
}
