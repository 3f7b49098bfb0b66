package watching

import (
	"fmt"
	"math"
	"net/url"
	"strings"

	"github.com/fieldtrie/fieldtrie/notify"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
)

// mostTold bounds the pages that a message names.
const mostTold = 5

// messageOf returns the notification that a change was detected or has ended.
func messageOf(n changes.Notification, c *changes.Item, h naming.History, dashboard string) notify.Message {
	m := notify.Message{ID: n.ID, Time: n.Since, Event: notify.Event(n.Event), Change: c.ID, Title: c.Title,
		Begin: c.Begin, End: c.Resolved, Commit: h.Commit, Repository: h.RepositoryURL,
		Labels: map[string]string{"page": c.Pages[0].Page, "direction": string(c.Direction), "metric": c.What.Metric,
			"kind": string(c.What.Kind)}}
	for label, text := range map[string]string{"release": c.Release, "owner": c.Owner, "team": c.Team,
		"feature": c.What.Feature} {
		if text != "" {
			m.Labels[label] = text
		}
	}
	if f := c.What.Function; f != nil {
		m.Labels["function"] = f.Name
	}
	for _, p := range c.Pages {
		m.Pages = append(m.Pages, p.Page)
	}
	e, _ := changes.Shown(&c.Pages[0])
	if changes.Unit(c.What) == "ms" {
		m.Milliseconds = new(math.Abs(e.Value))
	}
	if n.Event == changes.EventResolved {
		m.Title = "Resolved: " + c.Title
		m.Lines = append(m.Lines, ended(c))
	}
	m.Lines = append(m.Lines, linesOf(c)...)
	if dashboard != "" {
		m.Link = strings.TrimSuffix(dashboard, "/") + "/changes?" + url.Values{"id": {c.ID}}.Encode()
	}
	return m
}

// brakeMessage returns the notification about a page with reduced sampling.
func brakeMessage(n changes.Notification, b *changes.Brake, dashboard string) notify.Message {
	m := notify.Message{ID: n.ID, Time: n.Since, Event: notify.Found, Change: b.ID, Begin: b.Begin,
		Pages:  []string{b.Page},
		Title:  fmt.Sprintf("Profiling costs visitors of %s more than the limit: %s", b.Page, restOf(b)),
		Labels: map[string]string{"page": b.Page, "direction": string(watch.Slower), "metric": "cost"},
		Lines: []string{
			"Measured: " + b.Why,
			fmt.Sprintf("The share was %.3g %% before. Browsers learn the new share from the response to a trace, "+
				"so the first page view of a visitor still uses the old one: lower the share that your server "+
				"sends, too.", 100*b.First),
			"It stays so until max_cost: since: in the file of --budgets is a later time.",
		}}
	if dashboard != "" {
		m.Link = strings.TrimSuffix(dashboard, "/") + "/health?" + url.Values{"page": {b.Page}}.Encode()
	}
	return m
}

// restOf describes the share of page views that are still profiled.
func restOf(b *changes.Brake) string {
	if b.Rate == 0 {
		return "none of its page views is profiled now"
	}
	return fmt.Sprintf("at most %.3g %% of its page views are profiled now", 100*b.Rate)
}

// ended describes how a change ended.
func ended(c *changes.Item) string {
	switch c.Resolution {
	case watch.Back:
		return "It returned to the earlier level."
	case watch.NewNormal:
		return "It lasted 14 days and is the new normal."
	case watch.ByHand:
		if c.Handled != nil && c.Handled.By != "" {
			return c.Handled.By + " resolved it."
		}
	}
	return "It was resolved by hand."
}

// linesOf returns lines with the place, the start and the possible causes of a change.
func linesOf(c *changes.Item) (lines []string) {
	lines = append(lines, "Since: "+changes.Since(&c.Change))
	if f := c.What.Function; f != nil && f.Resource != "" {
		lines = append(lines, fmt.Sprintf("Function: %s:%d:%d", f.Resource, f.Line, f.Column))
	}
	if len(c.Pages) > 1 {
		var names []string
		for _, p := range c.Pages[:min(len(c.Pages), mostTold)] {
			names = append(names, p.Page)
		}
		text := "Pages: " + strings.Join(names, ", ")
		if more := len(c.Pages) - len(names); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, text)
	}
	for _, cause := range c.Causes {
		lines = append(lines, "Cause, likely: "+cause.Text)
		for _, x := range cause.Commits {
			lines = append(lines, "Commit: "+changes.CommitText(x))
		}
	}
	if len(c.Causes) == 0 && c.CausesNote != "" {
		lines = append(lines, "Cause: "+c.CausesNote)
	}
	return lines
}
