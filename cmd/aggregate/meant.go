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

// meant returns an error for the first argument that is a directory, or that is not a file and
// resembles a flag or subcommand.
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
	return []string{mcpCommand, reportCommand, verdictCommand, changesCommand, editsCommand, captureCommand,
		deleteCommand}
}

// misplaced extends the error for an unknown flag if a subcommand is not the first argument.
func misplaced(err error, args []string) error {
	for _, arg := range args {
		if slices.Contains(subcommands(), arg) {
			return fmt.Errorf("%w; a subcommand comes first: aggregate %s …", err, arg)
		}
	}
	return err
}

// meantBy returns the likely intended argument for a word that is not a file; empty if unknown.
func meantBy(name string) string {
	if strings.HasPrefix(name, "/") && filepath.Ext(name) == "" {
		return "--page " + name
	}
	typed := map[string]string{
		"compare": "--compare-release RELEASE, or --diff FILE for files",
		"diff":    "--diff FILE, or --compare-release RELEASE for stored data",
		"list":    "--list pages", "stats": "--stats", "vitals": "--vitals", "cost": "--cost",
		"budgets": "--budgets FILE",
		"http":    "--http :0", "completion": "--completion SHELL",
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
		typed[sub] = "aggregate " + sub + " … as the first argument"
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
		if spelling.Distance(word, name) <= (len(name)+2)/4 { // one letter of four, two swapped letters of six
			return typed[word]
		}
	}
	return ""
}

// formatFile is a file that every data directory has.
const formatFile = "FORMAT"

// directoryError returns an error for a directory among the files, with advice.
func directoryError(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, formatFile)); err == nil {
		return fmt.Errorf("%s is a data directory of ingest; did you mean --data %[1]s?", dir)
	}
	for _, pattern := range []string{"*.cpuprofile", "*.pb.gz", "*.json.gz", "*.json"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(found) > 0 {
			return fmt.Errorf("%s is a directory; name files, such as the %d of %s", dir, len(found),
				filepath.Join(dir, pattern))
		}
	}
	return fmt.Errorf("%s is a directory; name files, or the data directory of a daemon with --data", dir)
}

// nothingInFiles returns an error with the reason why files have nothing to show.
func (c *command) nothingInFiles() error {
	what := fmt.Sprintf("nothing in %s%s", strings.Join(c.files, ", "), c.selection)
	if c.selection.String() != "" || len(c.threads) > 0 {
		return errors.New(what) // the selection may be the reason
	}
	return fmt.Errorf("%s: neither samples nor events with a duration; a Chrome trace has samples if it is recorded "+
		"with the category disabled-by-default-v8.cpu_profiler", what)
}
