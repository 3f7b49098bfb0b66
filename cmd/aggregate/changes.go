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
	"github.com/fieldtrie/fieldtrie/query/api"
	causes "github.com/fieldtrie/fieldtrie/query/cause"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// changesCommand is the word after aggregate. A file of that name is ./changes.
const changesCommand = "changes"

const changesUsage = `Usage: aggregate changes [flags]
       aggregate changes ID [flags]

Lists the changes that ingest detected automatically, newest first: functions, pages,
features and Web Vitals that became slower or faster for real users, with the release or
the day of the change. With an ID it shows one change with its time series, or updates its
state.

Examples:

  aggregate changes                                   open changes
  aggregate changes --page /feed --state all --since 30d
  aggregate changes 4d430d0d6c8c01fb                  details of one change
  aggregate changes 4d430d0d6c8c01fb --acknowledge --note "fixed by #123"
  aggregate changes 4d430d0d6c8c01fb --expect-until 2026-12-24
  aggregate changes 4d430d0d6c8c01fb --resolve
  aggregate changes --format json --addr https://profiles.example.com:8419`

// listing holds the flags of aggregate changes.
type listing struct {
	state, owner, note, until string
	acknowledge, resolve      bool
	reopen                    bool
	limit                     int

	query changes.Query
	id    string
	do    changes.Handling // an empty state means no update
}

func changesProgram() *commandline.Program { return new(command).changesProgram(new(listing)) }

func (c *command) changesProgram(l *listing) *commandline.Program {
	all, fs, handle := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError),
		pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags, handle.SortFlags = false, false
	c.flags(all)
	for _, name := range []string{"page", "since", "output", "data", "addr", "token-file", "ca", "site",
		"owners", "color"} {
		fs.AddFlag(all.Lookup(name))
	}
	fs.StringVar(&l.state, "state", "open,acknowledged,expected",
		"comma-separated `STATES` of the changes, or all: open, acknowledged, expected, resolved")
	fs.StringVar(&l.owner, "owner", "", "changes of functions of this `OWNER` or team")
	fs.IntVar(&l.limit, "limit", 100, "most changes to list")
	fs.StringVarP(&c.formatName, "format", "f", "text", "`FORMAT` to write: text or json")
	_ = fs.SetAnnotation("format", commandline.Values, []string{"text", "json"})
	handle.BoolVar(&l.acknowledge, "acknowledge", false, "acknowledge the change")
	handle.StringVar(&l.until, "expect-until", "",
		"mark the change as expected until a `DATE`; it reopens if it persists after that")
	handle.BoolVar(&l.resolve, "resolve", false, "close the change")
	handle.BoolVar(&l.reopen, "reopen", false, "undo --acknowledge, --expect-until or --resolve")
	handle.StringVar(&l.note, "note", "", "`TEXT` for other readers of the change")
	return &commandline.Program{Name: "aggregate " + changesCommand, Summary: "list automatically detected changes",
		Usage:    changesUsage,
		Sections: []commandline.Section{{Flags: fs}, {Title: "Update a change", Flags: handle}},
		Notes:    "Exit status: 0 on success; 1 for an error; 2 for a wrong command line. More in docs/changes.md."}
}

// runChanges lists changes, shows one, or updates its state.
func runChanges(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, l := command{stdout: stdout, stderr: stderr, now: time.Now(), rows: 1}, listing{}
	p := c.changesProgram(&l)
	fs := p.Flags()
	if err := commandline.Parse(fs, args); errors.Is(err, pflag.ErrHelp) {
		return p.WriteHelp(stdout)
	} else if err != nil {
		return usageError{err}
	}
	if err := c.checkChanges(fs, &l); err != nil {
		return usageError{err}
	}
	if err := c.readOwners(); err != nil {
		return err
	}
	return c.listChanges(ctx, &l)
}

func (c *command) checkChanges(fs *pflag.FlagSet, l *listing) (err error) {
	switch {
	case fs.NArg() > 1:
		return fmt.Errorf("unexpected argument %q; see aggregate changes --help", fs.Arg(1))
	case fs.NArg() == 1 && !changes.IsID(fs.Arg(0)):
		return fmt.Errorf("%.40q is not the id of a change, which has 16 hexadecimal digits", fs.Arg(0))
	case c.formatName != "text" && c.formatName != "json":
		return fmt.Errorf("--format %s: known are text, json", c.formatName)
	case l.limit < 1:
		return fmt.Errorf("--limit %d: must be at least 1", l.limit)
	}
	l.id = fs.Arg(0)
	if err := l.checkHandling(c.now); err != nil {
		return err
	}
	c.sinceGiven = fs.Changed("since")
	if err := c.checkStore(fs, nil); err != nil {
		return err
	}
	l.query = changes.Query{Page: c.page, Owner: l.owner, Limit: l.limit}
	if c.sinceGiven {
		times, err := c.times(c.since, "")
		if err != nil {
			return err
		}
		l.query.Since = times.Since
	}
	if l.state != "all" {
		if l.query.States, err = changes.ParseStates(l.state); err != nil {
			return fmt.Errorf("--state: %w", err)
		}
	}
	return nil
}

// checkHandling parses the flags that update a change.
func (l *listing) checkHandling(now time.Time) error {
	said := 0
	for _, x := range []struct {
		is    bool
		state watch.State
	}{{l.acknowledge, watch.Acknowledged}, {l.until != "", watch.Expected}, {l.resolve, watch.Resolved},
		{l.reopen, watch.Open}} {
		if x.is {
			l.do.State = x.state
			said++
		}
	}
	switch {
	case said > 1:
		return errors.New("--acknowledge, --expect-until, --resolve and --reopen: only one at a time")
	case said == 1 && l.id == "":
		return errors.New("name a change by its id")
	case said == 0 && l.note != "":
		return errors.New("--note: add the new state, such as --acknowledge")
	}
	l.do.Note = l.note
	if l.until == "" {
		return nil
	}
	until, err := time.Parse(time.DateOnly, l.until)
	if err != nil {
		until, err = time.Parse(time.RFC3339, l.until)
	}
	if err != nil || !until.After(now) {
		return fmt.Errorf("--expect-until %.40s: must be a future date, such as 2026-12-24", l.until)
	}
	l.do.Until = until
	return nil
}

// changesSource returns the part of the source that lists changes.
func changesSource(src query.Source) (changes.Source, error) {
	if remote, ok := src.(*api.Remote); ok {
		return remote, nil
	}
	local, ok := src.(query.Local)
	if !ok {
		return nil, errors.New("changes are detected in stored data only, not in files")
	}
	reader, ok := local.Reader.(*shared.Reader)
	if !ok {
		return nil, errors.New("--site: only a daemon lists the changes of one site; name it with --addr")
	}
	board := changes.NewBoard(reader.Changes(), watch.Read(local), watch.Settings{}, changes.BoardOptions{})
	return changes.View{Board: board, Owner: causes.Owner(local)}, nil
}

func (c *command) listChanges(ctx context.Context, l *listing) (err error) {
	of, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	src, err := changesSource(of)
	if err != nil {
		return err
	}
	if l.id == "" {
		list, err := src.Changes(ctx, l.query)
		if err != nil {
			return err
		}
		return c.emitResponse(ctx, list, func(w io.Writer, s terminal.Screen) error {
			return list.WriteText(w, s, c.now)
		})
	}
	if _, remote := src.(*api.Remote); l.do.State != "" && !remote {
		return errors.New("a daemon stores updates of a change, but no daemon has this data directory open: start " +
			"ingest, or name a daemon with --addr")
	}
	if l.do.State != "" {
		item, err := src.Handle(ctx, l.id, l.do, "")
		if err != nil {
			return err
		}
		return c.emitResponse(ctx, item, func(w io.Writer, _ terminal.Screen) error {
			_, err := fmt.Fprintf(w, "%s: %s\n", item.State, output.Printable(item.Title))
			return err
		})
	}
	report, err := src.Change(ctx, l.id)
	if err != nil {
		return err
	}
	return c.emitResponse(ctx, report, report.WriteText)
}
