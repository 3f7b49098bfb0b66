package deleting

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/cmd/aggregate/daemon"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/query/api"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
)

const usage = `Usage: aggregate delete [flags] --dry-run
       aggregate delete [flags] --yes
       aggregate delete --list

Has a daemon delete traces, and what they added to rollups: of a page, a site, a release,
a label, a time, single page views, or those that are all of this. It may take a while; the
daemon goes on if this program or the daemon itself is stopped. There is no undo but a
backup. More in docs/privacy.md.

Examples:

  aggregate delete --view 5f0c…e1 --dry-run               how much is there of a page view
  aggregate delete --view 5f0c…e1 --yes
  aggregate delete --page /account --yes                  all of a page
  aggregate delete --since 2026-11-20T08:00:00Z --until 2026-11-20T10:00:00Z --yes
  aggregate delete --release 4711 --label device=mobile-low --yes
  aggregate delete --list                                 who deleted what`

// Command is a command line.
type Command struct {
	daemon       daemon.Address
	data         string
	since, until string
	release      string
	labels       []string
	format       string
	yes, dryRun  bool
	noWait, list bool
	selection    deletion.Selection
}

// New returns a command line that says nothing.
func New() *Command { return new(Command) }

// Program describes the command line.
func (c *Command) Program() *commandline.Program {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.StringVarP(&c.selection.Page, "page", "p", "", "the time on this `PAGE`, such as /feed")
	fs.StringVar(&c.selection.Site, "site", "", "the time on the pages of this `SITE`, or on the one of --page")
	fs.StringArrayVar(&c.selection.Views, "view", nil, "the page view with this `ID`, 32 hexadecimal digits; repeatable, up to 100 times")
	fs.StringVar(&c.release, "release", "", "traces of this `RELEASE`")
	fs.StringArrayVar(&c.labels, "label", nil, "traces with `KEY=VALUE`, such as device=mobile-low; repeatable")
	fs.StringVar(&c.since, "since", "", "what was received since `TIME` (default all)")
	fs.StringVar(&c.until, "until", "", "what was received before `TIME` (default all)")
	fs.BoolVar(&c.dryRun, "dry-run", false, "delete nothing, and say how much that would be")
	fs.BoolVar(&c.yes, "yes", false, "delete it")
	fs.BoolVar(&c.noWait, "no-wait", false, "do not wait until it is done")
	fs.BoolVar(&c.list, "list", false, "list the deletions that there were, the newest first")
	fs.StringVarP(&c.format, "format", "f", "text", "`FORMAT` to write: text or json")
	_ = fs.SetAnnotation("format", commandline.Values, []string{"text", "json"})
	fs.StringVar(&c.data, "data", "fieldtrie-data", "data `DIR` of ingest, which runs")
	c.daemon.Flags(fs)
	return &commandline.Program{Name: "aggregate delete", Summary: "delete traces and what they added to rollups", Usage: usage,
		Sections: []commandline.Section{{Flags: fs}}, Notes: "Exit status: 0; 1 if something went wrong; 2 for a wrong command line."}
}

// Check returns what is wrong with a command line that was read.
func (c *Command) Check(fs *pflag.FlagSet, now time.Time) (err error) {
	switch {
	case fs.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; see aggregate delete --help", fs.Arg(0))
	case c.format != "text" && c.format != "json":
		return fmt.Errorf("--format %s: known are text, json", c.format)
	case fs.Changed("data") && fs.Changed("addr"):
		return errors.New("--data and --addr: use one of them")
	}
	if err := c.daemon.Check(); err != nil {
		return err
	}
	s := &c.selection
	if s.Since, err = selection.ParseSince(c.since, now); err != nil {
		return fmt.Errorf("--since: %w", err)
	}
	if s.Until, err = selection.ParseTime(c.until, now); err != nil {
		return fmt.Errorf("--until: %w", err)
	}
	if s.Page != "" && s.Site != "" {
		s.Page, s.Site = site.Page(s.Site, s.Page), ""
	}
	if s.Labels, err = c.labelMap(); err != nil {
		return err
	}
	switch {
	case c.list && (!s.All() || c.dryRun || c.yes || c.noWait):
		return errors.New("--list lists the deletions that there were, and goes with no other flag about them")
	case c.list:
		return nil
	case s.All():
		return errors.New("say what to delete: --page, --site, --view, --release, --label, --since or --until")
	case c.dryRun == c.yes:
		return errors.New("say either --dry-run, to see how much that is, or --yes, to delete it: nothing brings it back but a backup")
	}
	return s.Check()
}

// labelMap returns the labels that traces are to have, by key.
func (c *Command) labelMap() (map[string]string, error) {
	labels := c.labels
	if c.release != "" {
		labels = append(labels, "release="+c.release)
	}
	out := map[string]string{}
	for _, text := range labels {
		key, value, _ := strings.Cut(text, "=")
		if key == "" || value == "" || strings.ContainsAny(key, "!~") || value[0] == '~' {
			return nil, fmt.Errorf("--label %q: it is not KEY=VALUE", text)
		}
		if was, ok := out[key]; ok && was != value {
			return nil, fmt.Errorf("--label %q: a trace has one %s, and it is to be %s already", text, key, was)
		}
		out[key] = value
	}
	return out, nil
}

// remote returns the daemon that has what is named.
func (c *Command) remote() (*api.Remote, error) {
	if c.daemon.Addr != "" {
		return c.daemon.Remote()
	}
	dir, isDir := shared.Folder(c.data)
	if !isDir {
		return nil, errors.New("a daemon deletes from a bucket: name one with --addr")
	}
	if r := api.NewSocketRemote(filepath.Join(dir, api.SocketName)); r.Alive() {
		return r, nil
	}
	return nil, fmt.Errorf("a daemon deletes, and none has %s open: start ingest, or name another one with --addr", dir)
}
