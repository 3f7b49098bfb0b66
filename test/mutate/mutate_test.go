package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestListApplies fails if the text of a mutation does not occur exactly once in its file, so that
// the list stays in step with the code.
func TestListApplies(t *testing.T) {
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if _, err := m.apply("../.."); err != nil {
			t.Errorf("%s: %v; correct the entry in mutations.txt, or delete it", m.Name, err)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := parse(`# A comment.
== first: one line
file: a/a.go
tests: ./a -run TestA
- x < y
+ x <= y

== second: several lines
file: b.go
tests: ./b
tests: ./c
survives: it is sorted again
- 	if x {
-
- 	}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []mutation{
		{Name: "first: one line", File: "a/a.go", Tests: []string{"./a -run TestA"}, before: "x < y", after: "x <= y"},
		{Name: "second: several lines", File: "b.go", Tests: []string{"./b", "./c"}, Survives: "it is sorted again",
			before: "\tif x {\n\n\t}"},
	}
	if !slices.EqualFunc(got, want, func(a, b mutation) bool {
		return a.Name == b.Name && a.File == b.File && slices.Equal(a.Tests, b.Tests) && a.Survives == b.Survives &&
			a.before == b.before && a.after == b.after
	}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"file: a.go", "before the first mutation"},
		{"== x\nfile: a.go\ntests: ./a\n", "needs a file, tests and a text"},
		{"== x\nfile: a.go\n- a\n+ b", "needs a file, tests and a text"},
		{"== x\nfile: a.go\ntests: ./a\n- a\n+ a", "changes nothing"},
		{"== x\nfile: a.go\ntests: ./a\n- a\n+ b\n== x", "two mutations"},
		{"== x\ntest: ./a", "is not one of"},
		{"== x\n  - a", "is not one of"},
	} {
		if _, err := parse(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want an error with %q", tt.text, err, tt.want)
		}
	}
}

// TestOutcomes runs mutations of a small module. Its files must be as they were afterwards.
func TestOutcomes(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.test\n\ngo 1.26\n",
		"a.go": "package a\n\nfunc small(x int) bool { return x < 10 }\n\nfunc loop() { for i := 0; i < 3; i++ " +
			"{\n} }\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\n" +
			"func TestSmall(t *testing.T) { if loop(); small(10) || !small(8) { t.Error(\"wrong\") } }\n\n" +
			"func TestNothing(t *testing.T) {}\n\nfunc TestFails(t *testing.T) { t.Error(\"always\") }\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := newRunner(root, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for _, tt := range []struct {
		tests, before, after, survives string
		want                           outcome
	}{
		{". -run TestSmall", "x < 10", "x <= 10", "", killed},
		{". -run TestSmall", "x < 10", "x < 9", "", survived},
		{". -run TestSmall", "x < 10", "x < 9", "no test has 9", explained},
		{". -run TestNothing", "x < 10", "x <= 10", "", survived},
		{". -run TestSmall", "x < 10", "y < 10", "", doesNotCompile},
		{". -run TestSmall", "x > 10", "x < 10", "", doesNotApply},
		{". -run TestSmall", "func", "func ", "", doesNotApply},
		{". -run TestFails", "x < 10", "x <= 10", "", testsFail},
		{". -run TestSmall -timeout 1s", "i++", "", "", timedOut},
	} {
		m := mutation{Name: "x", File: "a.go", Tests: []string{tt.tests}, Survives: tt.survives}
		m.before, m.after = tt.before, tt.after
		if got := r.run(t.Context(), m); got.Outcome != tt.want {
			t.Errorf("%s: %q becomes %q: got %+v, want %s", tt.tests, tt.before, tt.after, got, tt.want)
		}
	}
	for name, text := range files {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != text {
			t.Errorf("%s was changed: %q, %v", name, got, err)
		}
	}
}

// TestScript runs mutations of a small browser script in its copy.
func TestScript(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatalf("%v; make setup installs it", err)
	}
	root := t.TempDir()
	for name, text := range map[string]string{
		"sdk/package.json": `{"type": "module"}`,
		"sdk/src/a.js":     "export const small = (x) => x < 10;\n",
		"sdk/test/a.test.js": "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n" +
			"import { small } from '../src/a.js';\ntest('small', () => assert.ok(!small(10)));\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := newRunner(root, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for _, tt := range []struct {
		after string
		want  outcome
	}{{"x <= 10", killed}, {"x < 9", survived}, {"x <", doesNotCompile}} {
		m := mutation{Name: "x", File: "sdk/src/a.js", Tests: []string{"test/a.test.js"}, before: "x < 10",
			after: tt.after}
		if got := r.run(t.Context(), m); got.Outcome != tt.want {
			t.Errorf("%q: got %+v, want %s", tt.after, got, tt.want)
		}
	}
}

func TestList(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--list", "--only", "^trie/"}, &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines == 0 || lines != strings.Count(out.String(), "trie/") {
		t.Errorf("got %q", out.String())
	}
	if err := run(t.Context(), []string{"more"}, &out); err == nil {
		t.Error("an argument is accepted")
	}
}
