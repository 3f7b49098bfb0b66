package owner

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestParseRefuses(t *testing.T) {
	for file, want := range map[string]string{
		"":              "the file is empty; add app, frameworks, packages or teams",
		"# nothing":     "the file is empty",
		"teams:\n  - a": "line 2: a list entry is not a mapping with the keys path, team",
		"apps: []": "line 1: unknown key \"apps\"; known keys are app, frameworks, " +
			"packages, teams",
		"app: [a]":            "line 1: app is not a mapping with the keys packages, sources",
		"app: {package: [a]}": "line 1: unknown key \"package\"; known keys are packages, sources",
		"app: {packages: a}":  "line 1: packages is not a list with at least one entry",
		"frameworks: [a, a/b]": `line 1: "a/b" is not the name of a package, such as lodash or ` +
			`@acme/*; paths are for sources`,
		"frameworks: ['@a']":     "is not the name of a package",
		"frameworks: ['@/a']":    "is not the name of a package",
		"frameworks: ['@a/b/c']": "is not the name of a package",
		"frameworks: ['a[0-9]']": `"a[0-9]": [ ] is not supported`,
		"frameworks:\n  - \"\"": "line 2: a name: use a text of up to 500 " +
			"bytes",
		"app:\n  sources:\n    - '!src/x'": `line 3: "!src/x": ! is not supported`,
		"app:\n  sources:\n    - /":        `line 3: "/": an empty pattern`,
		"packages:\n  - {path: a}": "line 2: name is missing: an entry has " +
			"path and name",
		"packages:\n  - {name: a}": "line 2: path is missing: an entry has " +
			"path and name",
		"teams:\n  - {path: a, team: \"\"}":  "line 2: team: use a text",
		"teams:\n  - {path: a//b, team: x}":  `line 2: "a//b": an empty path segment (//)`,
		"teams:\n  - {path: 'a\\', team: x}": "a backslash at the end",
		"teams:\n  - {path: a, team: x, name: y}": "line 2: unknown key \"name\"; known keys " +
			"are path, team",
		"teams:\n  - {path: " + strings.Repeat("a", 501) + ", team: x}": "line 2: path: use a text of up to 500 bytes",
	} {
		if _, err := Parse(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %s", file, err, want)
		}
	}
}

func TestParseBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("frameworks: [a]\nteams:\n")
	for i := range MaxRules - 1 {
		fmt.Fprintf(&b, "  - {path: src/%d/, team: t}\n", i)
	}
	if _, err := Parse(strings.NewReader(b.String())); err != nil {
		t.Error(err)
	}
	b.WriteString("  - {path: b, team: t}\n")
	if _, err := Parse(strings.NewReader(b.String())); err == nil || !strings.Contains(err.Error(),
		"line 2: over 10000 entries") {
		t.Errorf("got %v", err)
	}
	if _, err := Parse(strings.NewReader(strings.Repeat("#\n", 1<<20))); err == nil {
		t.Error("a file of 2 MiB was read")
	}
}

func TestExample(t *testing.T) {
	f, err := os.Open("../../docs/owners.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		"node_modules/@acme/design-system/Button.tsx": "app",
		"src/vendor/d3/arc.js":                        "package d3",
		"node_modules/@tanstack/react-router/x.js":    "framework @tanstack/react-router",
	} {
		if got := r.kindOf(Origin{Source: source}).String(); got != want {
			t.Errorf("%s: got %s, want %s", source, got, want)
		}
	}
	if got := r.ofSource(Origin{Source: "src/checkout/Pay.tsx"}).Team; got != "@acme/checkout" {
		t.Errorf("got team %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(rulesFile)
	f.Add("app: {packages: [a], sources: ['**/x/*?.js']}")
	f.Fuzz(func(t *testing.T, file string) {
		r, err := Parse(strings.NewReader(file))
		if (r == nil) == (err == nil) {
			t.Fatalf("got %v and %v", r, err)
		}
		if err == nil {
			r.ofSource(Origin{Source: "src/x/y.ts"})
			r.ofScript("https://x.example/node_modules/x/y.js")
		}
	})
}
