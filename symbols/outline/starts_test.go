package outline_test

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/symbols/outline"
	"github.com/klauspost/compress/zstd"
)

// place is a line and a column from 1, the latter in UTF-16 units.
type place struct{ line, column int }

// frame is a function as reported by V8: [line, column, name, …].
type frame struct {
	place
	name string
}

func (f *frame) UnmarshalJSON(data []byte) error {
	var row []any
	if err := json.Unmarshal(data, &row); err != nil {
		return err
	}
	f.line, f.column, f.name = int(row[0].(float64)), int(row[1].(float64)), row[2].(string)
	return nil
}

// places returns the places of all offsets of a text. A byte order mark has none.
func places(text string) []place {
	at := make([]place, len(text)+1)
	now := place{1, 1}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		at[i] = now
		switch {
		case i == 0 && r == '\ufeff':
		case r == '\n', r == '\u2028', r == '\u2029', r == '\r' && !strings.HasPrefix(text[i+1:], "\n"):
			now = place{now.line + 1, 1}
		case r > 0xffff:
			now.column += 2
		default:
			now.column++
		}
		i += size
	}
	at[len(text)] = now
	return at
}

// framesOf returns the functions of a text in the form of V8.
func framesOf(t *testing.T, text []byte) map[place]string {
	t.Helper()
	functions, unclear, err := outline.Functions(text, outline.Script)
	if err != nil || unclear > 0 {
		t.Errorf("%d places unclear, error %v", unclear, err)
	}
	at := places(string(text))
	frames := make(map[place]string, len(functions))
	for _, f := range functions {
		name := f.Name
		if f.Binding == outline.Member {
			name = ""
		}
		frames[at[f.Place]] = name
	}
	return frames
}

// compare checks that all wanted frames exist with their names.
func compare(t *testing.T, got map[place]string, want []frame, mayLack int) {
	t.Helper()
	for _, w := range want {
		name, found := got[w.place]
		switch {
		case !found && mayLack > 0:
			mayLack--
		case !found:
			t.Errorf("%d:%d: no function, want %q", w.line, w.column, w.name)
		case name != w.name:
			t.Errorf("%d:%d: %q, want %q", w.line, w.column, name, w.name)
		}
	}
}

func readStarts(t *testing.T, folder string) map[string][]frame {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "starts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var starts map[string][]frame
	if err := json.Unmarshal(data, &starts); err != nil {
		t.Fatal(err)
	}
	return starts
}

// TestStarts compares with the functions that Chromium reported.
func TestStarts(t *testing.T) {
	folder := filepath.Join("testdata", "starts")
	for script, frames := range readStarts(t, folder) {
		t.Run(script, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder, script))
			if err != nil {
				t.Fatal(err)
			}
			if frames[0].place == (place{1, 1}) && frames[0].name == "" {
				frames = frames[1:] // the script itself
			}
			compare(t, framesOf(t, text), frames, 0)
		})
	}
}

// sourcemaps is a folder with starts/ and board.tar.zst, bundles with all their functions.
func sourcemaps(t testing.TB) string {
	folder := os.Getenv("SOURCEMAPS")
	if folder == "" {
		t.Skip("SOURCEMAPS names no folder with bundles")
	}
	return folder
}

// bundles returns the files of board.tar.zst.
func bundles(t testing.TB) map[string][]byte {
	file, err := os.Open(filepath.Join(sourcemaps(t), "board.tar.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Close()
	files := map[string][]byte{}
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[path.Clean(header.Name)] = data
	}
}

// TestBundles compares with all functions of bundles. One of each may be missing.
func TestBundles(t *testing.T) {
	files := bundles(t)
	checked := 0
	for name, data := range files {
		if path.Base(name) != "truth.json" {
			continue
		}
		var truth map[string][]frame
		if err := json.Unmarshal(data, &truth); err != nil {
			t.Fatal(err)
		}
		for script, frames := range truth {
			name := path.Join(path.Dir(name), script)
			t.Run(name, func(t *testing.T) {
				checked++
				got := framesOf(t, files[name])
				compare(t, got, frames, 1)
				for _, f := range frames {
					delete(got, f.place)
				}
				if len(got) > 1 {
					t.Errorf("unexpected functions: %v", got)
				}
			})
		}
	}
	if checked == 0 {
		t.Error("no truth.json")
	}
}
