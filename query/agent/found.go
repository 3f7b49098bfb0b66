package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

type changesIn struct {
	Page  string `json:"page,omitempty" jsonschema:"only changes on this page"`
	State string `json:"state,omitempty" jsonschema:"comma-separated states: open, acknowledged, expected, resolved; open,acknowledged,expected by default"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many, up to 200; 20 by default"`
}

type changesOut struct {
	Changes   []foundOut `json:"changes"`             // the newest first
	More      int        `json:"more,omitempty"`      // changes that are not listed
	Evaluated string     `json:"evaluated,omitempty"` // the time of the last evaluation; absent without one
}

type foundOut struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Direction string `json:"direction"` // slower, faster, or moved: time that went from one function to another
	// a function, a feature, a Web Vital, or JavaScript for the whole page
	What   string   `json:"what"`
	File   string   `json:"file,omitempty"` // place of the function
	Line   uint32   `json:"line,omitempty"`
	Column uint32   `json:"column,omitempty"`
	Pages  []string `json:"pages"`  // the largest added time first
	Before float64  `json:"before"` // on the first page, in ms per page view (cls: a score)
	After  float64  `json:"after"`
	Change Estimate `json:"change"`
	Since  string   `json:"since"` // release or day of its beginning
	Causes []string `json:"causes,omitempty"`
	Note   string   `json:"note,omitempty"` // reason for having no causes
}

// mostFoundPages is the maximum number of listed pages of a change.
const mostFoundPages = 10

func (t tools) found(ctx context.Context, in changesIn) (out changesOut, err error) {
	if t.Changes == nil {
		return out, errors.New(
			"there are no changes here: only a daemon detects changes, unless it was started with --watch=false")
	}
	limit, err := rows(in.Limit, 20)
	if err != nil {
		return out, err
	}
	states := in.State
	if states == "" {
		states = "open,acknowledged,expected"
	}
	q := changes.Query{Page: in.Page, Limit: limit}
	if q.States, err = changes.ParseStates(states); err != nil {
		return out, fmt.Errorf("state: %w", err)
	}
	src, err := t.Changes(t.Source)
	if err != nil {
		return out, err
	}
	list, err := src.Changes(ctx, q)
	if err != nil {
		return out, err
	}
	out = changesOut{Changes: []foundOut{}, More: list.More}
	if !list.Evaluated.IsZero() {
		out.Evaluated = list.Evaluated.UTC().Format("2006-01-02 15:04")
	}
	for i := range list.Changes {
		out.Changes = append(out.Changes, foundOf(&list.Changes[i].Change))
	}
	return out, nil
}

func foundOf(c *watch.Change) foundOut {
	p := &c.Pages[0]
	e, _ := changes.Shown(p)
	x := foundOut{ID: c.ID, State: string(c.State), Direction: string(c.Direction), What: name(changes.Text(c.What)),
		Before: rounded(p.Value.A), After: rounded(p.Value.B),
		Change: roundedEstimate(e), Since: name(changes.Since(c)), Note: sentence(c.CausesNote)}
	if f := c.What.Function; f != nil {
		x.File, x.Line, x.Column = name(f.Resource), f.Line, f.Column
	}
	for _, p := range c.Pages[:min(len(c.Pages), mostFoundPages)] {
		x.Pages = append(x.Pages, name(p.Page))
	}
	for _, cause := range c.Causes {
		x.Causes = append(x.Causes, sentence(cause.Text))
	}
	return x
}

func (o changesOut) text() string {
	var b strings.Builder
	for _, c := range o.Changes {
		fmt.Fprintf(&b, "%s, %s: %s, %s, from %g to %g ms on %s", c.ID, c.State, c.Direction, c.Change.signed(),
			c.Before, c.After, strings.Join(c.Pages, ", "))
		fmt.Fprintf(&b, ", %s: %s\n", c.Since, function(c.What, c.File, c.Line, c.Column))
		for _, cause := range c.Causes {
			b.WriteString("  " + cause + "\n")
		}
		if c.Note != "" {
			b.WriteString("  " + c.Note + "\n")
		}
	}
	switch {
	case o.Evaluated == "":
		b.WriteString("Pages have not been evaluated yet; a daemon evaluates them after each hour.\n")
	case len(o.Changes) == 0:
		b.WriteString("No changes match. Pages were last evaluated at " + o.Evaluated + ".\n")
	case o.More > 0:
		fmt.Fprintf(&b, "… and %d more; raise limit to see them\n", o.More)
	}
	return b.String()
}
