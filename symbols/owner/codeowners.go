package owner

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxCodeowners bounds a CODEOWNERS file, in bytes, like GitHub does.
	MaxCodeowners = 3_000_000
	// MaxRules bounds the rules of a CODEOWNERS file, and the entries of a file of rules: each may
	// be compared with each source file.
	MaxRules = 10_000
	// maxPatterns bounds all patterns of a file together, in bytes. It keeps the worst file and the
	// worst path below a few seconds.
	maxPatterns = 512 << 10
	// maxWarnings bounds the warnings about one file.
	maxWarnings = 100
)

// Codeowners gives the team of each file of a repository. It does not change; nil has no teams.
type Codeowners struct{ rules pathRules }

// Warning is the reason why a line of a CODEOWNERS file is ignored.
type Warning struct {
	Line int // from 1
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("line %d: %s", w.Line, w.Text) }

// ParseCodeowners reads a CODEOWNERS file like GitHub does: it skips an invalid line with a
// warning, and does not support ! and [ ]. In addition it supports two features of GitLab: a
// backslash before # or a space, and sections, where a line without owners gets those of the
// section. It returns at most the first 100 warnings. An error says that the file exceeds a bound.
//
// See https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
// and https://docs.gitlab.com/user/project/codeowners/reference/.
func ParseCodeowners(text string) (*Codeowners, []Warning, error) {
	if len(text) > MaxCodeowners {
		return nil, nil, fmt.Errorf("a CODEOWNERS file of over %d bytes", MaxCodeowners)
	}
	var c Codeowners
	var warnings []Warning
	teams := map[string]string{} // each once in memory
	bySection := ""
	number, patterns := 0, 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		number++
		fields := fieldsOf(line)
		if len(fields) == 0 {
			continue
		}
		err := error(nil)
		owners, section := sectionOwners(line)
		if section {
			bySection = ""
			if err = checkOwners(owners); err == nil {
				bySection = strings.Join(owners, " ")
			}
		} else {
			var r pathRule
			r, err = newRule(fields, bySection)
			if text, ok := teams[r.text]; ok {
				r.text = text
			} else {
				teams[r.text] = r.text
			}
			if err == nil {
				c.rules = append(c.rules, r)
				patterns += len(fields[0])
			}
		}
		if err != nil && len(warnings) < maxWarnings {
			warnings = append(warnings, Warning{number, err.Error()})
		}
		if len(c.rules) > MaxRules {
			return nil, nil, fmt.Errorf("a CODEOWNERS file of over %d rules", MaxRules)
		}
		if patterns > maxPatterns {
			return nil, nil, fmt.Errorf("a CODEOWNERS file whose patterns are over %d bytes together", maxPatterns)
		}
	}
	c.rules = slices.Clip(c.rules)
	return &c, warnings, nil
}

// newRule parses a pattern and its owners from a line.
func newRule(fields []string, bySection string) (r pathRule, err error) {
	if r.pattern, err = newPattern(fields[0]); err != nil {
		return r, fmt.Errorf("%.60q: %w", fields[0], err)
	}
	r.text = strings.Join(fields[1:], " ")
	if r.text == "" {
		r.text = bySection
	}
	return r, checkOwners(fields[1:])
}

func checkOwners(owners []string) error {
	for _, name := range owners {
		if !strings.Contains(name, "@") {
			return fmt.Errorf("%.60q is no owner: write @user, @organization/team or a mail address", name)
		}
	}
	return nil
}

// fieldsOf splits a line at white space, up to a comment. A backslash escapes the next character;
// it stays in the field for the pattern.
func fieldsOf(line string) (fields []string) {
	for {
		line = strings.TrimLeft(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			return fields
		}
		end := 0
		for end < len(line) && strings.IndexByte(" \t\r\n", line[end]) < 0 {
			if line[end] == '\\' && end+1 < len(line) {
				end++
			}
			end++
		}
		fields = append(fields, line[:end])
		line = line[end:]
	}
}

// sectionOwners returns the owners of a section if a line is its heading: [name], ^[name] or
// [name][2], followed by owners.
func sectionOwners(line string) (owners []string, ok bool) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "^")
	if !strings.HasPrefix(line, "[") {
		return nil, false
	}
	name, rest, closed := strings.Cut(line[1:], "]")
	if number, ok := strings.CutPrefix(rest, "["); ok {
		number, rest, closed = strings.Cut(number, "]")
		closed = closed && strings.Trim(number, "0123456789") == ""
	}
	if !closed || name == "" || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return nil, false
	}
	return fieldsOf(rest), true
}

// Team returns the team of a file. path is relative to the top of the repository, with slashes. The
// last matching line wins; "" is nobody. Several teams are one text, separated by a space.
func (c *Codeowners) Team(path string) string {
	if c == nil {
		return ""
	}
	team, _ := c.rules.of(path)
	return team
}
