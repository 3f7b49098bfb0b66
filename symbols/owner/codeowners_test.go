package owner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The patterns of the example in GitHub's documentation, and the paths that it mentions.
const githubExample = `# Each line is a pattern and its owners.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/* docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/ @octocat
/apps/github
/apps/gitlab @doctocat
`

func TestCodeownersOfGitHub(t *testing.T) {
	checkTeams(t, githubExample, nil, map[string]string{
		"README.md":                      "@global-owner1 @global-owner2",
		"src/deep/x.css":                 "@global-owner1 @global-owner2",
		"src/x.js":                       "@js-owner",
		"x.js":                           "@js-owner",
		"main.go":                        "docs@example.com",
		"notes/a.txt":                    "@octo-org/octocats",
		"build/logs/a/b.bin":             "@octocat", // **/logs comes later
		"docs/getting-started.md":        "@doctocat",
		"docs/build-app/troubleshooting": "@doctocat",
		"x/apps/y.js":                    "@octocat",
		"scripts/x":                      "@doctocat @octocat",
		"scripts/logs/x":                 "@octocat",
		"deeply/nested/logs":             "@octocat",
		"apps/x":                         "@octocat",
		"apps/github":                    "",
		"apps/github/x.js":               "",
		"apps/gitlab/x.js":               "@doctocat",
	})
	checkTeams(t, "docs/* docs@example.com", nil, map[string]string{
		"docs/getting-started.md":           "docs@example.com",
		"docs/build-app/troubleshooting.md": "",
		"a/docs/x.md":                       "",
	})
}

func TestCodeownersOfGitLab(t *testing.T) {
	checkTeams(t, "\uFEFF"+`
\#file_with_pound.rb @pound
path\ with\ spaces/ @space-owner
/config/ @@maintainer
[Documentation]
ee/docs @docs
[Database][2] @db @dba   # default owners
db/
/model/db/own @other
^[Optional team] @optional
*.opt
[No owners]
*.none`, nil, map[string]string{
		"#file_with_pound.rb":  "@pound",
		"path with spaces/a/b": "@space-owner",
		"config/x":             "@@maintainer",
		"ee/docs/x":            "@docs",
		"x/model/db/y":         "@db @dba",
		"model/db/own/y":       "@other",
		"x.opt":                "@optional",
		"x.none":               "",
		"x":                    "",
	})
}

func TestCodeownersWarnings(t *testing.T) {
	checkTeams(t, "* @all\r\n!*.md @docs\r\nsrc/[ab].js @ab\r\n[ab].js @ab\r\n*.ts nobody @ts\r\n/ @root\r\n"+
		"[Section] not-an-owner\r\nx.css\r\na\\ @b\r\n# end\r\n", []string{
		`line 2: "!*.md": ! is not supported; write a later line for files with another owner`,
		`line 3: "src/[ab].js": [ ] is not supported; write a literal bracket as \[`,
		`line 4: "[ab].js": [ ] is not supported; write a literal bracket as \[`,
		`line 5: "nobody" is not an owner; write @user, @organization/team or a mail address`,
		`line 6: "/": an empty pattern; * is all files`,
		`line 7: "not-an-owner" is not an owner; write @user, @organization/team or a mail address`,
	}, map[string]string{
		"README.md": "@all", "src/a.js": "@all", "a.ts": "@all", "x.css": "", "a @b": "",
	})
}

func checkTeams(t *testing.T, file string, warnings []string, teams map[string]string) {
	t.Helper()
	c, warned, err := ParseCodeowners(file)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, w := range warned {
		texts = append(texts, w.String())
	}
	if !slices.Equal(texts, warnings) {
		t.Errorf("warnings:\n%s\nwant:\n%s", strings.Join(texts, "\n"), strings.Join(warnings, "\n"))
	}
	for path, want := range teams {
		if got := c.Team(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestCodeownersBounds(t *testing.T) {
	if _, _, err := ParseCodeowners(strings.Repeat("#", MaxCodeowners+1)); err == nil {
		t.Error("a file over the bound was read")
	}
	if _, _, err := ParseCodeowners(strings.Repeat("a @a\n", MaxRules+1)); err == nil {
		t.Error("more rules than the bound were read")
	}
	if _, _, err := ParseCodeowners(strings.Repeat(strings.Repeat("a", maxPattern)+" @a\n", maxPatterns/maxPattern+
		1)); err == nil {
		t.Error("patterns over the bound were read")
	}
	c, warnings, err := ParseCodeowners(strings.Repeat("a @a\n", MaxRules) + strings.Repeat("!\n", 500_000))
	if err != nil || len(warnings) != maxWarnings || c.Team("a") != "@a" {
		t.Errorf("got %d warnings, %v, team %q", len(warnings), err, c.Team("a"))
	}
}

func TestNoCodeowners(t *testing.T) {
	var c *Codeowners
	if got := c.Team("src/a.ts"); got != "" {
		t.Errorf("got %q", got)
	}
}

func FuzzCodeowners(f *testing.F) {
	f.Add(githubExample, "src/x.js")
	f.Add("[a][2] @b\n*.x\n^[c]\n!d @e\n\\#f g\\ h @i #j", "a.x")
	f.Add(strings.Repeat("**/", 300)+"a @b", strings.Repeat("x/", 500)+"b")
	f.Fuzz(func(t *testing.T, file, path string) {
		c, warnings, err := ParseCodeowners(file)
		if err != nil {
			return
		}
		lines := strings.Count(file, "\n") + 1
		for _, w := range warnings {
			if w.Line < 1 || w.Line > lines || w.Text == "" {
				t.Errorf("warning %+v of %d lines", w, lines)
			}
		}
		team := c.Team(path)
		// A last line for all files applies to all.
		all, _, err := ParseCodeowners(strings.TrimRight(file, "\r\n\\") + "\n* @last\n")
		if err != nil || len(path) > maxPath {
			return
		}
		if got := all.Team(path); got != "@last" {
			t.Errorf("%q: got %q after %q", path, got, team)
		}
	})
}

// benchmarkRules are like the rules of a large repository.
func benchmarkRules() string {
	var b strings.Builder
	b.WriteString("* @acme/everyone\n*.md @acme/docs\n**/testdata/ @acme/quality\n")
	for i := range 297 {
		switch i % 6 {
		case 0:
			fmt.Fprintf(&b, "/packages/part%d/ @acme/team%d\n", i, i%20)
		case 1:
			fmt.Fprintf(&b, "/packages/part%d/src/**/*.test.ts @acme/team%d\n", i, i%20)
		case 2:
			fmt.Fprintf(&b, "src/area%d/*.tsx @acme/team%d @acme/web\n", i, i%20)
		case 3:
			fmt.Fprintf(&b, "*.area%d.ts @acme/team%d\n", i, i%20)
		case 4:
			fmt.Fprintf(&b, "**/feature%d/ @acme/team%d\n", i, i%20)
		case 5:
			fmt.Fprintf(&b, "/apps/*/src/part%d @acme/team%d\n", i, i%20)
		}
	}
	return b.String()
}

func BenchmarkCodeowners(b *testing.B) {
	c, _, err := ParseCodeowners(benchmarkRules())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() { // only the first line matches, so all are tried
		if c.Team("packages/checkout/src/components/table/Row.tsx") != "@acme/everyone" {
			b.Fatal("a wrong team")
		}
	}
}

func BenchmarkParseCodeowners(b *testing.B) {
	text := benchmarkRules()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := ParseCodeowners(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostilePattern has patterns and paths of maximum length that nearly match. A file may
// have MaxRules of them.
func BenchmarkHostilePattern(b *testing.B) {
	for name, tt := range map[string]struct{ pattern, path string }{
		"deep":      {strings.Repeat("**/a/", 50) + "b", strings.Repeat("a/", 510) + "c"},
		"deep long": {"**/" + strings.Repeat("a/", 125) + "b", strings.Repeat("a/", 510) + "c"},
		"stars":     {strings.Repeat("*a", 125) + "b*", strings.Repeat(strings.Repeat("a", 255)+"/", 4)},
		"star long": {"*" + strings.Repeat("a", 125) + "b*", strings.Repeat(strings.Repeat("a", 255)+"/", 4)},
	} {
		b.Run(name, func(b *testing.B) {
			c, warnings, err := ParseCodeowners(tt.pattern + " @a\n")
			if err != nil || len(warnings) > 0 {
				b.Fatal(err, warnings)
			}
			for b.Loop() {
				if c.Team(tt.path) != "" {
					b.Fatal("it matches")
				}
			}
		})
	}
}
