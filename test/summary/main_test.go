package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reports are what gotestsum and node --test write.
var reports = map[string]string{
	"go.xml": `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1"><testsuite name="a" tests="4">
	<testcase classname="a" name="TestA" time="0.1"></testcase>
	<testcase classname="a" name="TestB"><failure message="Failed" type="">b_test.go:1: wrong</failure></testcase>
	<testcase classname="a" name="TestC"><skipped message="=== RUN   TestC&#xA;    c_test.go:9: log&#xA;    ` +
		`c_test.go:28: FIXTURES names no folder&#xA;--- SKIP: TestC (0.00s)&#xA;"></skipped></testcase>
	<testcase classname="a" name="TestD"><skipped message="=== RUN   TestD&#xA;    d_test.go:2: FIXTURES names no ` +
		`folder&#xA;--- SKIP: TestD (0.00s)&#xA;"></skipped></testcase>
</testsuite></testsuites>`,
	"script.xml": `<?xml version="1.0" encoding="utf-8"?>
<testsuites>
	<testcase name="a" time="0.001" classname="test"><skipped type="skipped" message="because"/></testcase>
	<testcase name="t" time="6.7" classname="test"><skipped type="todo" message="not yet"/><failure ` +
		`type="testCodeFailure" message="` + "\x1b[2mx" + `"/></testcase>
	<testsuite name="s"><testcase name="b" time="0.0002" classname="test"/></testsuite>
</testsuites>`,
	"empty.xml": `<testsuites></testsuites>`,
	"cut.xml":   `<testsuites><testcase name="a" time="0.001" classname="test"/>`,
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range reports {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := run([]string{path("go.xml"), path("script.xml")}, &out); err != nil {
		t.Fatal(err)
	}
	want := `go: 2 skipped: FIXTURES names no folder
script: 1 skipped: because
script: 1 skipped: not yet
tests run: go 2, 1 failed, 2 skipped; script 1, 2 skipped
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
	for _, name := range []string{"empty.xml", "cut.xml", "missing.xml"} {
		if err := run([]string{path(name), path("script.xml")}, &out); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
