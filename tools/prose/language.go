package main

import (
	"bytes"
	"regexp"
	"strings"
)

// language is what a kind of file needs to know of its comments.
type language struct {
	comment  *regexp.Regexp // at the start of a line that is a comment alone
	parts    *regexp.Regexp // comments and texts in quotes; nil: all of the file is prose
	isCode   bool           // the lengths of lines are checked
	unbroken *regexp.Regexp // lines that cannot be wrapped
}

var (
	slashes = language{
		comment:  regexp.MustCompile(`^\s*(?://|/\*|\*(?:\s|/|$))`),
		parts:    regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`[^`]*`"),
		isCode:   true,
		unbroken: regexp.MustCompile("`json:\"|^\\s*(?://|\\*)\\s+\\S+$|^\\s*import .* from |@type "),
	}
	hashes = language{parts: regexp.MustCompile(`(?m)#[^\n]*`)}
	texts  = language{}

	languages = map[string]language{
		".go": slashes, ".js": slashes, ".mjs": slashes, ".ts": slashes, ".tsx": slashes, ".css": slashes,
		".proto": {parts: regexp.MustCompile(`//[^\n]*`)},
		".sh":    hashes, ".yaml": hashes, ".yml": hashes,
		".md": texts,
	}
	code = regexp.MustCompile("(?ms)^```.*?^```|^ {4}[^\n]*|`[^`\n]*`|\\]\\([^)\n]*\\)")
)

// most returns the most columns that a line may have; 0 if there is no limit.
func (l language) most(line string) int {
	switch {
	case !l.isCode || l.unbroken.MatchString(line):
		return 0
	case l.comment.MatchString(line):
		return mostComment
	}
	return mostCode
}

// prose returns the comments and texts in each line. Other lines are empty.
func (l language) prose(text string) []string {
	lines := make([]string, strings.Count(text, "\n")+1)
	if l.parts == nil {
		copy(lines, strings.Split(string(code.ReplaceAllFunc([]byte(text), blank)), "\n"))
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return lines
	}
	line, at := 0, 0
	for _, part := range l.parts.FindAllStringIndex(text, -1) {
		line += strings.Count(text[at:part[0]], "\n")
		at = part[0]
		for i, s := range strings.Split(text[part[0]:part[1]], "\n") {
			s = strings.TrimLeft(s, " \t/*#")
			lines[line+i] = strings.TrimSpace(lines[line+i] + " " + s)
		}
	}
	return lines
}

// blank returns text with spaces for all bytes but line ends.
func blank(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}
