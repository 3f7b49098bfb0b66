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

Requests a daemon to delete traces and their share of rollups, selected by page, site,
release, label, time, page view, or any combination of these. Deletion may take a while;
it continues if this program stops, and after a restart of the daemon. Only a backup can
restore deleted data. More in docs/privacy.md.

Examples:

  aggregate delete --view 5f0c…e1 --dry-run               count the data of a page view
  aggregate delete --view 5f0c…e1 --yes
  aggregate delete --page /account --yes                  a whole page
  aggregate delete --since 2026-11-20T08:00:00Z --until 2026-11-20T10:00:00Z --yes
  aggregate delete --release 4711 --label device=mobile-low --yes
  aggregate delete --list                                 who deleted what`

// Command holds the flags of aggregate delete.
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

// New returns a Command without any flag set.
func New() *Command { return new(Command) }

// Program describes the command line.
func (c *Command) Program() *commandline.Program {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.StringVarP(&c.selection.Page, "page", "p", "", "the time on this `PAGE`, such as /feed")
	fs.StringVar(&c.selection.Site, "site", "", "the time on the pages of this `SITE`, or on the one of --page")
	fs.StringArrayVar(&c.selection.Views, "view", nil,
		"the page view with this `ID`, 32 hexadecimal digits; repeatable, up to 100 times")
	fs.StringVar(&c.release, "release", "", "traces of this `RELEASE`")
	fs.StringArrayVar(&c.labels, "label", nil, "traces with `KEY=VALUE`, such as device=mobile-low; repeatable")
	fs.StringVar(&c.since, "since", "", "data received since `TIME` (default all)")
	fs.StringVar(&c.until, "until", "", "data received before `TIME` (default all)")
	fs.BoolVar(&c.dryRun, "dry-run", false, "report how much would be deleted, without deleting it")
	fs.BoolVar(&c.yes, "yes", false, "delete it")
	fs.BoolVar(&c.noWait, "no-wait", false, "return before the deletion is done")
	fs.BoolVar(&c.list, "list", false, "list past deletions, newest first")
	fs.StringVarP(&c.format, "format", "f", "text", "`FORMAT` to write: text or json")
	_ = fs.SetAnnotation("format", commandline.Values, []string{"text", "json"})
	fs.StringVar(&c.data, "data", "fieldtrie-data", "data `DIR` of a running ingest")
	c.daemon.Flags(fs)
	return &commandline.Program{Name: "aggregate delete", Summary: "delete traces and what they added to rollups",
		Usage:    usage,
		Sections: []commandline.Section{{Flags: fs}},
		Notes:    "Exit status: 0 on success; 1 for an error; 2 for a wrong command line."}
}

// Check returns an error for a parsed command line that is contradictory or incomplete.
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
		return errors.New("--list lists past deletions and cannot be combined with flags that select data")
	case c.list:
		return nil
	case s.All():
		return errors.New("select data to delete: --page, --site, --view, --release, --label, --since or --until")
	case c.dryRun == c.yes:
		return errors.New("use --dry-run to count the data, or --yes to delete it; only a backup can restore it")
	}
	return s.Check()
}

// labelMap returns the labels that selected traces must have, by key.
func (c *Command) labelMap() (map[string]string, error) {
	labels := c.labels
	if c.release != "" {
		labels = append(labels, "release="+c.release)
	}
	out := map[string]string{}
	for _, text := range labels {
		key, value, _ := strings.Cut(text, "=")
		if key == "" || value == "" || strings.ContainsAny(key, "!~") || value[0] == '~' {
			return nil, fmt.Errorf("--label %q: must be KEY=VALUE", text)
		}
		if was, ok := out[key]; ok && was != value {
			return nil, fmt.Errorf("--label %q: a trace has only one %s, and another --label selects %s",
				text, key, was)
		}
		out[key] = value
	}
	return out, nil
}

// remote returns a client of the daemon that owns the named data.
func (c *Command) remote() (*api.Remote, error) {
	if c.daemon.Addr != "" {
		return c.daemon.Remote()
	}
	dir, isDir := shared.Folder(c.data)
	if !isDir {
		return nil, errors.New("only a daemon can delete from a bucket; name one with --addr")
	}
	if r := api.NewSocketRemote(filepath.Join(dir, api.SocketName)); r.Alive() {
		return r, nil
	}
	return nil, fmt.Errorf("only a daemon can delete, but none has %s open: start ingest, or name a daemon with --addr",
		dir)
}
