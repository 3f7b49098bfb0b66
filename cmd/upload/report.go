package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/build"
)

// state describes the result for a script.
func (c *command) state(s *script) string {
	switch {
	case c.sent[s.hash]:
		return "sent"
	case s.known && !(c.force && c.dryRun && c.tables[s.hash] != nil):
		return "known"
	case c.tables[s.hash] == nil:
		return "left out"
	case c.dryRun:
		return "would be sent"
	}
	return "not sent"
}

// print writes the results.
func (c *command) print() error {
	if c.format == "json" {
		return c.printJSON()
	}
	if err := c.printTable(); err != nil {
		return err
	}
	fmt.Fprintln(c.stderr, "upload:", c.summary())
	if c.deleted > 0 {
		fmt.Fprintf(c.stderr, "upload: deleted %s; the sourceMappingURL comments in the scripts stay, as changing a "+
			"script would change its hash\n", count(c.deleted, "map"))
	}
	return nil
}

// printTable writes a line for each script.
func (c *command) printTable() error {
	const widest = 60
	width := 0
	for _, s := range c.scripts {
		width = max(width, utf8.RuneCountInString(output.Printable(s.Path)))
	}
	width = min(width, widest)
	var b strings.Builder
	for _, s := range c.scripts {
		found := fmt.Sprintf("%27s", "")
		if s.report != nil {
			found = fmt.Sprintf("%6d functions %5.1f %% named", s.report.Functions, 100*s.report.Named())
			found = fmt.Sprintf("%27s", found)
		}
		state := c.state(s)
		if c.sent[s.hash] {
			state += " " + size(len(c.tables[s.hash]))
		}
		fmt.Fprintf(&b, "%-*s  %s  %s\n", width, output.Printable(s.Path), found, state)
	}
	_, err := fmt.Fprint(c.stdout, b.String())
	return err
}

// summary describes the results in one line.
func (c *command) summary() string {
	states := map[string]int{}
	bytes := 0
	counted := map[string]bool{}
	for _, s := range c.scripts {
		state := c.state(s)
		states[state]++
		if (state == "sent" || state == "would be sent") && !counted[s.hash] {
			counted[s.hash] = true
			bytes += len(c.tables[s.hash])
		}
	}
	parts := []string{count(len(c.scripts), "script")}
	for _, state := range []string{"sent", "would be sent", "known", "left out", "not sent"} {
		if n := states[state]; n > 0 {
			text := fmt.Sprintf("%d %s", n, state)
			if state == "sent" || state == "would be sent" {
				text += " (" + size(bytes) + ")"
			}
			parts = append(parts, text)
		}
	}
	if n := c.problemCount(); n > 0 {
		parts = append(parts, count(n, "problem"))
	}
	if c.id != "" {
		parts = append(parts, "upload "+output.Printable(c.id))
	}
	return strings.Join(parts, ", ")
}

// count formats a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// size formats a number of bytes.
func size(bytes int) string {
	if bytes < 10_000 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d kB", (bytes+500)/1000)
}

// document is the output of --format json.
type document struct {
	Release     string          `json:"release"`
	Upload      string          `json:"upload,omitempty"` // ID, once the daemon returned it
	Scripts     []scriptObject  `json:"scripts"`
	Problems    []build.Problem `json:"problems"` // of files other than scripts
	MapsDeleted int             `json:"maps_deleted,omitempty"`
}

// scriptObject is a script in a document.
type scriptObject struct {
	Folder   string          `json:"folder"`
	Path     string          `json:"path"`
	SHA256   string          `json:"sha256"`
	DebugID  string          `json:"debug_id,omitempty"`
	Map      string          `json:"map,omitempty"` // path, or "inline"
	State    string          `json:"state"`
	Table    *tableObject    `json:"table,omitempty"` // missing if it was not created
	Problems []build.Problem `json:"problems"`
}

// tableObject is the quality of a table's names.
type tableObject struct {
	Bytes     int            `json:"bytes"`
	Functions int            `json:"functions"`
	Named     float64        `json:"named"` // share, from 0 to 1
	Ways      map[string]int `json:"ways"`  // functions by how they were found
	Sources   int            `json:"sources"`
	// WithoutContent and Minified count the sources without content and the sources
	// that were already minified.
	WithoutContent int `json:"without_content"`
	Minified       int `json:"minified"`
}

func (c *command) printJSON() error {
	d := document{Release: c.release, Upload: c.id, Scripts: []scriptObject{}, MapsDeleted: c.deleted,
		Problems: append([]build.Problem{}, c.left...)}
	for _, s := range c.scripts {
		o := scriptObject{Folder: s.folder.dir, Path: s.Path, SHA256: s.hash, DebugID: s.DebugID, Map: s.MapPath,
			State: c.state(s), Problems: append([]build.Problem{}, s.problems...)}
		if s.Way == build.Inline {
			o.Map = string(build.Inline)
		}
		if r := s.report; r != nil {
			o.Table = &tableObject{Bytes: len(c.tables[s.hash]), Functions: r.Functions, Named: r.Named(),
				Ways:    map[string]int{},
				Sources: r.Sources, WithoutContent: len(r.WithoutText), Minified: len(r.Minified)}
			for way, n := range r.Found {
				if n > 0 {
					o.Table.Ways[symbols.Way(way).String()] = n
				}
			}
		}
		d.Scripts = append(d.Scripts, o)
	}
	e := json.NewEncoder(c.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}
