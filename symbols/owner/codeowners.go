package owner

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxCodeowners is the maximum size of a CODEOWNERS file, in bytes, as on GitHub.
	MaxCodeowners = 3_000_000
	// MaxRules is the maximum number of rules of a CODEOWNERS file, and of entries of a file of
	// rules: each may be compared with each source file.
	MaxRules = 10_000
	// maxPatterns is the maximum total size of all patterns of a file, in bytes. It keeps the worst
	// file with the worst path below a few seconds.
	maxPatterns = 512 << 10
	// maxWarnings is the maximum number of warnings about one file.
	maxWarnings = 100
)

// Codeowners maps files of a repository to teams. It is immutable; nil has no teams.
type Codeowners struct{ rules pathRules }

// Warning is the reason why a line of a CODEOWNERS file is ignored.
type Warning struct {
	Line int // from 1
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("line %d: %s", w.Line, w.Text) }

// ParseCodeowners parses a CODEOWNERS file like GitHub does: it skips an invalid line with a
// warning, and does not support ! and [ ]. It also supports two features of GitLab: a backslash
// before # or a space, and sections, where a line without owners gets the owners of the section. It
// returns at most the first 100 warnings. It returns an error if the file exceeds a limit.
//
// See
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
// and https://docs.gitlab.com/user/project/codeowners/reference/.
func ParseCodeowners(text string) (*Codeowners, []Warning, error) {
	if len(text) > MaxCodeowners {
		return nil, nil, fmt.Errorf("the CODEOWNERS file exceeds %d bytes", MaxCodeowners)
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
			return nil, nil, fmt.Errorf("the CODEOWNERS file exceeds %d rules", MaxRules)
		}
		if patterns > maxPatterns {
			return nil, nil, fmt.Errorf("the patterns of the CODEOWNERS file exceed %d bytes", maxPatterns)
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
			return fmt.Errorf("%.60q is not an owner; write @user, @organization/team or a mail address", name)
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

// sectionOwners returns the owners in a section heading: [name], ^[name] or [name][2], followed by
// owners. ok is false if the line is not a heading.
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

// Team returns the team of a file. path is relative to the root of the repository, with slashes.
// The last matching line applies; "" is no team. Several teams are separated by a space.
func (c *Codeowners) Team(path string) string {
	if c == nil {
		return ""
	}
	team, _ := c.rules.of(path)
	return team
}
