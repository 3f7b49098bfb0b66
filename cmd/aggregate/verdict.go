package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/verdict"
)

// verdictCommand is the word after aggregate. A file of that name is ./verdict.
const verdictCommand = "verdict"

const verdictUsage = `Usage: aggregate verdict [--release B --compare-release A] --concurrent [flags]

Decides whether a rollout can continue, for tools that roll out a release in steps:

  pass      a change of --limit is ruled out, and nothing is significantly worse
  marginal  something is significantly worse, but by less than its limit
  fail      the page or a Web Vital is significantly worse, and by more than its limit
  not yet   there are too few page views; the output has the missing number and how long it
            takes, or an alternative if waiting cannot help

Without releases it compares the newest one with the earlier one that has the most page
views. --concurrent compares only hours in which both releases ran, so that neither the
time of day nor events of a single day look like a change. Hours with few page views are
pooled. The default time range is the last 14 days.

Examples:

  aggregate verdict --release B --compare-release A --concurrent --page /feed
  aggregate verdict --release B --compare-release A --concurrent --since 6h -f json \
    --addr https://profiles.example.com:8419
  until aggregate verdict --release B --compare-release A --concurrent; [ $? -ne 5 ]
  do sleep 600; done                                     wait while it is not yet`

// deciding holds the additional flags of aggregate verdict.
type deciding struct {
	limit, vitals, function string
	limits                  verdict.Limits
}

// verdictFlags are the flags that a verdict shares with aggregate.
func verdictFlags() []string {
	return append([]string{"page", "feature", "release", "label", "since", "until", "output", "data", "addr",
		"token-file", "ca", "site", "min-views", "compare-method", "concurrent"}, selectionFlags[:]...)
}

func verdictProgram() *commandline.Program { return new(command).verdictProgram(new(deciding)) }

func (c *command) verdictProgram(d *deciding) *commandline.Program {
	all, fs := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	c.flags(all)
	for _, name := range verdictFlags() {
		fs.AddFlag(all.Lookup(name))
	}
	fs.StringVarP(&c.formatName, "format", "f", "text", "`FORMAT` to write: text or json")
	_ = fs.SetAnnotation("format", commandline.Values, []string{"text", "json"})
	fs.StringVar(&d.limit, "limit", "5%", "largest acceptable `CHANGE` of the JavaScript time per page view")
	fs.StringVar(&d.vitals, "vital-limit", "10%",
		"largest acceptable `CHANGE` of the 75th percentile of a Web Vital, with one --page")
	fs.StringVar(&d.function, "function-limit", "1%",
		"a function that is slower by this share of a page view is marginal")
	return &commandline.Program{Name: "aggregate " + verdictCommand, Summary: "decide whether a rollout can continue",
		Usage:    verdictUsage,
		Sections: []commandline.Section{{Flags: fs}},
		Notes: "Exit status: 0 pass; 1 for an error; 2 for a wrong command line; 3 fail; 4 marginal;\n5 not yet; " +
			"6 not yet, and waiting cannot help. Repeated checks fail by chance sooner or\nlater: the 99 % interval " +
			"of the page holds for one check."}
}

// verdictError reports a verdict other than pass.
type verdictError struct {
	verdict.Word
	final bool // waiting cannot change it
}

func (e verdictError) Error() string { return "verdict: " + string(e.Word) }

// exitCode returns the exit status of a verdict.
func (e verdictError) exitCode() int {
	if e.Word == verdict.NotYet && e.final {
		return 6
	}
	return map[verdict.Word]int{verdict.Fail: 3, verdict.Marginal: 4, verdict.NotYet: 5}[e.Word]
}

func runVerdict(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, d := command{stdout: stdout, stderr: stderr, now: time.Now(), rows: 1}, deciding{}
	p := c.verdictProgram(&d)
	fs := p.Flags()
	if err := commandline.Parse(fs, args); errors.Is(err, pflag.ErrHelp) {
		return p.WriteHelp(stdout)
	} else if err != nil {
		return usageError{err}
	}
	if err := c.checkVerdict(fs, &d); err != nil {
		return usageError{err}
	}
	return c.verdict(ctx, &d)
}

func (c *command) checkVerdict(fs *pflag.FlagSet, d *deciding) error {
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see aggregate verdict --help", fs.Arg(0))
	}
	if c.formatName != "text" && c.formatName != "json" {
		return fmt.Errorf("--format %s: known are text, json", c.formatName)
	}
	for _, x := range []struct {
		flag, text string
		to         *float64
	}{{"limit", d.limit, &d.limits.Page}, {"vital-limit", d.vitals, &d.limits.Vital}, {"function-limit", d.function,
		&d.limits.Function}} {
		percent, err := budget.ParsePercent(x.text)
		if err != nil || percent == 0 {
			return fmt.Errorf("--%s %.40q is not a percentage above 0 such as 5%%", x.flag, x.text)
		}
		*x.to = percent / 100
	}
	c.sinceGiven = fs.Changed("since")
	if err := c.checkStore(fs, nil); err != nil {
		return err
	}
	if err := c.checkSelection(); err != nil {
		return err
	}
	c.comparing.newest = true
	return c.comparing.check(fs, c.selection, c.times)
}

// decided is the JSON output of a verdict.
type decided struct {
	verdict.Verdict
	Comparison query.Comparison `json:"comparison"`
}

func (c *command) verdict(ctx context.Context, d *deciding) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := c.chooseReleases(ctx, src); err != nil {
		return err
	}
	q := query.CompareQuery{A: c.comparing.selection, B: c.selection, Method: query.Method(c.comparing.method),
		Concurrent: c.comparing.concurrent}
	q.Options.MinViews = c.comparing.minViews
	got, err := src.Compare(ctx, q)
	if err != nil {
		return err
	}
	out := decided{verdict.Of(&got, d.limits), got}
	window, _ := selection.ParseAge(c.since) // 0 for a date: page views since then remain
	if err := out.Foresee(ctx, src, q, got.Views, c.now, window); err != nil {
		return err
	}
	err = c.emit(ctx, func(w io.Writer) error {
		if c.formatName == "json" {
			return writeJSON(w, out)
		}
		return out.WriteText(w, &out.Comparison)
	})
	if err != nil || out.Word == verdict.Pass {
		return err
	}
	return verdictError{out.Word, out.Instead != ""}
}
