// Command prose checks the texts of a checkout: lines of code have at most 120 columns, comments at
// most 100, and no comment, document or message has a phrase of phrases.txt. It reads the files
// that git tracks, prints each finding as FILE:LINE: TEXT, and exits with status 1 if there is any.
// Generated code, test data and lock files are left out.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	mostCode    = 120 // columns of a line of code; a tab counts 4
	mostComment = 100
)

//go:embed phrases.txt
var phrasesText string

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	found, err := check(root, phrasesText, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
	if found > 0 {
		fmt.Fprintf(os.Stderr, "prose: %d findings; phrases and what to write instead are in tools/prose/phrases.txt\n",
			found)
		os.Exit(1)
	}
}

// check writes the findings in the tracked files below root to w, and returns their number. list
// has the phrases, see [readPhrases].
func check(root, list string, w io.Writer) (int, error) {
	phrases, err := readPhrases(list)
	if err != nil {
		return 0, fmt.Errorf("read phrases.txt: %w", err)
	}
	git := exec.Command("git", "-C", root, "ls-files", "-z")
	git.Stderr = os.Stderr
	out, err := git.Output()
	if err != nil {
		return 0, fmt.Errorf("list files: %w", err)
	}
	found := 0
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		l, ok := languages[filepath.Ext(name)]
		if !ok || leftOut.MatchString("/"+name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		switch {
		case os.IsNotExist(err): // deleted, and not committed yet
			continue
		case err != nil:
			return found, err
		case generated.Match(text):
			continue
		}
		for _, f := range inspect(string(text), l, phrases) {
			fmt.Fprintf(w, "%s:%d: %s\n", name, f.line, f.text)
			found++
		}
	}
	return found, nil
}

var (
	leftOut = regexp.MustCompile(`/(testdata|dist|node_modules)/|-lock\.json$|/phrases\.txt$|` +
		`/test/(shop/src|shop/releases|bundlers/app)/`) // applications that tests build
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT`)
)

// phrase is what not to write, and what to write instead.
type phrase struct {
	pattern *regexp.Regexp
	instead string
}

// readPhrases reads lines of a regular expression, " -> " and what to write instead. Lines that are
// empty or start with # are comments.
func readPhrases(text string) ([]phrase, error) {
	var out []phrase
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		pattern, instead, ok := strings.Cut(line, " -> ")
		if !ok {
			return nil, fmt.Errorf("line %d: want PATTERN -> INSTEAD", i+1)
		}
		re, err := regexp.Compile(`(?i)\b(?:` + strings.TrimSpace(pattern) + `)\b`)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(out, phrase{re, strings.TrimSpace(instead)})
	}
	return out, nil
}

// finding is one place that is to be changed. Lines count from 1.
type finding struct {
	line int
	text string
}

// inspect returns the findings in the text of one file, in the order of lines.
func inspect(text string, l language, phrases []phrase) []finding {
	var out []finding
	prose := l.prose(text)
	for i, line := range strings.Split(text, "\n") {
		if most := l.most(line); most > 0 && columns(line) > most {
			out = append(out, finding{i + 1, fmt.Sprintf("%d columns, the most are %d", columns(line), most)})
		}
		// A phrase may go on in the next line: it counts where it starts.
		joined, width := prose[i], len(prose[i])
		if i+1 < len(prose) && prose[i+1] != "" {
			joined += " " + prose[i+1]
		}
		for _, p := range phrases {
			if at := p.pattern.FindStringIndex(joined); at != nil && at[0] < width {
				out = append(out, finding{i + 1, fmt.Sprintf("%q: write %s", joined[at[0]:at[1]], p.instead)})
			}
		}
	}
	return out
}

func columns(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}
