package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/build"
)

// Kinds of problems in creating a table. Package build finds other kinds earlier.
const (
	otherScript  build.Kind = "other-script"      // the map belongs to another script
	noTable      build.Kind = "no-table"          // creating a table failed
	fewNames     build.Kind = "few-names"         // many functions keep their minified name
	shipMinified build.Kind = "minified-packages" // sources were minified before they were bundled
)

const (
	enoughNamed   = 0.9 // share of the functions of a script
	fewFunctions  = 10  // accepted number of functions with minified names
	fewMinified   = 3   // accepted number of minified sources
	enoughSources = 0.1 // accepted share of minified sources
)

func (s *script) tell(kind build.Kind, advice, format string, args ...any) {
	s.problems = append(s.problems, build.Problem{Path: s.Path, Kind: kind, What: fmt.Sprintf(format, args...),
		Advice: advice})
}

// refuse records why a script has no table.
func (s *script) refuse(err error) {
	if other, ok := errors.AsType[*symbols.OtherScriptError](err); ok {
		s.tell(otherScript, "empty the folder before the build, and run upload before anything changes the scripts",
			"its map belongs to another script: %.1f %% of the mappings lead into the middle of words, or out of "+
				"the script", 100*other.Misplaced)
		return
	}
	s.tell(noTable, "see docs/upload.md", "%v", err)
}

// judge records why functions of a script have no names. Sources without content are recorded
// when the map is read.
func (s *script) judge() {
	r := s.report
	if n := len(r.Minified); n >= min(fewMinified, r.Sources) && float64(n) >= enoughSources*float64(r.Sources) &&
		n > 0 {
		s.tell(shipMinified, "bundle the files of these packages that are not minified, if they have some",
			"%d of %d sources were minified before they were bundled, so names in them are short: %s", n, r.Sources,
			first(r.Minified, 3))
	}
	if kept := r.Found[symbols.Kept]; r.Named() < enoughNamed && kept >= fewFunctions {
		s.tell(fewNames, "see the problems of its sources, and docs/upload.md",
			"only %.0f %% of its functions have a name: %d of %d have none",
			100*r.Named(), kept, r.Functions)
	}
}

// first returns the first few names as a list.
func first(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// problemCount returns the number of problems.
func (c *command) problemCount() int {
	n := len(c.left)
	for _, s := range c.scripts {
		n += len(s.problems)
	}
	return n
}

// mostAlike is how many problems of one kind are shown.
const mostAlike = 10

// tellProblems writes the problems as warnings, the first few of each kind.
func (c *command) tellProblems() {
	seen := map[build.Kind]int{}
	var kinds []build.Kind
	tell := func(folder string, p build.Problem) {
		if seen[p.Kind]++; seen[p.Kind] == mostAlike+1 {
			kinds = append(kinds, p.Kind)
		}
		if seen[p.Kind] > mostAlike {
			return
		}
		text := p.String()
		if len(c.dirs) > 1 && folder != "" {
			text = strings.TrimSuffix(folder, "/") + "/" + text
		}
		c.warn(text)
	}
	for _, p := range c.left {
		tell("", p)
	}
	for _, s := range c.scripts {
		for _, p := range s.problems {
			tell(s.folder.dir, p)
		}
	}
	for _, kind := range kinds {
		c.warn(fmt.Sprintf("%d more problems of the kind %s; --format json lists them", seen[kind]-mostAlike, kind))
	}
}

// judge returns an error if there is nothing to send, or if there are problems with --strict.
func (c *command) judge() error {
	usable, maps := 0, 0
	for _, s := range c.scripts {
		if s.known || c.tables[s.hash] != nil {
			usable++
		}
		if s.Way != build.NoMap {
			maps++
		}
	}
	switch n := c.problemCount(); {
	case usable == 0 && maps == 0:
		return errors.New("no script has a source map; turn them on in the bundler (webpack: devtool, Vite: " +
			"build.sourcemap, esbuild: --sourcemap), and run upload before they are deleted")
	case usable == 0:
		return errors.New("no script has a usable source map; see the warnings")
	case c.strict && n == 1:
		return errors.New("there is a problem, and --strict accepts none; nothing was sent")
	case c.strict && n > 0:
		return fmt.Errorf("there are %d problems, and --strict accepts none; nothing was sent", n)
	}
	return nil
}
