package build

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// fakeFS has files that report wrong sizes, and files and folders that cannot be opened.
type fakeFS struct {
	fstest.MapFS
	sizes  map[string]int64
	broken map[string]error
}

func (f fakeFS) Open(name string) (fs.File, error) {
	if err := f.broken[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.MapFS.Open(name)
}

func (f fakeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.broken[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.MapFS.ReadDir(name)
}

func (f fakeFS) Stat(name string) (fs.FileInfo, error) {
	info, err := f.MapFS.Stat(name)
	if size, found := f.sizes[name]; found {
		return fakeInfo{info, size}, nil
	}
	return info, err
}

type fakeInfo struct {
	fs.FileInfo
	size int64
}

func (f fakeInfo) Size() int64 { return f.size }

func check(t *testing.T, fsys fs.FS, o Options, want ...string) {
	t.Helper()
	b, err := Find(fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(t, b); !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestTooLarge(t *testing.T) {
	texts := filesOf(map[string]string{"a.js": "x", "b.js": "y", "b.js.map": aMap("b.ts"), "c.js": "z\n//# debugId=" +
		uuid, "c.map": aMap("c.ts", `,"debugId":"`+uuid+`"`)})
	check(t, fakeFS{MapFS: texts, sizes: map[string]int64{"a.js": 64<<20 + 1, "b.js.map": 256<<20 + 1,
		"c.map": 256<<20 + 1}}, Options{},
		"b.js beside b.js.map", "c.js",
		"too-large a.js: the script is too large: 67108865 bytes, the most is 67108864",
		"unreadable-map b.js: map b.js.map: too large: 268435457 bytes, the most is 268435456",
		"no-map c.js: it has no source map")
}

// TestGrows checks that a file that is longer than reported is not read beyond the limit.
func TestGrows(t *testing.T) {
	texts := filesOf(map[string]string{"a.js": strings.Repeat("x", 101), "b.js": strings.Repeat("x", 100)})
	o := Options{Limits: Limits{ScriptBytes: 100}}
	check(t, fakeFS{MapFS: texts, sizes: map[string]int64{"a.js": 1, "b.js": 1}}, o,
		"b.js",
		"too-large a.js: the script is too large: more than 100 bytes",
		"no-map b.js: it has no source map")
}

func TestUnreadable(t *testing.T) {
	texts := filesOf(map[string]string{"a.js": "x", "b.js": "y", "b.js.map": aMap("b.ts"), "x/c.js": "z",
		"x/c.css": ""})
	broken := map[string]error{"a.js": fs.ErrPermission, "b.js.map": fs.ErrPermission, "x": fs.ErrPermission}
	check(t, fakeFS{MapFS: texts, broken: broken}, Options{},
		"b.js beside b.js.map",
		"unreadable a.js: permission denied",
		"unreadable-map b.js: map b.js.map: permission denied",
		"unreadable x: permission denied")
	_, err := Find(fakeFS{MapFS: texts, broken: map[string]error{".": fs.ErrPermission}}, Options{})
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("an unreadable folder: %v", err)
	}
}

func TestTooMany(t *testing.T) {
	texts := filesOf(map[string]string{"a.js": "", "b.js": "", "x/c.js": "", "x/d.css": ""})
	for _, c := range []struct {
		limits Limits
		want   string
	}{
		{Limits{Scripts: 3, Entries: 6}, ""}, // the folder itself is an entry, and so is x
		{Limits{Scripts: 2}, "search folder: more than 2 scripts; pass a folder with fewer"},
		{Limits{Entries: 5}, "search folder: more than 5 files and folders; pass the folder that contains only the " +
			"scripts"},
	} {
		_, err := Find(texts, Options{Limits: c.limits})
		if err == nil && c.want != "" || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %v", c.limits, err)
		}
	}
}

// TestWrittenAgain checks that a script that changed after it was found is not loaded.
func TestWrittenAgain(t *testing.T) {
	texts := filesOf(map[string]string{"a.js": "x", "a.js.map": aMap("a.ts")})
	b, err := Find(texts, Options{})
	if err != nil {
		t.Fatal(err)
	}
	texts["a.js"].Data = []byte("y")
	if _, err := b.Load(b.Scripts[0]); err == nil || !strings.Contains(err.Error(), "a.js: it changed while") {
		t.Errorf("a changed script: %v", err)
	}
	delete(texts, "a.js")
	if _, err := b.Load(b.Scripts[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a deleted script: %v", err)
	}
}

// TestLinks searches a folder on disk, where links matter.
func TestLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write := func(folder, name, text string) {
		t.Helper()
		name = filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	write(outside, "secret.js", "x")
	write(outside, "secret.map", aMap("secret.ts"))
	write(dir, "js/a.js", "x")
	write(dir, "js/a.js.map", aMap("a.ts"))
	write(dir, "b.js", "y\n//# sourceMappingURL=b.map")
	write(dir, "c.js", "y\n//# sourceMappingURL=folder/secret.map")
	link(filepath.Join(outside, "secret.js"), "absolute.js")
	link(filepath.Join(outside, "secret.map"), "b.map")
	link(filepath.Join("..", filepath.Base(outside), "secret.js"), "relative.js")
	link(outside, "folder")
	link("js", "within")
	link("loop2.js", "loop1.js")
	link("loop1.js", "loop2.js")
	link("..", "js/round")
	link("nowhere.js", "dangling.js")
	link("nowhere.css", "dangling.css")
	link(filepath.FromSlash("js/a.js"), "latest.js")
	link(filepath.FromSlash("js/a.js.map"), "latest.js.map")

	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	const noFile = ": a link that does not lead to a file in the folder"
	check(t, root.FS(), Options{},
		"b.js", "c.js",
		"js/a.js beside js/a.js.map of a.ts",
		"latest.js beside latest.js.map of a.ts",
		"link-not-followed absolute.js"+noFile,
		`missing-map b.js: its sourceMappingURL "b.map" does not exist`,
		`missing-map c.js: its sourceMappingURL "folder/secret.map" does not exist`,
		"link-not-followed dangling.js"+noFile,
		"link-not-followed js/round: a link to a folder",
		"link-not-followed loop1.js"+noFile,
		"link-not-followed loop2.js"+noFile,
		"link-not-followed relative.js"+noFile,
		"link-not-followed within: a link to a folder",
	)
}

// TestPipe checks that only regular files are opened: opening a pipe would block.
func TestPipe(t *testing.T) {
	texts := filesOf(map[string]string{"b.js": "x\n//# sourceMappingURL=b.map"})
	texts["a.js"] = &fstest.MapFile{Mode: fs.ModeNamedPipe, ModTime: time.Unix(0, 0)}
	texts["b.map"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	check(t, texts, Options{},
		"b.js",
		"unreadable a.js: not a file",
		`missing-map b.js: its sourceMappingURL "b.map" does not exist`)
}

// FuzzScript checks for scripts with any content that only files in their folder are read.
func FuzzScript(f *testing.F) {
	for _, s := range []string{
		"//# sourceMappingURL=../../etc/passwd", "/*# sourceMappingURL=data:;base64,e30= */",
		"//@ sourceMappingURL=%2e%2e/x?y#z",
		"//# sourceMappingURL=https://[::1]:x/a\n//# debugId=" + uuid, "//# sourceMappingURL=..\\x",
		"//# sourceMappingURL=/", "//# sourceMappingURL=:",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		texts := filesOf(map[string]string{"x/a.js": string(text), "x/b.map": aMap("b.ts"), "c.map": aMap("c.ts",
			`,"file":"x/a.js"`)})
		b, err := Find(validFS{t, texts}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range b.Scripts {
			if _, err := b.Load(s); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// validFS fails the test if an invalid path is requested.
type validFS struct {
	t *testing.T
	fstest.MapFS
}

func (f validFS) Open(name string) (fs.File, error) {
	f.check(name)
	return f.MapFS.Open(name)
}

func (f validFS) Stat(name string) (fs.FileInfo, error) {
	f.check(name)
	return f.MapFS.Stat(name)
}

func (f validFS) check(name string) {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		f.t.Fatalf("the invalid path %q was opened", name)
	}
}
