package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/summary"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/rollout"
	"github.com/fieldtrie/fieldtrie/trie"
)

// comparing holds the flags of the other selection of a comparison.
type comparing struct {
	page, feature, release string
	labels                 []string
	since, until           string
	method                 string
	minViews               int
	concurrent             bool

	given     bool
	newest    bool // no release was given: compare the newest one, see chooseReleases
	selection selection.Selection
}

func (c *comparing) flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.release, "compare-release", "",
		"print the changes since this `RELEASE`, in ms per page view, and whether they are significant")
	fs.StringVar(&c.since, "compare-since", "", "print the changes since data received from this `TIME` on")
	fs.StringVar(&c.until, "compare-until", "", "and before this `TIME` (default --since)")
	fs.StringArrayVar(&c.labels, "compare-label", nil, "compare with the time with `KEY=VALUE`; repeatable")
	fs.StringVar(&c.page, "compare-page", "", "compare with this `PAGE`")
	fs.StringVar(&c.feature, "compare-feature", "", "compare with this `FEATURE`")
	fs.StringVar(&c.method, "compare-method", "auto",
		"`METHOD` of comparison: views reads single page views, sums reads rollups, auto chooses")
	fs.BoolVar(&c.concurrent, "concurrent", false,
		"compare only hours in which both sides have page views, pooled until each has 30; for gradual rollouts")
	fs.IntVar(&c.minViews, "min-views", 100, "page views that each side of a comparison needs")
}

// selectionFlags define the other selection; without any of them there is no
// comparison.
var selectionFlags = [...]string{"compare-release", "compare-since", "compare-until", "compare-label", "compare-page",
	"compare-feature"}

// check parses the flags. sel is the selection to compare with the one of the flags.
func (c *comparing) check(fs *pflag.FlagSet, sel selection.Selection,
	parse func(since, until string) (selection.Selection, error)) error {
	for _, flag := range selectionFlags {
		c.given = c.given || fs.Changed(flag)
	}
	if !c.given && !c.newest {
		for _, flag := range []string{"compare-method", "min-views", "concurrent"} {
			if fs.Changed(flag) {
				return fmt.Errorf("--%s is for a comparison; name the other side, for example with --compare-release",
					flag)
			}
		}
		return nil
	}
	switch query.Method(c.method) {
	case query.MethodViews, query.MethodSums:
	case "auto":
		c.method = string(query.MethodAuto)
	default:
		return fmt.Errorf("--compare-method %s: known are auto, views, sums", c.method)
	}
	if c.minViews < 2 {
		return fmt.Errorf("--min-views %d: must be at least 2", c.minViews)
	}
	c.selection = sel
	if fs.Changed("compare-page") {
		c.selection.Page = c.page
	}
	if fs.Changed("compare-feature") {
		c.selection.Feature = c.feature
	}
	var where []selection.Matcher
	if c.release != "" {
		where = append(where, selection.Matcher{Key: "release", Op: selection.Equal, Value: c.release})
	}
	for _, text := range c.labels {
		m, err := selection.ParseMatcher(text)
		if err != nil {
			return fmt.Errorf("--compare-label: %w", err)
		}
		where = append(where, m)
	}
	c.selection.Where = selection.Replace(sel.Where, where)
	if c.since == "" && c.until == "" {
		return nil
	}
	times, err := parse(c.since, c.until)
	c.selection = c.selection.Before(times.Since, times.Until)
	return err
}

// chooseReleases chooses the two releases of a comparison unless the command line names a side.
func (c *command) chooseReleases(ctx context.Context, src query.Source) error {
	if c.comparing.given {
		return nil
	}
	pair, before, after, err := rollout.Sides(ctx, src, c.selection)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "aggregate: release %s is compared with %s\n",
		output.Printable(pair.Release), output.Printable(pair.CompareRelease))
	if pair.Guess != "" {
		c.warn([]string{pair.Guess})
	}
	c.comparing.selection, c.comparing.release, c.selection, c.release = before, pair.CompareRelease, after,
		pair.Release
	return nil
}

// printComparison prints the changes.
func (c *command) printComparison(ctx context.Context) (err error) {
	src, done, err := c.source()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	q := query.CompareQuery{A: c.comparing.selection, B: c.selection, Method: query.Method(c.comparing.method)}
	q.Options.MinViews, q.Concurrent = c.comparing.minViews, c.comparing.concurrent
	got, err := src.Compare(ctx, q)
	if err != nil {
		return err
	}
	c.warn(got.StatsA.Warnings)
	c.warn(got.StatsB.Warnings)
	switch { // JSON output always has the result
	case q.Concurrent && (got.Views.B == 0 || got.Views.A == 0):
		err = errors.New(strings.Join(got.Warnings, "; "))
	case got.Views.B == 0:
		err = c.nothingFound(ctx, src)
	case got.Views.A == 0:
		err = fmt.Errorf("nothing to compare with: no page views%s", sideName(q.A))
	default:
		c.warn(got.Warnings)
		c.tellNames(got.Names)
	}
	if err != nil && c.formatName != "json" {
		return err
	}
	return errors.Join(c.emitComparison(ctx, q, &got), err)
}

// emitComparison writes a comparison to the output of the command line.
func (c *command) emitComparison(ctx context.Context, q query.CompareQuery, got *query.Comparison) error {
	err := c.emitResponse(ctx, got, func(w io.Writer, s terminal.Screen) error {
		return summary.WriteText(w, s, [2]string{sideName(q.A), sideName(q.B)}, got, c.rows)
	})
	if err != nil || c.toStdout() {
		return err
	}
	c.wrote(fmt.Sprintf("comparison of %.0f and %.0f page views", got.Views.A, got.Views.B))
	return nil
}

// sides returns the profiles of both sides, scaled to the adjusted means of a comparison. With
// groups, which must stay comparable, they are returned as measured.
func (c *command) sides(ctx context.Context, src query.Source, progress func(uint64)) (a, b query.Result, err error) {
	other := c.comparing.selection
	if len(c.selection.GroupBy) == 0 {
		return query.Sides(ctx, src, other, c.selection, compare.Options{MinViews: c.comparing.minViews}, progress)
	}
	other.GroupBy = c.selection.GroupBy
	if b, err = src.Profile(ctx, c.selection, progress); err != nil {
		return a, b, err
	}
	if a, err = src.Profile(ctx, other, progress); err == nil {
		a.Profile = compare.Align(a.Profile, b.Profile)
	}
	return a, b, err
}

// comparedProfile returns the profile of the other selection, scaled to the page views of p.
func (c *command) comparedProfile(result query.Result, p *trie.Profile) (*trie.Profile, error) {
	c.warn(result.Stats.Warnings)
	c.tellNames(result.Stats.Names)
	if c.empty(result) {
		return nil, fmt.Errorf("nothing to compare with was stored%s", c.comparing.selection)
	}
	return c.pick.Rewrite(result.Profile).Scale(p.Views), nil
}

// sideName describes the page views of a side, to follow the words "page views"; "" means all.
func sideName(s selection.Selection) string {
	text := s.String()
	const layout = "2006-01-02 15:04"
	if !s.Since.IsZero() {
		text += " from " + s.Since.UTC().Format(layout)
	}
	if !s.Until.IsZero() {
		text += " to " + s.Until.UTC().Format(layout)
	}
	return text
}
