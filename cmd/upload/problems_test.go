package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/build"
)

// names returns n names of sources.
func names(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("node_modules/p%d/min.js", i))
	}
	return names
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		functions, kept   int
		sources, minified int
		want              []build.Kind
	}{
		"no problem":                         {1000, 0, 100, 0, nil},
		"empty":                              {0, 0, 0, 0, nil},
		"nine of ten functions have a name":  {1000, 100, 100, 0, nil},
		"fewer than nine of ten have a name": {1000, 101, 100, 0, []build.Kind{fewNames}},
		"few functions without a name":       {20, 9, 5, 0, nil},
		"enough functions without a name":    {20, 10, 5, 0, []build.Kind{fewNames}},
		"one of many sources is minified":    {1000, 0, 100, 1, nil},
		"a tenth of the sources is minified": {1000, 0, 100, 10, []build.Kind{shipMinified}},
		"two of a few sources are minified":  {1000, 0, 4, 2, nil},
		"the only source is minified":        {1000, 0, 1, 1, []build.Kind{shipMinified}},
		"both":                               {100, 90, 5, 5, []build.Kind{shipMinified, fewNames}},
	} {
		r := symbols.Report{Functions: c.functions, Sources: c.sources, Minified: names(c.minified)}
		r.Found[symbols.Kept], r.Found[symbols.Start] = c.kept, c.functions-c.kept
		s := script{report: &r}
		s.judge()
		var got []build.Kind
		for _, p := range s.problems {
			got = append(got, p.Kind)
			if p.Advice == "" {
				t.Errorf("%s: %v has no advice", name, p)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// TestTellProblems checks that many problems of one kind do not hide problems of other kinds.
func TestTellProblems(t *testing.T) {
	var stderr bytes.Buffer
	c := command{stderr: &stderr, dirs: []string{"dist/"}}
	for i := range 15 {
		s := &script{Script: build.Script{Path: fmt.Sprintf("%d.js", i)}, folder: &folder{dir: "dist/"}}
		s.refuse(errors.New("too deep"))
		c.scripts = append(c.scripts, s)
	}
	c.scripts[14].refuse(&symbols.OtherScriptError{Misplaced: 0.25})
	c.left = []build.Problem{{Path: "bad\x1b[2J", Kind: build.FileUnreadable, What: "not allowed", Advice: "allow it"}}
	c.tellProblems()
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if want := 1 + mostAlike + 1 + 1; len(lines) != want {
		t.Errorf("got %d lines, want %d: %s", len(lines), want, &stderr)
	}
	for _, want := range []string{
		"upload: warning: bad\ufffd[2J: not allowed; allow it",
		"upload: warning: 14.js: its map belongs to another script: 25.0 % of the mappings",
		"upload: warning: 5 more problems of the kind no-table; --format json lists them",
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in %s", want, &stderr)
		}
	}
	if got := c.problemCount(); got != 17 {
		t.Errorf("got %d problems, want 17", got)
	}
}
