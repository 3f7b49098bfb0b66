package naming

import (
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestBefore checks that the first library with a table for a script names it.
func TestBefore(t *testing.T) {
	first, second, empty := &library{}, &library{}, &library{}
	first.add("", "a.js", table(1, fn(10, "a", "first", 1)))
	second.add("", "a.js", table(2, fn(10, "a", "second", 2)))
	second.add("", "b.js", table(3, fn(20, "b", "other", 3)))
	inA, inB, changed := at("https://x.test/a.js", "a", 10), at("https://x.test/b.js", "b", 20),
		at("https://x.test/a.js", "z", 10)
	for _, tt := range []struct {
		name    string
		by      *Symbolizer
		a, b    string
		problem Problem // of changed, which is not a function of any table
	}{
		{"both", New(first).Before(New(second)), "first", "other", OtherBuild},
		{"in reverse order", New(second).Before(New(first)), "second", "other", OtherBuild},
		{"with an empty library", New(empty).Before(New(first)), "first", "b", OtherBuild},
		{"with a nil library", New(first).Before(nil), "first", "b", OtherBuild},
		{"a nil library first", (*Symbolizer)(nil).Before(New(second)), "second", "other", OtherBuild},
		{"three", New(empty).Before(New(first)).Before(New(second)), "first", "other", OtherBuild},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := tt.by.Begin()
			n.See("", inA, 1)
			n.See("", inB, 1)
			names := n.Names()
			if a, b := names.Of("", inA).Name, names.Of("", inB).Name; a != tt.a || b != tt.b {
				t.Errorf("got %s and %s, want %s and %s", a, b, tt.a, tt.b)
			}
			n = tt.by.Begin()
			n.See("", changed, 1)
			if got := n.Names().Coverage().Missing; len(got) != 1 || got[0].Problem != tt.problem {
				t.Errorf("got %+v, want %s", got, tt.problem)
			}
		})
	}
	if (*Symbolizer)(nil).Before(nil).Begin() != nil || New(empty).Before(New(empty)).Begin() != nil {
		t.Error("a symbolizer without tables begins to name")
	}
	both := New(first).Before(New(second))
	before := both.Generation()
	if second.n++; both.Generation() == before {
		t.Error("the generation does not depend on the second library")
	}
}

// TestCoverageAdd checks that a sum lists the heaviest scripts of both, and counts the others.
func TestCoverageAdd(t *testing.T) {
	a, b := Coverage{Self: 10, Named: 4, Builds: 1, Bounded: 1}, Coverage{Self: 7, Named: 7, Builds: 2, More: 1}
	for i := range listedMissing {
		a.Missing = append(a.Missing, Missing{Resource: fmt.Sprint("a", i), Self: 1})
		b.Missing = append(b.Missing, Missing{Resource: fmt.Sprint("b", i), Self: 2})
	}
	a.Add(&b)
	a.Add(nil)
	if a.Self != 17 || a.Named != 11 || a.Builds != 3 || a.Bounded != 1 || a.More != listedMissing+1 ||
		len(a.Missing) != listedMissing || a.Missing[listedMissing-1].Self != 2 {
		t.Errorf("got %+v", a)
	}
	if b.Missing[0].Resource != "b0" || len(b.Missing) != listedMissing {
		t.Error("the argument was changed")
	}
}

// library is a Library for tests.
type library struct {
	uploads []symbols.Upload
	tables  map[string]*symbols.Table
	n       int
}

func (l *library) Uploads() []symbols.Upload { return l.uploads }
func (l *library) Generation() string        { return fmt.Sprint(l.n) }
func (l *library) Table(key string) (*symbols.Table, error) {
	if t := l.tables[key]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("table %s is damaged", key)
}

// add adds a build with one script as the newest.
func (l *library) add(release, path string, t *symbols.Table) {
	key := hex.EncodeToString(t.Script[:])
	l.uploads = slices.Insert(l.uploads, 0, symbols.Upload{Release: release, Scripts: []symbols.Script{{Path: path,
		SHA256: key, DebugID: t.DebugID}}})
	if l.tables == nil {
		l.tables = map[string]*symbols.Table{}
	}
	l.tables[key] = t
	l.n++
}

// table returns a table of functions of src/a.ts, on consecutive source lines, that begin at the
// given columns of line 1.
func table(n byte, functions ...symbols.Function) *symbols.Table {
	t := &symbols.Table{Script: [32]byte{n}, Sources: []symbols.Source{{Name: "src/a.ts"}}}
	for _, f := range functions {
		f.Line, f.Way = 1, symbols.Start
		if f.SourceLine == 0 {
			f.SourceLine = f.Column
		}
		f.SourceColumn = 5
		t.Functions = append(t.Functions, f)
	}
	return t
}

func fn(column uint32, minified, name string, key uint64) symbols.Function {
	return symbols.Function{Column: column, Minified: minified, Name: name, Key: key}
}

func at(resource, name string, column uint32) trie.Frame {
	return trie.Frame{Name: name, Resource: resource, Line: 1, Column: column}
}

func source(name string, line uint32) trie.Frame {
	return trie.Frame{Name: name, Resource: "src/a.ts", Line: line, Column: 5}
}

// name returns the names of frames of one release, each with 1 ms of self time.
func name(l Library, release string, frames ...trie.Frame) *Names {
	n := New(l).Begin()
	for _, f := range frames {
		n.See(release, f, 1000)
	}
	return n.Names()
}

const appURL = "https://cdn.example.com/shop/assets/app-3f9a81bc.js"

func TestNames(t *testing.T) {
	l := &library{}
	l.add("A", "assets/app-3f9a81bc.js", table(1, fn(10, "a", "renderRow", 1), fn(20, "", "Board/useEffect()", 2),
		fn(30, "c", "c", 0)))
	layout := trie.Frame{Name: trie.FrameLayout}
	elsewhere := at("https://other.example/x.js", "q", 3)
	names := name(l, "A", at(appURL, "a", 10), at(appURL, "", 20), at(appURL, "", 1), layout, elsewhere)
	for raw, want := range map[trie.Frame]trie.Frame{
		at(appURL, "a", 10): source("renderRow", 10),
		at(appURL, "", 20):  source("Board/useEffect()", 20),
		at(appURL, "", 1):   {Name: TopLevel, Resource: "assets/app.js", Line: 1, Column: 1},
		layout:              layout,
		elsewhere:           elsewhere,
	} {
		if got := names.Of("A", raw); got != want {
			t.Errorf("%v becomes %v, not %v", raw, got, want)
		}
	}
	c := names.Coverage()
	if c.Self != 4000 || c.Named != 3000 || c.Builds != 1 || c.Bounded != 0 || len(c.Missing) != 1 ||
		c.Missing[0] != (Missing{"https://other.example/x.js", "", 1000, NoSymbols}) {
		t.Errorf("coverage %+v", c)
	}
	if o, ok := names.Origin(source("renderRow", 10)); !ok || o.Release != "A" || o.Source.Name != "src/a.ts" {
		t.Errorf("origin %+v", o)
	}
}

// A function at different places in two releases becomes one, at the place in the newest.
func TestNewestPlace(t *testing.T) {
	l := &library{}
	l.add("A", "app-aaaaaaa1.js", table(1, fn(10, "a", "renderRow", 1)))
	l.add("B", "app-bbbbbbb2.js", table(2, symbols.Function{Column: 99, Minified: "b", Name: "renderRow", Key: 1,
		SourceLine: 44}))
	old, fresh := at("https://x/app-aaaaaaa1.js", "a", 10), at("https://x/app-bbbbbbb2.js", "b", 99)
	n := New(l).Begin()
	n.See("A", old, 1)
	n.See("B", fresh, 1)
	names := n.Names()
	if a, b := names.Of("A", old), names.Of("B", fresh); a != b || a != source("renderRow", 44) {
		t.Errorf("%v and %v", a, b)
	}
	if c := names.Coverage(); c.Builds != 2 || c.Bounded != 0 {
		t.Errorf("coverage %+v", c)
	}
	if alone := name(l, "A", old).Of("A", old); alone != source("renderRow", 10) {
		t.Errorf("without the newer build: %v", alone)
	}
}

// Without hashes in names, the release distinguishes builds.
func TestReleases(t *testing.T) {
	l := &library{}
	l.add("A", "app.js", table(1, fn(10, "a", "renderRow", 1)))
	l.add("B", "app.js", table(2, fn(10, "a", "renderCell", 2)))
	f := at("https://x/app.js", "a", 10)
	n := New(l).Begin()
	if !n.ByRelease() {
		t.Fatal("the release does not matter")
	}
	for _, release := range []string{"A", "B", "C"} {
		n.See(release, f, 1)
	}
	names := n.Names()
	for release, want := range map[string]trie.Frame{"A": source("renderRow", 10), "B": source("renderCell",
		10), "C": f} {
		if got := names.Of(release, f); got != want {
			t.Errorf("release %s: %v, not %v", release, got, want)
		}
	}
	if m := names.Coverage().Missing; len(m) != 1 || m[0].Problem != SeveralBuilds {
		t.Errorf("missing %+v", m)
	}
}

// A table of another build and an unreadable table are rejected.
func TestFit(t *testing.T) {
	l := &library{}
	l.add("A", "app.js", table(1, fn(10, "a", "one", 1), fn(20, "b", "two", 2), fn(30, "c", "three", 3)))
	for what, frames := range map[string][]trie.Frame{
		"another place": {at("/app.js", "a", 10), at("/app.js", "b", 21)},
		"another name":  {at("/app.js", "a", 10), at("/app.js", "x", 20)},
	} {
		names := name(l, "A", frames...)
		if got := names.Of("A", frames[0]); got != frames[0] {
			t.Errorf("%s: %v is %v", what, frames[0], got)
		}
		if m := names.Coverage().Missing; len(m) != 1 || m[0].Problem != OtherBuild {
			t.Errorf("%s: missing %+v", what, m)
		}
	}
	clear(l.tables)
	if m := name(l, "A", at("/app.js", "a", 10)).Coverage().Missing; len(m) != 1 || m[0].Problem != Damaged {
		t.Errorf("damaged: missing %+v", m)
	}
}

func TestDebugID(t *testing.T) {
	l := &library{}
	one, two := table(1, fn(10, "a", "one", 1)), table(2, fn(10, "a", "two", 2))
	one.DebugID, two.DebugID = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
	l.add("A", "app.js", one)
	l.add("A", "app.js", two)
	f := at("https://x/elsewhere.js#debugId=22222222-2222-2222-2222-222222222222", "a", 10)
	if got := name(l, "A", f).Of("A", f); got.Name != "two" {
		t.Errorf("got %v", got)
	}
}

// If two functions of one release become one, a page view may have had both.
func TestBounded(t *testing.T) {
	l := &library{}
	l.add("A", "a.js", table(1, fn(10, "a", "shared", 1)))
	l.uploads[0].Scripts = append(l.uploads[0].Scripts, symbols.Script{Path: "b.js",
		SHA256: hex.EncodeToString(append([]byte{2}, make([]byte, 31)...))})
	l.tables[l.uploads[0].Scripts[1].SHA256] = table(2, fn(10, "b", "shared", 1))
	names := name(l, "A", at("/a.js", "a", 10), at("/b.js", "b", 10))
	if c := names.Coverage(); c.Bounded != 1 || c.Named != 2000 {
		t.Errorf("coverage %+v", c)
	}
}

func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		path, prefix, url string
		fits              bool
	}{
		{"assets/app.js", "", "https://x/assets/app.js", true},
		{"assets/app.js", "", "https://x/shop/assets/app.js?v=3#top", true},
		{"assets/app.js", "", "https://x/assets/other/app.js", false},
		{"assets/app.js", "", "https://x/my-assets/app.js", false},
		{"dist/assets/app.js", "", "https://x/assets/app.js", true}, // uploaded from a folder above
		{"js/main.2f9c1d8e.js", "", "https://cdn.example/v7/main.2f9c1d8e.js", true},
		{"js/main.js", "", "https://cdn.example/v7/main.js", false},
		{"app.js", "https://cdn.example/a", "https://cdn.example/a/app.js", true},
		{"app.js", "https://cdn.example/a/", "https://cdn.example/b/app.js", false},
		{"app.js", "", "file:///home/x/dist/app.js", true},
		{"app.js", "", "/dist/app.js", true},
	} {
		x := newIndex("", []symbols.Upload{{Scripts: []symbols.Script{{Path: c.path, Prefix: c.prefix, SHA256: "1"}}}})
		if got := len(x.candidates(c.url, "")) > 0; got != c.fits {
			t.Errorf("%s %s for %s: %v", c.prefix, c.path, c.url, got)
		}
	}
}

func TestUnhashed(t *testing.T) {
	for name, want := range map[string]string{
		"app.js": "app.js", "index-9lHXMEr8.js": "index.js", "index-_qQh4OrC.js": "index.js",
		"main.c86a7e54.js": "main.js",
		"877.24de488d.js":  "877.js", "main-6EVULTTI.js": "main.js", "2.8e539c84.chunk.js": "2.chunk.js",
		"jquery-3.7.1.min.js": "jquery-3.7.1.min.js", "user-settings.js": "user-settings.js",
		"vendor-production.js": "vendor-production.js",
		"0a3f9c1d8e2b.js":      "(hash).js", "CheckoutPage-BhXk21Qs.mjs": "CheckoutPage.mjs",
		"CustomerDashboard.js": "CustomerDashboard.js",
		"index-DkXyzAbc.js":    "index.js", "UserPage.js": "UserPage.js", "app.UserPage.js": "app.UserPage.js",
	} {
		if got := unhashed(name); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
}

// A function inserted before others without names does not get their times.
func TestShiftedKeys(t *testing.T) {
	effect := func(column, line uint32, key uint64, text uint32) symbols.Function {
		return symbols.Function{Column: column, Name: "List/useEffect()", Key: key, Text: text, SourceLine: line}
	}
	l := &library{}
	l.add("A", "app-aaaaaaa1.js", table(1, effect(10, 5, 1, 111), effect(20, 6, 2, 222), effect(30, 7, 3, 333)))
	l.add("B", "app-bbbbbbb2.js", table(2, effect(11, 5, 1, 999), effect(21, 6, 2, 111), effect(31, 7, 3, 222)))
	n := New(l).Begin()
	frames := map[string]trie.Frame{}
	for _, c := range []struct {
		release, url string
		column       uint32
	}{{"A", "/app-aaaaaaa1.js", 10}, {"A", "/app-aaaaaaa1.js", 20}, {"A", "/app-aaaaaaa1.js", 30},
		{"B", "/app-bbbbbbb2.js", 11}, {"B", "/app-bbbbbbb2.js", 21}, {"B", "/app-bbbbbbb2.js", 31}} {
		f := at(c.url, "", c.column)
		frames[fmt.Sprint(c.release, c.column)] = f
		n.See(c.release, f, 1)
	}
	names := n.Names()
	for of, line := range map[string]uint32{"A10": 6, "A20": 7, "B11": 5, "B21": 6, "B31": 7} {
		if got := names.Of(of[:1], frames[of]); got != source("List/useEffect()", line) {
			t.Errorf("%s is %v, not in line %d", of, got, line)
		}
	}
	if gone := names.Of("A", frames["A30"]); gone == names.Of("B", frames["B31"]) {
		t.Errorf("the deleted function is %v", gone)
	}
}
