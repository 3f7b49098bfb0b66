package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/trie"
)

// editsCommand is the word after aggregate. A file of that name is ./edits.
const editsCommand = "edits"

const editsUsage = `Usage: aggregate edits --release B --compare-release A [flags]

Lists the functions that were edited, added or removed from release A to release B,
according to the symbols that upload sent for both; no repository is needed. --page limits
the list to scripts in the profiles of the page, and adds third-party scripts that only
one of the releases loaded.

Examples:

  aggregate edits --release 2026.11.3 --compare-release 2026.11.2
  aggregate edits --release B --compare-release A --page /feed --since 7d
  aggregate edits --release B --compare-release A --format json`

func editsProgram() *commandline.Program { return new(command).editsProgram() }

func (c *command) editsProgram() *commandline.Program {
	all, fs := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	c.flags(all)
	for _, name := range []string{"page", "release", "compare-release", "since", "until", "output", "data", "addr",
		"token-file", "ca", "site", "owners", "rows", "color"} {
		fs.AddFlag(all.Lookup(name))
	}
	fs.Lookup("rows").Usage = "functions to list; -1 shows all"
	fs.Lookup("compare-release").Usage = "the earlier `RELEASE`"
	fs.Lookup("release").Usage = "the later `RELEASE`"
	fs.StringVarP(&c.formatName, "format", "f", "table", "`FORMAT` to write: table or json")
	_ = fs.SetAnnotation("format", commandline.Values, []string{"table", "json"})
	return &commandline.Program{Name: "aggregate " + editsCommand,
		Summary: "list the functions edited between two releases", Usage: editsUsage,
		Sections: []commandline.Section{{Flags: fs}},
		Notes: "Exit status: 0 on success; 1 for an error, or if a release has no symbols; 2 for a wrong command " +
			"line."}
}

// runEdits lists edited functions.
func runEdits(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := command{stdout: stdout, stderr: stderr, now: time.Now()}
	p := c.editsProgram()
	fs := p.Flags()
	if err := commandline.Parse(fs, args); errors.Is(err, pflag.ErrHelp) {
		return p.WriteHelp(stdout)
	} else if err != nil {
		return usageError{err}
	}
	if err := c.checkEdits(fs); err != nil {
		return usageError{err}
	}
	if err := c.readOwners(); err != nil {
		return err
	}
	return c.printEdits(ctx)
}

func (c *command) checkEdits(fs *pflag.FlagSet) error {
	switch {
	case fs.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; see aggregate edits --help", fs.Arg(0))
	case c.formatName != "table" && c.formatName != "json":
		return fmt.Errorf("--format %s: known are table, json", c.formatName)
	case c.release == "" || c.comparing.release == "":
		return errors.New("two releases are needed: --release B --compare-release A")
	case c.page == "" && (fs.Changed("since") || fs.Changed("until")):
		return errors.New("--since and --until need --page: they select the profiles that list its scripts")
	}
	return errors.Join(c.checkStore(fs, nil), c.checkSelection())
}

func (c *command) printEdits(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	q := query.EditsQuery{A: c.comparing.release, B: c.release, Page: c.page, Since: c.selection.Since,
		Until: c.selection.Until, Limit: max(c.rows, 0)}
	got, err := src.Edits(ctx, q)
	if err != nil {
		return err
	}
	var lacking []string
	for _, m := range got.Missing {
		lacking = append(lacking, fmt.Sprintf("release %s: %s %s", m.Release, m.Resource, m.Problem))
	}
	c.warn(lacking)
	err = c.emitResponse(ctx, got, func(w io.Writer, s terminal.Screen) error { return writeEdits(w, s, got) })
	if err == nil && len(lacking) > 0 && len(got.Counts) == 0 {
		err = errors.New("edits cannot be determined without the symbols of both releases; send them with upload")
	}
	return err
}

// writeEdits writes a table.
func writeEdits(w io.Writer, screen terminal.Screen, e query.Edits) error {
	counts := fmt.Sprintf("from %s to %s: %s edited, %d added, %d removed, %d moved; %d recompiled, %d around an "+
		"edit, %d unchanged",
		output.Printable(e.CompareRelease), output.Printable(e.Release), counted(uint64(e.Counts[edits.Edited]),
			"function"), e.Counts[edits.Added], e.Counts[edits.Removed],
		e.Counts[edits.Moved], e.Counts[edits.Recompiled], e.Counts[edits.Around], e.Counts[edits.Unchanged])
	fmt.Fprintln(w, screen.Wrap(counts, 0))
	if e.Counts[edits.Recompiled] > 0 {
		fmt.Fprintln(w, "recompiled: same source, different code, such as after a change of a build constant")
	}
	fmt.Fprintln(w)
	if len(e.Functions) > 0 {
		t := terminal.Table{Screen: screen, Columns: []terminal.Column{{Title: "FUNCTION", Least: 24},
			{Title: "CHANGE"}, {Title: "OWNER", Least: 8, Drop: 1}}}
		for _, f := range e.Functions {
			place := trie.Frame{Name: f.Place.Name, Resource: f.Place.Resource, Line: f.Place.Line}
			t.Row(output.Printable(output.Location(place)), string(f.Change), output.Printable(f.Owner))
		}
		if _, err := t.WriteTo(w); err != nil {
			return err
		}
	}
	if e.More > 0 {
		fmt.Fprintf(w, "and %d more, see --rows\n", e.More)
	}
	for _, p := range e.Packages {
		fmt.Fprintln(w, screen.Wrap("package "+output.Printable(p.Name)+": "+fromTo(p.Before, p.After), 2))
	}
	for _, s := range e.Scripts {
		fmt.Fprintln(w, screen.Wrap("third-party script: "+fromTo(s.Before, s.After), 2))
	}
	return nil
}

func fromTo(before, after string) string {
	switch {
	case before == "":
		return "new: " + output.Printable(after)
	case after == "":
		return "gone: " + output.Printable(before)
	}
	return output.Printable(before) + " is " + output.Printable(after) + " now"
}
