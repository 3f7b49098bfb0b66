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

Lists the changes that ingest has found unasked, the newest first: functions, pages,
features and Web Vitals that became slower or faster for real users, with the release that
did it or the day. With an ID, one of them in full, with its series; or what is done about it.

Examples:

  aggregate changes                                   those that are open
  aggregate changes --page /feed --state all --since 30d
  aggregate changes 4d430d0d6c8c01fb                  one in full
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
	do    changes.Handling // its state is empty if nothing is to be done
}

func changesProgram() *commandline.Program { return new(command).changesProgram(new(listing)) }

func (c *command) changesProgram(l *listing) *commandline.Program {
	all, fs, handle := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags, handle.SortFlags = false, false
	c.flags(all)
	for _, name := range []string{"page", "since", "output", "data", "addr", "token-file", "ca", "site", "owners", "color"} {
		fs.AddFlag(all.Lookup(name))
	}
	fs.StringVar(&l.state, "state", "open,acknowledged,expected", "`STATES` of the changes, with commas between, or all: open, acknowledged, expected, resolved")
	fs.StringVar(&l.owner, "owner", "", "changes of functions of this `OWNER` or team")
	fs.IntVar(&l.limit, "limit", 100, "how many are listed")
	fs.StringVarP(&c.formatName, "format", "f", "text", "`FORMAT` to write: text or json")
	_ = fs.SetAnnotation("format", commandline.Values, []string{"text", "json"})
	handle.BoolVar(&l.acknowledge, "acknowledge", false, "say that somebody knows of the change")
	handle.StringVar(&l.until, "expect-until", "", "say that it is expected until a `DATE`: if it is still there then, it opens again")
	handle.BoolVar(&l.resolve, "resolve", false, "end it by hand")
	handle.BoolVar(&l.reopen, "reopen", false, "take back what was said of it")
	handle.StringVar(&l.note, "note", "", "a `TEXT` for others")
	return &commandline.Program{Name: "aggregate " + changesCommand, Summary: "list the changes that were found unasked", Usage: changesUsage,
		Sections: []commandline.Section{{Flags: fs}, {Title: "What is done about one", Flags: handle}},
		Notes:    "Exit status: 0; 1 if something went wrong; 2 for a wrong command line. More in docs/changes.md."}
}

// runChanges lists changes, shows one, or notes what is done about it.
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
		return fmt.Errorf("--limit %d: one at least", l.limit)
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

// checkHandling reads what is to be done about a change.
func (l *listing) checkHandling(now time.Time) error {
	said := 0
	for _, x := range []struct {
		is    bool
		state watch.State
	}{{l.acknowledge, watch.Acknowledged}, {l.until != "", watch.Expected}, {l.resolve, watch.Resolved}, {l.reopen, watch.Open}} {
		if x.is {
			l.do.State = x.state
			said++
		}
	}
	switch {
	case said > 1:
		return errors.New("--acknowledge, --expect-until, --resolve and --reopen: only one at a time")
	case said == 1 && l.id == "":
		return errors.New("say which change is meant, by its id")
	case said == 0 && l.note != "":
		return errors.New("--note: say what is done, such as --acknowledge")
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
		return fmt.Errorf("--expect-until %.40s: it is no date to come, such as 2026-12-24", l.until)
	}
	l.do.Until = until
	return nil
}

// changesSource returns what knows of the changes of a source.
func changesSource(src query.Source) (changes.Source, error) {
	if remote, ok := src.(*api.Remote); ok {
		return remote, nil
	}
	local, ok := src.(query.Local)
	if !ok {
		return nil, errors.New("changes are known of what is stored alone, and not of files")
	}
	reader, ok := local.Reader.(*shared.Reader)
	if !ok {
		return nil, errors.New("--site: changes of one site are known by its daemon: name that with --addr")
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
		return c.emitResponse(ctx, list, func(w io.Writer, s terminal.Screen) error { return list.WriteText(w, s, c.now) })
	}
	if _, remote := src.(*api.Remote); l.do.State != "" && !remote {
		return errors.New("what is done about a change is noted by a daemon, and none has this data directory open: start ingest, or name another one with --addr")
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
