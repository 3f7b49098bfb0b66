package owner

import (
	"regexp"
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	for _, tt := range []struct{ pattern, fits, not string }{
		{"*", "a a/b .github/x", ""},
		{"**", "a a/b", ""},
		{"*.js", "a.js src/a.js a.js/b src/a.js/b/c .js", "a.jsx js a.js.map"},
		{"/*.js", "a.js a.js/b", "src/a.js"},
		{"/build/logs/", "build/logs/x build/logs/a/b", "build/logs src/build/logs/x build/logsx/y"},
		{"docs/*", "docs/getting-started.md", "docs/build-app/troubleshooting.md docs src/docs/x"},
		{"/*", "a", "a/b"},
		{"docs/*/", "docs/a/b docs/a/b/c", "docs/a"},
		{"docs/*.md", "docs/a.md docs/a.md/b", "docs/a/b.md"},
		{"apps/", "apps/x a/apps/x a/b/apps/c/d", "apps a/apps appsx/y"},
		{"apps", "apps apps/x a/apps/x", "xapps appsx"},
		{"/docs/", "docs/x docs/a/b", "src/docs/x docs"},
		{"/apps/github", "apps/github apps/github/x", "apps/githubx apps x/apps/github"},
		{"apps/github", "apps/github apps/github/x", "x/apps/github"},
		{"**/logs", "logs build/logs deeply/nested/logs/x logs/x", "logsx"},
		{"**/logs/*.txt", "logs/a.txt x/y/logs/a.txt", "logs/x/a.txt a.txt"},
		{"docs/**", "docs/a docs/a/b", "docs a/docs/b"},
		{"docs/**/", "docs/a/b docs/a/b/c", "docs docs/a"},
		{"docs/**/api/*.md", "docs/api/a.md docs/x/y/api/a.md", "docs/a.md docs/api/x/a.md"},
		{"a/**/b/**/c", "a/b/c a/x/b/y/z/c a/b/b/c/c/d", "a/c a/c/b b/c"},
		{"a/**/**/b", "a/b a/x/y/b", "ab"},
		{"a**b", "ab axb axb/c", "a/b"},
		{"src/?.ts", "src/a.ts src/é.ts", "src/ab.ts src/.ts"},
		{"*-?.js", "a-1.js -b.js x/a-b-c.js", "a.js a-.js a-12.js"},
		{"a*b*c", "abc aXbYc abbcc", "ab ac acb a/b/c"},
		{`\#x.js`, "#x.js a/#x.js", "x.js"},
		{`a\ b/`, "a|b/c", ""},
		{`app/\[slug\]/`, "app/[slug]/page.tsx", "app/s/page.tsx"},
		{`\*.js`, "*.js", "a.js"},
		{"*.é", "a.é", "a.e"},
		{"Src/", "Src/a", "src/a"},
	} {
		p, err := newPattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		for _, path := range strings.Fields(tt.fits) {
			if path = strings.ReplaceAll(path, "|", " "); !p.fits(strings.Split(path, "/")) {
				t.Errorf("%s does not match %s", tt.pattern, path)
			}
		}
		for _, path := range strings.Fields(tt.not) {
			if p.fits(strings.Split(path, "/")) {
				t.Errorf("%s fits %s", tt.pattern, path)
			}
		}
	}
}

func TestPatternRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "empty pattern",
		"/":                      "empty pattern",
		"//":                     "empty pattern",
		"!a":                     "! is not supported",
		"a[bc]":                  "[ ] is not supported",
		"a//b":                   "an empty path segment",
		"//a":                    "an empty path segment",
		`a\`:                     "a backslash at the end",
		strings.Repeat("a", 257): "over 256 bytes",
	} {
		if _, err := newPattern(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", text, err, want)
		}
	}
}

// A leading ./ or / of a path is ignored, and the last matching rule applies.
func TestPathRules(t *testing.T) {
	var rules pathRules
	for _, text := range []string{"*", "/src/", "/src/a.ts", ".github/"} {
		p, err := newPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, pathRule{p, text})
	}
	for path, want := range map[string]string{
		"src/a.ts": "/src/a.ts", "/src/a.ts": "/src/a.ts", "./src/a.ts": "/src/a.ts", "src/b.ts": "/src/",
		"b.ts": "*", ".github/x": ".github/", "a/.github/x": ".github/", "github/x": "*",
	} {
		if got, ok := rules.of(path); got != want || !ok {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	if got, ok := rules[1:].of("b.ts"); ok {
		t.Errorf("got %q where no rule matches", got)
	}
	if got, ok := rules.of(strings.Repeat("a", maxPath+1)); ok {
		t.Errorf("got %q for a path that is too long", got)
	}
}

// expression converts a pattern to a regular expression, following the .gitignore documentation.
func expression(pattern string) string {
	path, folder := strings.CutSuffix(pattern, "/")
	var b strings.Builder
	b.WriteString("(?s)^")
	if !strings.Contains(path, "/") {
		b.WriteString("(?:[^/]*/)*")
	}
	path = strings.TrimPrefix(path, "/")
	names := strings.Split(path, "/")
	for i, name := range names {
		last := i == len(names)-1
		if name == "**" {
			switch {
			case last && folder:
				b.WriteString("(?:[^/]*/)+[^/]*")
			case last:
				b.WriteString(".*")
			default:
				b.WriteString("(?:[^/]*/)*")
			}
			continue
		}
		escaped := false
		for _, c := range name {
			switch {
			case escaped:
				b.WriteString(regexp.QuoteMeta(string(c)))
				escaped = false
			case c == '\\':
				escaped = true
			case c == '*':
				b.WriteString("[^/]*")
			case c == '?':
				b.WriteString("[^/]")
			default:
				b.WriteString(regexp.QuoteMeta(string(c)))
			}
		}
		if !last {
			b.WriteByte('/')
		}
	}
	deep := names[len(names)-1] == "**"
	inFolder := strings.Trim(names[len(names)-1], "*") == "" && strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	switch {
	case deep:
	case folder:
		b.WriteString("/.*")
	case inFolder:
	default:
		b.WriteString("(?:/.*)?")
	}
	return b.String() + "$"
}

func FuzzPattern(f *testing.F) {
	for _, pattern := range []string{"*", "**/a/**", "a/*", "/a/?b*c*/", "**/**/a", "*a*/**/b/**/", `\a\*`,
		"a**", "**/*/"} {
		for _, path := range []string{"a", "a/b", "b/a/abc/c", "/a", "a//b", "aab/b/c"} {
			f.Add(pattern, path)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		p, err := newPattern(pattern)
		if err != nil || len(pattern) > 200 {
			return
		}
		if pattern, path = strings.ToValidUTF8(pattern, "x"), strings.ToValidUTF8(path, "x"); pattern == "" {
			return
		}
		if p, err = newPattern(pattern); err != nil {
			return
		}
		if strings.ContainsFunc(path, func(c rune) bool { return c == 0xfffd }) || len(path) > maxName {
			return
		}
		want := regexp.MustCompile(expression(pattern)).MatchString(path)
		if got := p.fits(strings.Split(path, "/")); got != want {
			t.Errorf("%q, path %q: got %v, want %v of %s", pattern, path, got, want, expression(pattern))
		}
	})
}
