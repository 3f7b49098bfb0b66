package encode

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

const releasedFolder = "../testdata/format/v1"

// releasedFiles makes the documents of version 1. They were written once; the current encoder may
// write them differently.
func releasedFiles(t *testing.T) map[string][]byte {
	trace := func(tr *trie.Trace) []byte {
		b, err := EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	profile := func(p *trie.Profile) []byte {
		b, err := EncodeProfile(p)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return map[string][]byte{
		"minimal":    trace(fixture.MinimalTrace()),
		"full":       trace(fixture.FullTrace()),
		"unknown":    trace(fixture.UnknownTrace()),
		"odd":        trace(fixture.OddTrace()),
		"real":       trace(fixture.RepositoryTrace(t, "preact-complex.json", DecodeProfilerTrace)),
		"profile":    profile(fixture.GroupedProfile()),
		"difference": profile(fixture.Difference()),
		"phases":     trace(fixture.PhasesTrace()),
		"cost":       trace(fixture.CostTrace()),
		"idle":       profile(fixture.IdleProfile()),
	}
}

// TestReleased checks that documents of a released version can be read indefinitely, and are
// written unchanged.
func TestReleased(t *testing.T) {
	if *fixture.Update {
		for name, data := range releasedFiles(t) {
			writeOnce(t, name+".ftr", data)
			writeOnce(t, name+".dump", dump(t, data))
		}
	}
	files := released(t)
	if len(files) < 10 {
		t.Fatalf("got %d documents, want 10 or more: they are never removed", len(files))
	}
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			again, err := reencode(data, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again, data) {
				t.Errorf("written again: %s", fixture.FirstDifference(dump(t, again), dump(t, data)))
			}
			want, err := os.ReadFile(filepath.Join(releasedFolder, name+".dump"))
			if err != nil {
				t.Fatal(err)
			}
			if got := dump(t, data); !bytes.Equal(got, want) {
				t.Errorf("dump: %s", fixture.FirstDifference(got, want))
			}
		})
	}
}

func writeOnce(t *testing.T, name string, data []byte) {
	t.Helper()
	path := filepath.Join(releasedFolder, name)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// released returns the documents of testdata/format/v1.
func released(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(releasedFolder + "/*.ftr")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(path), ".ftr")] = data
	}
	return files
}

// reencode decodes a document and encodes it again.
func reencode(data []byte, lim Limits) ([]byte, error) {
	d, err := DecodeBinary(data, lim)
	if err != nil {
		return nil, err
	}
	if d.Trace != nil {
		return EncodeTrace(d.Trace)
	}
	return EncodeProfile(d.Profile)
}
