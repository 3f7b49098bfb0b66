package cause

import (
	"context"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// history is the length of the time before a change without a release that is compared.
const history = 14 * 24 * time.Hour

// Find searches the causes of a change in stored data. It reads the profiles of both times and, if
// a release caused the change, the edits. This takes as long as a comparison of both.
func Find(ctx context.Context, source query.Local, c *watch.Change, now time.Time) (causes []watch.Cause, note string,
	err error) {
	if c.What.Kind == watch.OfVital || len(c.Pages) == 0 {
		return nil, "", nil
	}
	source = source.OfPage(c.Pages[0].Page)
	e := Evidence{Owners: source.Rules()}
	if c.Release != "" && source.Symbols != nil {
		x, err := source.Edits(ctx, query.EditsQuery{A: c.CompareRelease, B: c.Release})
		if err != nil {
			return nil, "", fmt.Errorf("read edits: %w", err)
		}
		if e.Edits = &x; len(x.Missing) > 0 {
			e.Edits, note = nil, fmt.Sprintf("it is unknown which functions were edited: release %s: %s",
				x.Missing[0].Release, x.Missing[0].Problem)
		}
	}
	q, err := sides(ctx, source, c, now)
	if err != nil {
		return nil, "", err
	}
	before, err := source.Profile(ctx, q.A, nil)
	if err != nil {
		return nil, "", fmt.Errorf("before: %w", err)
	}
	after, err := source.Profile(ctx, q.B, nil)
	if err != nil {
		return nil, "", fmt.Errorf("after: %w", err)
	}
	e.Before, e.After = before.Profile, after.Profile
	if c.What.Kind == watch.OfFunction {
		q.A.GroupBy, q.B.GroupBy = nil, nil
		x, err := source.Compare(ctx, query.CompareQuery{A: q.A, B: q.B, Method: query.MethodSums, Brief: true})
		if err != nil {
			return nil, "", fmt.Errorf("compare: %w", err)
		}
		e.Compared = &x
	}
	causes, why := Of(c, &e)
	if c.Release != "" {
		history := source.Symbols.History(c.Release)
		for i := range causes {
			causes[i].Commits = commitsOf(&causes[i], &history)
		}
	}
	if note == "" || len(causes) > 0 {
		note = why
	}
	return causes, note, nil
}

// mostCommits limits the commits of a cause.
const mostCommits = 3

// commitsOf returns the newest commits that edit the file of a cause.
func commitsOf(c *watch.Cause, h *naming.History) (out []watch.Commit) {
	if c.Function == nil || c.Kind != watch.CauseEdited && c.Kind != watch.CauseAdded {
		return nil
	}
	all := h.Of(c.Function.Resource)
	for _, x := range all[:min(len(all), mostCommits)] {
		out = append(out, watch.Commit{SHA: x.SHA, Author: x.Author, Title: x.Title, URL: h.URL(x.SHA)})
	}
	return out
}

// sides returns the time before and the time after a change, at the same hours of the day. Releases
// that ran concurrently are compared over the same time.
func sides(ctx context.Context, source query.Local, c *watch.Change, now time.Time) (q query.CompareQuery, err error) {
	q.B = selection.Selection{Page: c.Pages[0].Page, Feature: c.What.Feature, Since: c.Begin, Until: now,
		GroupBy: Keys()}
	q.A = q.B
	q.A.Since, q.A.Until = c.Begin.Add(-history), c.Begin
	if c.Release == "" {
		return q, nil
	}
	if q.A.Where, err = of(c.CompareRelease); err != nil {
		return q, err
	}
	if q.B.Where, err = of(c.Release); err != nil {
		return q, err
	}
	const day = 24 * time.Hour
	back := (now.Sub(c.Begin) + day - 1).Truncate(day)
	q.A.Since, q.A.Until = q.B.Since.Add(-back), q.B.Until.Add(-back)
	at := q.A
	at.Since, at.Until, at.GroupBy = q.B.Since, q.B.Until, nil
	beside, err := source.Series(ctx, query.SeriesQuery{Selection: at,
		Step: max(day, (at.Until.Sub(at.Since) / 1000).Truncate(day))})
	if err != nil {
		return q, fmt.Errorf("find when release %s ran: %w", c.CompareRelease, err)
	}
	views := int64(0)
	for _, g := range beside.Groups {
		for _, p := range g.Points {
			views += p.Views
		}
	}
	if float64(views) >= c.Pages[0].Views.A/2 {
		q.A.Since, q.A.Until = q.B.Since, q.B.Until
	}
	return q, nil
}

func of(release string) ([]selection.Matcher, error) {
	m, err := selection.NewMatcher(rollup.KeyRelease, selection.Equal, release)
	return []selection.Matcher{m}, err
}
