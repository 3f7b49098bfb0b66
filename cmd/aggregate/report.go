package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/cmd/aggregate/capture"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/summary"
)

// reportCommand is the word after aggregate. A file of that name is ./report.
const reportCommand = "report"

const reportUsage = `Usage: aggregate report [--release B --compare-release A] [flags]

Writes a one-page report for reviewers of a release: whether pages became slower for real
users, by how many milliseconds per page view, which functions changed, and which budgets
are blown. Changes have confidence intervals and are marked if they are not significant.
Without --page the report covers all pages and lists the ones with the most time. Without
releases it compares the newest one with the earlier one that has the most page views.

Examples:

  aggregate report
  aggregate report --release 2026.11.3 --compare-release 2026.11.2
  aggregate report --release B --compare-release A --budgets budgets.yaml \
    --addr https://profiles.example.com:8419 --output report.md
  gh pr comment "$PR" --body-file report.md
  aggregate report --page /feed --since 24h --compare-since 48h --format json
  aggregate report --lab --page /feed                    see aggregate capture`

// reporting holds the additional flags of aggregate report.
type reporting struct {
	pages, rows int
	dashboard   string
	lab         bool
}

// reportFlags are the flags that a report shares with aggregate.
func reportFlags() []string {
	return append([]string{"page", "feature", "release", "label", "since", "until", "output", "data", "addr",
		"token-file", "ca", "site", "budgets", "owners", "min-views", "compare-method"}, selectionFlags[:]...)
}

func reportProgram() *commandline.Program { return new(command).reportProgram(new(reporting)) }

func (c *command) reportProgram(r *reporting) *commandline.Program {
	all, fs := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	c.flags(all)
	for _, name := range reportFlags() {
		fs.AddFlag(all.Lookup(name))
	}
	fs.StringVarP(&c.formatName, "format", "f", "markdown", "`FORMAT` to write: markdown or json")
	_ = fs.SetAnnotation("format", commandline.Values, []string{"markdown", "json"})
	fs.IntVar(&r.pages, "pages", 10, "pages to compare separately, up to 100")
	fs.IntVar(&r.rows, "rows", 20, "functions to list, up to 200")
	fs.StringVar(&r.dashboard, "dashboard", "", "`URL` of the dashboard, for links (default: the daemon at --addr)")
	fs.BoolVar(&r.lab, "lab", false,
		"compare page views of aggregate capture with those of users: which functions only users run, and which "+
			"take longer for users")
	return &commandline.Program{Name: "aggregate " + reportCommand,
		Summary: "write a one-page report of what a release changed", Usage: reportUsage,
		Sections: []commandline.Section{{Flags: fs}},
		Notes: "Exit status: 0 on success; 1 for an error; 2 for a wrong command line; 3 if a budget of " +
			"--budgets is\nblown. A side without page views, or with too few, is reported and does not change the " +
			"status."}
}

func (r *reporting) check() error {
	for _, x := range []struct {
		flag       string
		value, max int
	}{{"pages", r.pages, 100}, {"rows", r.rows, 200}} {
		if x.value < 1 || x.value > x.max {
			return fmt.Errorf("--%s %d: must be from 1 to %d", x.flag, x.value, x.max)
		}
	}
	if u, err := url.Parse(r.dashboard); r.dashboard != "" && (err != nil || u.Scheme != "https" &&
		u.Scheme != "http" || u.Host == "") {
		return fmt.Errorf("--dashboard %s: must be a URL such as https://profiles.example.com:8419", r.dashboard)
	}
	return nil
}

func runReport(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, r := command{stdout: stdout, stderr: stderr, now: time.Now(), rows: 1}, reporting{}
	p := c.reportProgram(&r)
	fs := p.Flags()
	if err := commandline.Parse(fs, args); errors.Is(err, pflag.ErrHelp) {
		return p.WriteHelp(stdout)
	} else if err != nil {
		return usageError{err}
	}
	if err := c.checkReport(fs, &r); err != nil {
		return usageError{err}
	}
	if err := c.readOwners(); err != nil {
		return err
	}
	return c.report(ctx, &r)
}

func (c *command) checkReport(fs *pflag.FlagSet, r *reporting) error {
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see aggregate report --help", fs.Arg(0))
	}
	if c.formatName != "markdown" && c.formatName != "json" {
		return fmt.Errorf("--format %s: known are markdown, json", c.formatName)
	}
	c.sinceGiven = fs.Changed("since")
	if err := errors.Join(r.check(), c.checkStore(fs, nil)); err != nil {
		return err
	}
	if r.lab {
		if err := c.labSides(fs); err != nil {
			return err
		}
	}
	if err := c.checkSelection(); err != nil {
		return err
	}
	c.comparing.newest = true
	return c.comparing.check(fs, c.selection, c.times)
}

// labViews is how many page views each side needs: a lab rarely records a hundred visits.
const labViews = 5

// labSides sets both sides of the comparison, users and lab, by environment.
func (c *command) labSides(fs *pflag.FlagSet) error {
	for _, flag := range selectionFlags {
		if fs.Changed(flag) {
			return fmt.Errorf("--%s does not go with --lab, which chooses both sides itself", flag)
		}
	}
	c.labels = append(c.labels, "environment="+capture.Environment)
	for flag, value := range map[string]string{"compare-label": "environment!=" + capture.Environment} {
		if err := fs.Set(flag, value); err != nil {
			return err
		}
	}
	if !fs.Changed("min-views") {
		c.comparing.minViews = labViews
	}
	return nil
}

func (c *command) report(ctx context.Context, r *reporting) (err error) {
	var file *budget.File
	if c.budgets != "" {
		if file, err = c.readBudgets(); err != nil {
			return err
		}
	}
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := c.chooseReleases(ctx, src); err != nil {
		return err
	}
	q := summary.Query{Compare: query.CompareQuery{A: c.comparing.selection, B: c.selection,
		Method: query.Method(c.comparing.method)},
		SideA: sideTitle(c.comparing.selection, c.comparing.release), SideB: sideTitle(c.selection, c.release),
		Pages: r.pages, Functions: r.rows, Dashboard: c.dashboardOf(r), Selection: c.dashboardSelection()}
	q.Compare.Options.MinViews = c.comparing.minViews
	if r.lab {
		q.SideA, q.SideB, q.Lab, q.Compare.Plain = "users", "the lab", true, true
	}
	if file != nil {
		if q.Budgets, err = budget.Evaluate(ctx, src, file, c.now); err != nil {
			return err
		}
	}
	s, err := summary.Make(ctx, src, q)
	if err != nil {
		return err
	}
	err = c.emit(ctx, func(w io.Writer) error {
		if c.formatName == "json" {
			return writeJSON(w, s)
		}
		return s.WriteMarkdown(w)
	})
	if err != nil {
		return err
	}
	var blown []string
	for _, b := range q.Budgets {
		if b.Verdict == budget.Blown {
			blown = append(blown, b.Name)
		}
	}
	if len(blown) > 0 {
		return blownError{blown}
	}
	return nil
}

// sideTitle names a side, by its release if it has one.
func sideTitle(s selection.Selection, release string) string {
	if release != "" {
		return "release " + release
	}
	return cmp.Or(strings.TrimSpace(sideName(s)), "all page views")
}

// dashboardOf returns the address of the dashboard, empty if unknown.
func (c *command) dashboardOf(r *reporting) string {
	at := r.dashboard
	if at == "" {
		if at = c.daemon.Addr; at != "" && !strings.Contains(at, "://") {
			at = "http://" + at
		}
	}
	u, err := url.Parse(at)
	if err != nil || at == "" {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return strings.TrimSuffix(u.String(), "/")
}

// dashboardSelection returns the compared selections as parameters of the
// dashboard's URLs.
func (c *command) dashboardSelection() url.Values {
	v := url.Values{}
	for key, value := range map[string]string{"since": c.since, "until": c.until, "page": c.page, "feature": c.feature,
		"release":       c.release,
		"compare_since": c.comparing.since, "compare_until": c.comparing.until, "compare_page": c.comparing.page,
		"compare_feature": c.comparing.feature, "compare_release": c.comparing.release} {
		if value != "" {
			v.Set(key, value)
		}
	}
	for _, l := range c.labels {
		v.Add("label", l)
	}
	for _, l := range c.comparing.labels {
		v.Add("compare_label", l)
	}
	return v
}
