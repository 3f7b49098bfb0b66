package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/internal/spelling"
)

// meant returns an error for the first argument that is no file, if it looks like something else that is typed in another
// way, and for a directory.
func meant(names []string) error {
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case name == "-":
		case err == nil && info.IsDir():
			return directoryError(name)
		case err != nil:
			if typed := meantBy(name); typed != "" {
				return fmt.Errorf("there is no file %.200s: did you mean %s?", name, typed)
			}
		}
	}
	return nil
}

// subcommands returns the words that may follow aggregate.
func subcommands() []string {
	return []string{mcpCommand, reportCommand, verdictCommand, changesCommand, editsCommand, captureCommand, deleteCommand}
}

// misplaced adds to the error of a flag the subcommand that is not at the beginning.
func misplaced(err error, args []string) error {
	for _, arg := range args {
		if slices.Contains(subcommands(), arg) {
			return fmt.Errorf("%w; a subcommand comes first: aggregate %s …", err, arg)
		}
	}
	return err
}

// meantBy returns what to type instead of a word that is no file, empty if nobody knows.
func meantBy(name string) string {
	if strings.HasPrefix(name, "/") && filepath.Ext(name) == "" {
		return "--page " + name
	}
	typed := map[string]string{
		"compare": "--compare-release RELEASE, or --diff FILE for files", "diff": "--diff FILE, or --compare-release RELEASE for what is stored",
		"list": "--list pages", "stats": "--stats", "vitals": "--vitals", "cost": "--cost", "budgets": "--budgets FILE", "http": "--http :0", "completion": "--completion SHELL",
	}
	for _, list := range lists {
		typed[list] = "--list " + list
	}
	for _, f := range formats.All() {
		if f.Encode != nil || f.EncodeTimed != nil {
			typed[f.Name] = "--format " + f.Name
		}
	}
	for _, sub := range subcommands() {
		typed[sub] = "aggregate " + sub + " …, with that first"
	}
	if strings.ContainsAny(name, "./\\") {
		return ""
	}
	var words []string
	for word := range typed {
		words = append(words, word)
	}
	slices.Sort(words)
	for _, word := range spelling.Likely(name, words) {
		if spelling.Distance(word, name) <= (len(name)+2)/4 { // a letter of four, two swapped letters of six
			return typed[word]
		}
	}
	return ""
}

// formatFile is in each data directory.
const formatFile = "FORMAT"

// directoryError says what to do about a directory among the files.
func directoryError(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, formatFile)); err == nil {
		return fmt.Errorf("%s is a data directory of ingest; did you mean --data %[1]s?", dir)
	}
	for _, pattern := range []string{"*.cpuprofile", "*.pb.gz", "*.json.gz", "*.json"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(found) > 0 {
			return fmt.Errorf("%s is a directory; name files, such as the %d of %s", dir, len(found), filepath.Join(dir, pattern))
		}
	}
	return fmt.Errorf("%s is a directory; name files, or the data directory of a daemon with --data", dir)
}

// nothingInFiles returns an error that says why files show nothing.
func (c *command) nothingInFiles() error {
	what := fmt.Sprintf("nothing in %s%s", strings.Join(c.files, ", "), c.selection)
	if c.selection.String() != "" || len(c.threads) > 0 {
		return errors.New(what) // what is asked for may be the reason
	}
	return fmt.Errorf("%s: neither samples nor events with a length; a trace of Chrome has samples if it is recorded with the category disabled-by-default-v8.cpu_profiler", what)
}
