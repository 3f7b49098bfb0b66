package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// oneChange is a source whose only change is changeID, a function that release r2 made slower.
type oneChange struct{ changes.Source }

const changeID = "94b7ca47cc2dee8a"

func (oneChange) Change(_ context.Context, id string) (changes.Report, error) {
	if id != changeID {
		return changes.Report{}, &query.NotFoundError{}
	}
	place := compare.Place{Name: "parse", Resource: "https://x.example/app.js", Line: 5, Column: 1}
	return changes.Report{Item: changes.Item{Change: watch.Change{ID: id, State: watch.Open, Direction: watch.Slower,
		Detector: watch.ByRelease, Release: "r2", CompareRelease: "r1",
		Begin: noon.Add(time.Minute), What: watch.What{Kind: watch.OfFunction, Metric: "self", Function: &place},
		Causes: []watch.Cause{{Kind: watch.CauseEdited, Text: "parse was edited in release r2: app.js:5"}},
		Pages: []watch.PageChange{{Page: "/feed", Change: compare.Estimate{Value: 10, Low: new(9.0), High: new(11.0)},
			Level: 0.95}}}}}, nil
}

// An explanation of a change has its function and the edit. A verification compares the rest of the
// change.
func TestExplainAndVerify(t *testing.T) {
	o := Options{Open: Fixed(newSource(t)), Changes: func(query.Source) (changes.Source, error) {
		return oneChange{}, nil
	}, Now: func() time.Time { return noon.Add(2 * time.Minute) }}
	s := connect(t, o)
	text, got, failed := call(t, s, "explain", map[string]any{"change": changeID})
	if failed || got["function"].(map[string]any)["name"] != "parse" || len(text) > 6<<10 {
		t.Fatalf("%v\n%s", got, text)
	}
	for _, want := range []string{"parse https://x.example/app.js:5:1\nCost on /feed: self 40 ms",
		"parse was edited in release r2", "Reached by", "  load https://x.example/app.js:4:1\n  main", "Not known: ",
		`verify {"change": "94b7ca47cc2dee8a"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text, _, failed = call(t, s, "explain", map[string]any{"page": "/feed", "name": "main"}); failed ||
		!strings.Contains(text, "Calls:\n") || !strings.Contains(text, "ms: load ") {
		t.Errorf("got\n%s", text)
	}
	for release, want := range map[string]string{"r2": "not mended", "r1": "mended"} {
		text, got, failed := call(t, s, "verify", map[string]any{"change": changeID, "release": release})
		if failed || got["verdict"] != want || !strings.HasPrefix(text, want+": parse on /feed: ") {
			t.Errorf("%s: %v\n%s", release, got, text)
		}
	}
	for _, args := range []map[string]any{{"change": "00"}, {"change": changeID, "release": "r9"}, {"change": ""}} {
		if text, _, failed := call(t, s, "verify", args); !failed {
			t.Errorf("%v: %s", args, text)
		}
	}
}

// in_files lists the functions of files; with a diff, only the edited functions.
func TestInFiles(t *testing.T) {
	s := connect(t, Options{Open: Fixed(newSource(t))})
	all := func(args map[string]any) (names []string) {
		args["page"] = "/feed"
		text, got, failed := call(t, s, "in_files", args)
		if failed {
			t.Fatalf("%v: %s", args, text)
		}
		for _, f := range got["functions"].([]any) {
			names = append(names, f.(map[string]any)["name"].(string))
		}
		return names
	}
	// The line of a function is the length of its name: main and load are at line 4, parse at 5,
	// render at 6.
	if got := all(map[string]any{"paths": []string{"app.js", "src/none.ts"}}); !slices.Equal(got,
		[]string{"parse", "render", "main", "load"}) {
		t.Errorf("got %v", got)
	}
	if got := all(map[string]any{"paths": []string{"pp.js"}}); len(got) != 0 {
		t.Errorf("a part of a file name matches: %v", got)
	}
	diff := "diff --git a/app.js b/app.js\nindex 1..2 100644\n--- a/app.js\n+++ b/app.js\n@@ -2,5 +2,5 @@ x\n two\n " +
		"three\n four\n-five\n+-- a/evil\n six\n"
	if got := all(map[string]any{"diff": diff}); !slices.Equal(got, []string{"parse"}) {
		t.Errorf("got %v", got)
	}
	text, _, _ := call(t, s, "in_files", map[string]any{"page": "/feed", "paths": []string{"src/none.ts"}})
	if !strings.Contains(text, "No function was seen of: src/none.ts") {
		t.Errorf("got %s", text)
	}
}

// The edited lines of a diff are the lines that git reports, for random edits of a file.
func TestReadDiff(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	for round := range 60 {
		var old, fresh []string
		touched := map[uint32]bool{} // lines of old: true if deleted, false if lines were added after it
		for n := uint32(1); n <= 60; n++ {
			line := fmt.Sprintf("line %d of %d", n, round)
			old = append(old, line)
			switch rng.IntN(12) {
			case 0:
				touched[n] = true
			case 1:
				touched[n] = false
				fresh = append(fresh, line, fmt.Sprintf("--- added %d", rng.Uint64()))
			case 2:
				touched[n] = true
				fresh = append(fresh, fmt.Sprintf("@@ -1 +1 @@ edited %d", rng.Uint64()))
			default:
				fresh = append(fresh, line)
			}
		}
		for path, lines := range map[string][]string{before: old, after: fresh} {
			if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "git", "diff", "--no-index", fmt.Sprintf("-U%d", rng.IntN(5)),
			"before", "after")
		cmd.Dir = dir
		diff, err := cmd.Output() // exits with 1 if there is a difference
		if len(touched) == 0 {
			continue
		}
		if err == nil {
			t.Fatal("git sees no difference")
		}
		files, err := readDiff(string(diff))
		if err != nil || len(files) != 1 || files[0].path != "before" {
			t.Fatalf("%+v, %v\n%s", files, err, diff)
		}
		got := map[uint32]bool{}
		for _, l := range files[0].lines {
			for n := l.from; n <= l.to; n++ {
				got[n] = true
			}
		}
		for n, gone := range touched { // if the next line was deleted, too, git may report that one as replaced
			if !got[n] && (gone || !got[n+1]) {
				t.Fatalf("line %d was edited: %v\n%s", n, files[0].lines, diff)
			}
		}
		for n := range got {
			_, here := touched[n]
			// a replacement counts as an edit of the previous line if git lists the new line first
			if _, next := touched[n+1]; !here && !next {
				t.Fatalf("line %d was not edited: %v\n%s", n, files[0].lines, diff)
			}
		}
	}
}

func FuzzReadDiff(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n")
	f.Add("--- a/x\n@@ -0,0 +1,99 @@\n+a")
	f.Fuzz(func(t *testing.T, diff string) {
		files, err := readDiff(diff)
		if err != nil {
			return
		}
		for _, x := range files {
			for _, l := range x.lines {
				if l.from > l.to || l.from == 0 {
					t.Fatalf("%+v of %q", x, diff)
				}
			}
		}
	})
}
