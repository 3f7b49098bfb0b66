package local_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/local"
)

// symbolFiles are some as package tables has them, by their paths in the data directory.
func symbolFiles() map[string]string {
	return map[string]string{
		"symbols/tables/ab/ab" + strings.Repeat("0", 62):     "a table",
		"symbols/tables/ab/ab" + strings.Repeat("1", 62):     strings.Repeat("another", 1000),
		"symbols/tables/cd/cd" + strings.Repeat("2", 62):     "a third",
		"symbols/uploads/20261121T120000.000Z-abcdefgh.json": `{"release":"A"}`,
	}
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readFiles returns the files below a folder of a directory.
func readFiles(t *testing.T, dir, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// smallBackup returns a backup of a store with a trace and some files.
func smallBackup(t *testing.T, c *clock, files map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, c))
	mustAppend(t, s, testRecord(1))
	writeFiles(t, dir, files)
	var b bytes.Buffer
	if _, err := s.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Symbols are in a backup, and what lies beside them is not. Without symbols the stream is one that
// older programs restore.
func TestBackupSymbols(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	restored := func(stream []byte) map[string]string {
		t.Helper()
		to := filepath.Join(t.TempDir(), "x")
		if _, err := local.Restore(t.Context(), bytes.NewReader(stream), to, testOptions(t, c), nil); err != nil {
			t.Fatal(err)
		}
		return readFiles(t, to, "symbols")
	}
	if stream := smallBackup(t, c, nil); !bytes.Contains(stream, []byte(`{"backup":2,`)) || len(restored(stream)) > 0 {
		t.Error("a stream without symbols is not one of version 2")
	}
	files := symbolFiles()
	beside := maps.Clone(files)
	beside["symbols/tables/ab/x.tmp"] = "half"
	beside["symbols/uploads/x.json.tmp"] = "half"
	beside["symbols/mine"] = "mine"
	stream := smallBackup(t, c, beside)
	if !bytes.Contains(stream, []byte(`{"backup":3,`)) {
		t.Error("a stream with symbols is not one of version 3")
	}
	if got := restored(stream); !maps.Equal(got, files) {
		t.Errorf("restored %v", got)
	}
}

// What is not as it was written, or has another name, is refused, and nothing is left.
func TestRestoreSymbolsDamaged(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	stream := smallBackup(t, c, symbolFiles())
	for what, change := range map[string]func(h *tar.Header, b []byte) (keep bool){
		"a file without its content": func(h *tar.Header, b []byte) bool {
			if strings.HasPrefix(h.Name, "symbols/tables/cd/") {
				b[0] ^= 1
			}
			return true
		},
		"one file less":     func(h *tar.Header, _ []byte) bool { return !strings.HasPrefix(h.Name, "symbols/tables/cd/") },
		"no symbols at all": func(h *tar.Header, _ []byte) bool { return !strings.HasPrefix(h.Name, "symbols/") },
		"no sums of them":   func(h *tar.Header, _ []byte) bool { return h.Name != "symbols/SHA256SUMS" },
		"a name that leads elsewhere": func(h *tar.Header, _ []byte) bool {
			if strings.HasPrefix(h.Name, "symbols/uploads/") {
				h.Name = "symbols/../../x.json"
			}
			return true
		},
		"a name of something else": func(h *tar.Header, _ []byte) bool {
			if strings.HasPrefix(h.Name, "symbols/uploads/") {
				h.Name = "symbols/uploads/x"
			}
			return true
		},
	} {
		to := filepath.Join(t.TempDir(), "x")
		_, err := local.Restore(t.Context(), bytes.NewReader(rewritten(t, stream, change)), to, testOptions(t, c), nil)
		if err == nil || !strings.Contains(err.Error(), "the backup is damaged or cut off") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something is left: %v", what, err)
		}
	}
}

// rewritten returns a tar stream with what change makes of its entries.
func rewritten(t *testing.T, stream []byte, change func(h *tar.Header, b []byte) bool) []byte {
	t.Helper()
	in := tar.NewReader(bytes.NewReader(stream))
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(in)
		}
		if err == nil && change(h, content) {
			if err = out.WriteHeader(h); err == nil {
				_, err = out.Write(content)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
