package sdk

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
)

// TestEncoder compares the encoder of the script with the Go encoder, on all traces in the folder
// $TRACES or in testdata/traces: both must write the same bytes.
func TestEncoder(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v; make setup installs it", err)
	}
	dir := cmp.Or(os.Getenv("TRACES"), "../testdata/traces")
	files, err := filepath.Glob(filepath.Join(dir, "*.json*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d traces in %s, error %v", len(files), dir, err)
	}
	out, err := exec.Command(node, append([]string{"test/encode-files.js"}, files...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		want := encoded(t, file)
		if len(out) < 4 || uint32(len(out)-4) < binary.LittleEndian.Uint32(out) {
			t.Fatalf("%s: the output ends early", file)
		}
		n := 4 + binary.LittleEndian.Uint32(out)
		if got := out[4:n]; !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes differ from the %d of the Go encoder", file, len(got), len(want))
		}
		out = out[n:]
	}
}

// encoded returns the trace in file as encoded by the Go encoder.
func encoded(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	trace, err := encode.DecodeTraceJSON(data, encode.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	document, err := encode.EncodeTrace(trace)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return document
}
