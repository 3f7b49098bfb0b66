package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/query/file"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/rules/site"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/symbols/wasm"
	"github.com/fieldtrie/fieldtrie/web"
)

// refusing returns an error if one of the flags is given, because it conflicts with another flag.
type refusing func(with string, flags ...string) error

// check parses flag values and rejects contradictory flags.
func (c *command) check(fs *pflag.FlagSet) error {
	not := func(with string, flags ...string) error {
		for _, flag := range flags {
			if fs.Changed(flag) {
				return fmt.Errorf("--%s does not go with %s", flag, with)
			}
		}
		return nil
	}
	for _, check := range []func(*pflag.FlagSet, refusing) error{c.checkFiles, c.checkPrinted, c.checkStore,
		c.checkComparing} {
		if err := check(fs, not); err != nil {
			return err
		}
	}
	if err := c.checkHTTP(not); err != nil {
		return err
	}
	c.sinceGiven = fs.Changed("since")
	if err := c.checkBudgets(not); err != nil {
		return err
	}
	if err := c.checkFormat(); err != nil {
		return err
	}
	if f := c.formatName; f != "top" && f != "tree" && !c.series && !c.stats && !c.comparesTable() {
		if err := not("--format "+f, "rows"); err != nil {
			return err
		}
	}
	if err := c.checkSelection(); err != nil {
		return err
	}
	return c.comparing.check(fs, c.selection, c.times)
}

// checkFiles rejects flags for stored data if files are given, and flags for files otherwise.
func (c *command) checkFiles(fs *pflag.FlagSet, not refusing) error {
	if c.list != "" && !slices.Contains(lists[:], c.list) {
		return fmt.Errorf("--list %s: known are %s", c.list, strings.Join(lists[:], ", "))
	}
	if c.list != "" && (c.list == "threads") != (len(c.files) > 0) {
		return fmt.Errorf("--list %s: files have threads; stored data has pages, features, releases and coverage",
			c.list)
	}
	if c.readsTwice() {
		return errors.New("standard input is named twice")
	}
	if len(c.files) > 0 {
		c.since = ""
		if c.raw {
			if err := not("--raw", "maps"); err != nil {
				return err
			}
		}
		return not("files", "site", "since", "until", "data", "addr", "series", "total", "callers", "callees")
	}
	for _, flag := range []string{"thread", "profile", "events", "idle", "timed", "maps"} {
		if fs.Changed(flag) {
			return fmt.Errorf("--%s is for files, but the command line names none", flag)
		}
	}
	return nil
}

// checkPrinted rejects flags that conflict with output other than a profile.
func (c *command) checkPrinted(_ *pflag.FlagSet, not refusing) error {
	if c.list != "" {
		if err := not("--list", "series", "rows", "diff", "timed", "by", "only", "wasm", "thread", "profile", "events",
			"idle"); err != nil {
			return err
		}
	}
	for _, check := range []func(refusing) error{c.checkAround, c.checkSeries} {
		if err := check(not); err != nil {
			return err
		}
	}
	if c.stats {
		if err := not("--stats", "list", "series", "diff", "by", "only", "wasm"); err != nil {
			return err
		}
		if len(c.files) > 0 {
			return errors.New("--stats: only stored data has distributions, files do not")
		}
	}
	for _, of := range []struct {
		is   bool
		flag string
		not  []string
	}{{c.vitals, "--vitals", []string{"cost"}}, {c.cost, "--cost", []string{"group-by"}}} {
		if !of.is {
			continue
		}
		if err := not(of.flag, append(of.not, "list", "series", "stats", "diff", "by", "only", "wasm", "feature",
			"rows")...); err != nil {
			return err
		}
		if len(c.files) > 0 {
			return errors.New(of.flag + ": only stored data has Web Vitals, files do not")
		}
	}
	if c.timed {
		if err := not("--timed", "page", "feature", "release", "label", "diff", "rows", "only"); err != nil {
			return err
		}
	}
	if c.rows < 1 && c.rows != -1 {
		return fmt.Errorf("--rows %d: must be at least 1, or -1 for all", c.rows)
	}
	return nil
}

// checkStore rejects a command line that names two stores, or none.
func (c *command) checkStore(fs *pflag.FlagSet, _ refusing) error {
	if c.data == "" && c.daemon.Addr == "" {
		return errors.New("--data: the name of the directory is empty")
	}
	if fs.Changed("data") && fs.Changed("addr") {
		return errors.New("--data and --addr: use one of them")
	}
	return c.daemon.Check()
}

// checkComparing rejects flags that conflict with a comparison of selections.
func (c *command) checkComparing(fs *pflag.FlagSet, not refusing) error {
	for _, flag := range selectionFlags {
		if !fs.Changed(flag) {
			continue
		}
		if len(c.files) > 0 {
			return fmt.Errorf("--%s compares stored data; compare files with --diff FILE", flag)
		}
		c.comparing.given = true
		if err := not("--"+flag, "diff", "list", "series", "stats", "vitals", "cost"); err != nil {
			return err
		}
	}
	if c.comparesTable() { // which has one row for each function
		return not("a comparison as a table or JSON; other formats show a difference with it", "only", "wasm")
	}
	return nil
}

// comparesTable reports whether a comparison is printed as a table or as JSON, instead of
// as a profile of the difference.
func (c *command) comparesTable() bool {
	f := c.formatName
	return c.comparing.given && (f == "" || f == "table" || f == "json")
}

// readsTwice reports whether the command line names standard input more than once.
func (c *command) readsTwice() bool {
	n := 0
	for _, name := range append(slices.Clone(c.files), c.diff) {
		if name == "-" {
			n++
		}
	}
	return n > 1
}

func (c *command) checkFormat() error {
	if c.comparesTable() || c.budgets != "" || c.http != "" {
		return nil
	}
	if c.list != "" || c.series || c.stats || c.vitals || c.cost {
		if c.formatName != "" && c.formatName != "json" && c.formatName != "table" {
			what := "--list"
			switch {
			case c.series:
				what = "--series"
			case c.stats:
				what = "--stats"
			case c.vitals:
				what = "--vitals"
			case c.cost:
				what = "--cost"
			}
			return fmt.Errorf("%s writes json or a table, not %s", what, c.formatName)
		}
		return nil
	}
	if c.formatName == "" {
		c.formatName = "pprof"
	}
	var err error
	if c.format, err = formats.Writer(c.formatName); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	switch f := c.format; {
	case f.Encode == nil && len(c.files) == 0:
		return fmt.Errorf("--format %s needs time order, which merged stored traces do not have; name files", f.Name)
	case f.Encode == nil && c.diff != "", (c.diff != "" || c.comparing.given) && !f.Compares:
		return fmt.Errorf("--format %s cannot show a difference; use %s", f.Name,
			strings.Join(formats.Names(func(f formats.Format) bool { return f.Compares }), ", "))
	case f.Encode == nil:
		c.timed = true
	case c.timed && f.EncodeTimed == nil:
		return fmt.Errorf("--timed: %s has no time order; %s have", f.Name,
			strings.Join(formats.Names(func(f formats.Format) bool { return f.EncodeTimed != nil }), ", "))
	}
	if c.format.Binary && c.output == "" && isTerminal(c.stdout) {
		return fmt.Errorf("will not write %s to a terminal; use --output FILE, a pipe, or --format top", c.format.Name)
	}
	return nil
}

func (c *command) checkSite() error {
	if c.site == "" {
		return nil
	}
	if err := site.CheckName(c.site); err != nil {
		return fmt.Errorf("--site: %w", err)
	}
	return nil
}

func (c *command) checkSelection() error {
	if err := c.checkSite(); err != nil {
		return err
	}
	if c.site != "" {
		for _, page := range []*string{&c.page, &c.comparing.page} {
			if *page != "" {
				*page = site.Page(c.site, *page)
			}
		}
	}
	s := selection.Selection{Page: c.page, Feature: c.feature, Minified: c.raw, Parts: c.parts()}
	if c.release != "" {
		s.Where = append(s.Where, selection.Matcher{Key: "release", Op: selection.Equal, Value: c.release})
	}
	for _, text := range c.labels {
		m, err := selection.ParseMatcher(text)
		if err != nil {
			return fmt.Errorf("--label: %w", err)
		}
		s.Where = append(s.Where, m)
	}
	times, err := c.times(c.since, c.until)
	if err != nil {
		return err
	}
	s.Since, s.Until = times.Since, times.Until
	if err := c.checkStep(times); err != nil {
		return err
	}
	// Formats with labels get them; in others each page view counts once.
	if c.format.Labels {
		s.GroupBy = selection.AllGroups()
	}
	c.selection = s
	return c.checkPick()
}

// times parses the two ends of a time range into an otherwise empty selection.
func (c *command) times(since, until string) (s selection.Selection, err error) {
	if s.Since, err = selection.ParseSince(since, c.now); err != nil {
		return s, fmt.Errorf("--since: %w", err)
	}
	if s.Until, err = selection.ParseTime(until, c.now); err != nil {
		return s, fmt.Errorf("--until: %w", err)
	}
	if !s.Since.IsZero() && !s.Until.IsZero() && !s.Since.Before(s.Until) {
		return s, fmt.Errorf("--since %s is not before --until %s", since, until)
	}
	return s, nil
}

// checkPick parses the flags for how functions are shown, except --wasm.
func (c *command) checkPick() error {
	c.pick = file.Pick{Threads: c.threadNames(), Apart: c.format.ForPeople && len(c.files) > 0 || c.http != "",
		Profile: c.profile, Events: c.events, Idle: c.idle, Minified: c.raw}
	if !slices.Contains(selection.PartsBy(), c.by) {
		return fmt.Errorf("--by %s: known are %s", c.by, strings.Join(selection.PartsBy(), ", "))
	}
	if c.only != "" && c.only != "app" && c.only != "mine" {
		return fmt.Errorf("--only %s: known are mine, app", c.only)
	}
	c.pick.Parts = c.parts()
	return nil
}

// parts returns the part of the code, such as file or package, that functions are merged into.
func (c *command) parts() selection.Parts {
	p := selection.Parts{By: c.by, Only: c.only}
	if p.By == "function" {
		p.By = ""
	}
	return p
}

// readOwners reads the ownership rules.
func (c *command) readOwners() error {
	if c.owners == "" {
		return nil
	}
	f, err := os.Open(c.owners)
	if err != nil {
		return fmt.Errorf("--owners: %w", err)
	}
	defer func() { _ = f.Close() }()
	if c.pick.Owners, err = owner.Parse(f); err != nil {
		return fmt.Errorf("--owners %s: %w", c.owners, err)
	}
	return nil
}

// readModules reads the modules named by --wasm.
func (c *command) readModules() error {
	var modules wasm.Modules
	for _, name := range c.wasm {
		m, err := readModule(name)
		if err != nil {
			return fmt.Errorf("--wasm: %w", err)
		}
		modules = append(modules, m)
	}
	if len(modules) > 0 {
		c.pick.Rename = modules.Rename
	}
	return nil
}

// readTemplate reads the dashboard's template if the format needs it.
func (c *command) readTemplate() (err error) {
	if !c.format.Template {
		return nil
	}
	if c.template, err = web.ProfileFile(); err != nil {
		return fmt.Errorf("--format %s: %w", c.format.Name, err)
	}
	return nil
}

func readModule(name string) (*wasm.Module, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	m, err := wasm.Read(f, filepath.Base(name))
	if x, ok := errors.AsType[*fs.PathError](err); ok {
		err = x // without the name before it
	}
	return m, err
}
