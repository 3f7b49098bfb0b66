// Package bundles reads production builds with the true names of their functions, to measure the
// quality of naming. Builds are folders:
//
//	NAME.js, NAME.js.map  scripts and their maps
//	truth.json            for each script rows [line, column, name] of all functions, as V8 gives
//	                      them, followed by file, line, column, name, class, kind of the
//	                      original where it is known
//	trace.json            a trace of the JS Self-Profiling API of the running program (optional)
//	same.json             rows [script, line, column, script, line, column]: a function of an
//	                      older build, and the same, unchanged, in this one (optional)
//	edits.json            in NAME-editN: what became of each function of the sources of NAME, see
//	                      [Edit] (optional)
package bundles

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Build is one build of a program.
type Build struct {
	Name    string
	Scripts []Script // sorted by name
	Trace   []byte   // nil if there is none
	Same    []Pair
	Edits   []Edit
}

// Script is a script of a build.
type Script struct {
	Name  string
	Text  []byte
	Map   []byte
	Truth []Row
}

// Row is a function of a script.
type Row struct {
	Line, Column uint32
	Minified     string
	// Known reports whether the original is known, which the other fields describe.
	Known                    bool
	File                     string
	SourceLine, SourceColumn uint32
	Name, Class, Kind        string
}

// Place identifies a function of a script by its start.
type Place struct {
	Script       string
	Line, Column uint32
}

// Pair is a function of an older build and the same function in a newer one.
type Pair struct{ Old, New Place }

// Edit is the fate of a function of the sources, according to a parser and to the edits made.
// Before and After are its places, zero if it does not exist there.
type Edit struct {
	Kind          string // unchanged, moved, around, edited, replaced (edited and moved), added, removed
	Before, After SourcePlace
}

// SourcePlace identifies a function of the sources.
type SourcePlace struct {
	File         string
	Line, Column uint32
}

// Read reads the builds in a folder and in its archives *.tar.zst, sorted by name.
func Read(dir string) ([]Build, error) {
	files, err := Files(dir)
	if err != nil {
		return nil, err
	}
	byBuild := map[string]map[string][]byte{} // and name
	for name, content := range files {
		build := path.Base(path.Dir(name))
		if byBuild[build] == nil {
			byBuild[build] = map[string][]byte{}
		}
		byBuild[build][path.Base(name)] = content
	}
	var out []Build
	for name, of := range byBuild {
		b, err := newBuild(name, of)
		if err != nil {
			return nil, fmt.Errorf("build %s: %w", name, err)
		}
		if len(b.Scripts) > 0 {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b Build) int { return strings.Compare(a.Name, b.Name) })
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no builds with a script, its map and truth.json or same.json", dir)
	}
	return out, nil
}

// Files returns the files of all builds in a folder and its archives by path, with slashes. Paths
// in an archive are relative to the archive's folder.
func Files(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case d.IsDir():
			return nil
		case strings.HasSuffix(name, ".tar.zst"):
			return readArchive(name, files)
		case wanted(name):
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			within, err := filepath.Rel(dir, name)
			files[filepath.ToSlash(filepath.Join(filepath.Base(dir), within))] = content
			return err
		}
		return nil
	})
	return files, err
}

func wanted(name string) bool {
	return strings.HasSuffix(name, ".js") || strings.HasSuffix(name, ".js.map") ||
		slices.Contains([]string{"truth.json", "trace.json", "same.json", "edits.json"}, path.Base(name))
}

func readArchive(name string, files map[string][]byte) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	z, err := zstd.NewReader(f)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer z.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if h.Typeflag != tar.TypeReg || !wanted(h.Name) {
			continue
		}
		if files[path.Clean(h.Name)], err = io.ReadAll(r); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
}

// newBuild makes a build from its files. Folders without truth.json and same.json are not
// builds.
func newBuild(name string, files map[string][]byte) (Build, error) {
	b := Build{Name: name, Trace: files["trace.json"]}
	truth := map[string][]Row{}
	if text := files["truth.json"]; text != nil {
		if err := json.Unmarshal(text, &truth); err != nil {
			return b, fmt.Errorf("read truth.json: %w", err)
		}
	}
	if text := files["same.json"]; text != nil {
		if err := json.Unmarshal(text, &b.Same); err != nil {
			return b, fmt.Errorf("read same.json: %w", err)
		}
	}
	if text := files["edits.json"]; text != nil {
		if err := json.Unmarshal(text, &b.Edits); err != nil {
			return b, fmt.Errorf("read edits.json: %w", err)
		}
	}
	if len(truth) == 0 && len(b.Same) == 0 {
		return b, nil
	}
	for script, text := range files {
		if m := files[script+".map"]; strings.HasSuffix(script, ".js") && m != nil {
			b.Scripts = append(b.Scripts, Script{script, text, m, truth[script]})
		}
	}
	slices.SortFunc(b.Scripts, func(a, b Script) int { return strings.Compare(a.Name, b.Name) })
	return b, nil
}

// UnmarshalJSON reads a row of truth.json.
func (r *Row) UnmarshalJSON(text []byte) error {
	var cells []json.RawMessage
	if err := json.Unmarshal(text, &cells); err != nil {
		return err
	}
	to := []any{&r.Line, &r.Column, &r.Minified, &r.File, &r.SourceLine, &r.SourceColumn, &r.Name, &r.Class, &r.Kind}
	if len(cells) != 3 && len(cells) != len(to) {
		return fmt.Errorf("a row of %d cells", len(cells))
	}
	r.Known = len(cells) > 3
	return unmarshalCells(cells, to)
}

// UnmarshalJSON reads a row of same.json.
func (p *Pair) UnmarshalJSON(text []byte) error {
	var cells []json.RawMessage
	if err := json.Unmarshal(text, &cells); err != nil {
		return err
	}
	to := []any{&p.Old.Script, &p.Old.Line, &p.Old.Column, &p.New.Script, &p.New.Line, &p.New.Column}
	if len(cells) != len(to) {
		return fmt.Errorf("a pair of %d cells", len(cells))
	}
	return unmarshalCells(cells, to)
}

// MarshalJSON writes a row of edits.json.
func (e Edit) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{e.Kind, e.Before.File, e.Before.Line, e.Before.Column, e.After.File, e.After.Line,
		e.After.Column})
}

// UnmarshalJSON reads a row of edits.json.
func (e *Edit) UnmarshalJSON(text []byte) error {
	var cells []json.RawMessage
	if err := json.Unmarshal(text, &cells); err != nil {
		return err
	}
	to := []any{&e.Kind, &e.Before.File, &e.Before.Line, &e.Before.Column, &e.After.File, &e.After.Line,
		&e.After.Column}
	if len(cells) != len(to) {
		return fmt.Errorf("an edit of %d cells", len(cells))
	}
	return unmarshalCells(cells, to)
}

func unmarshalCells(cells []json.RawMessage, to []any) error {
	for i, c := range cells {
		if err := json.Unmarshal(c, to[i]); err != nil {
			return err
		}
	}
	return nil
}

var editedName = regexp.MustCompile(`-edit\d+$`)

// Original returns the name of the build that a build with edits is made from, "" if it has none.
func (b *Build) Original() string {
	if len(b.Edits) == 0 || !editedName.MatchString(b.Name) {
		return ""
	}
	return editedName.ReplaceAllString(b.Name, "")
}
