package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// Source answers queries about changes.
type Source interface {
	// Changes lists changes, the newest first.
	Changes(ctx context.Context, q Query) (List, error)
	// Change returns a change with its series. It returns a [query.NotFoundError] if the change
	// does not exist.
	Change(ctx context.Context, id string) (Report, error)
	// Handle records the triage of a change, and returns the change. It returns a [ForbiddenError]
	// if the user lacks permission.
	Handle(ctx context.Context, id string, h Handling, by string) (Item, error)
}

// Query selects changes.
type Query struct {
	Page   string        // page of the change; "" for any
	Since  time.Time     // earliest time at which it was found or reopened
	States []watch.State // empty for all
	Owner  string        // team or owner of the function; "" for any
	Limit  int           // 0 for all
}

// Item is a change as it is shown to a client.
type Item struct {
	Title string `json:"title"` // one line, with names as browsers reported them
	watch.Change
	// Owner and Team are the owner of the function's code, by the current rules.
	Owner string `json:"owner,omitempty"`
	Team  string `json:"team,omitempty"`
}

// ParseStates parses states of changes, separated by commas. It returns nil for an empty text.
func ParseStates(text string) (states []watch.State, err error) {
	if text == "" {
		return nil, nil
	}
	known := []watch.State{watch.Open, watch.Acknowledged, watch.Expected, watch.Resolved}
	for word := range strings.SplitSeq(text, ",") {
		s := watch.State(strings.TrimSpace(word))
		if !slices.Contains(known, s) {
			return nil, fmt.Errorf("%.40q is none of open, acknowledged, expected, resolved", word)
		}
		states = append(states, s)
	}
	return states, nil
}

// List is a response to a [Query].
type List struct {
	Changes []Item `json:"changes"`
	// Evaluated is the time of the latest evaluation, absent before the first.
	Evaluated time.Time `json:"evaluated,omitzero"`
	More      int       `json:"more"` // number of changes that are not listed
}

// Report is a change and its series.
type Report struct {
	Item
	Series *Series `json:"series"` // null if its data has expired
}

// ForbiddenError reports that a user has no permission to handle a change.
type ForbiddenError struct{ Why string }

func (e *ForbiddenError) Error() string { return e.Why }

// View is a board restricted to some pages.
type View struct {
	Board *Board
	Pages query.Pages
	// Owner returns the owner of the function of a change. It may be nil.
	Owner func(*watch.Change) (owner, team string)
}

// Changes implements [Source].
func (v View) Changes(ctx context.Context, q Query) (List, error) {
	r, err := v.Board.Register(ctx)
	if err != nil {
		return List{}, err
	}
	out := List{Changes: []Item{}, Evaluated: r.Evaluated}
	for _, c := range r.Changes {
		x, ok := v.seen(c)
		if !ok || !q.takes(&x) {
			continue
		}
		if q.Limit > 0 && len(out.Changes) == q.Limit {
			out.More++
			continue
		}
		out.Changes = append(out.Changes, x)
	}
	return out, nil
}

// takes reports whether a change matches the query.
func (q *Query) takes(c *Item) bool {
	switch {
	case c.Found.Before(q.Since):
	case len(q.States) > 0 && !slices.Contains(q.States, c.State):
	case q.Owner != "" && q.Owner != c.Owner && q.Owner != c.Team:
	case q.Page != "" && !slices.ContainsFunc(c.Pages, func(p watch.PageChange) bool { return p.Page == q.Page }):
	default:
		return true
	}
	return false
}

// seen returns the part of a change that the view may show, if any. Causes are about the first
// page, so a view without that page has none.
func (v View) seen(c watch.Change) (x Item, ok bool) {
	takes := v.Pages.Takes
	if takes != nil {
		first := c.Pages[0].Page
		c.Pages = slices.DeleteFunc(slices.Clone(c.Pages), func(p watch.PageChange) bool { return !takes(p.Page) })
		if len(c.Pages) == 0 {
			return x, false
		}
		other := func(x watch.Consequence) bool { return !takes(x.Page) }
		c.Consequences = slices.DeleteFunc(slices.Clone(c.Consequences), other)
		c.Moved = slices.DeleteFunc(slices.Clone(c.Moved), other)
		if !takes(first) {
			c.Causes, c.CausesNote = nil, "causes are known for another page only"
		}
	}
	x = Item{Title: Headline(&c), Change: c}
	if v.Owner != nil {
		x.Owner, x.Team = v.Owner(&c)
	}
	return x, true
}

// find returns the change with an id, both as stored and as the view may show it.
func (v View) find(ctx context.Context, id string) (whole watch.Change, seen Item, err error) {
	r, err := v.Board.Register(ctx)
	if err != nil {
		return whole, seen, err
	}
	if c := r.find(id); c != nil {
		if seen, ok := v.seen(*c); ok {
			return *c, seen, nil
		}
	}
	return whole, seen, &query.NotFoundError{What: "change " + id}
}

// Item returns a stored change as the view may show it, if it does at all.
func (v View) Item(r *Register, id string) (x Item, ok bool) {
	c := r.find(id)
	if c == nil {
		return x, false
	}
	return v.seen(*c)
}

// Change implements [Source].
func (v View) Change(ctx context.Context, id string) (Report, error) {
	_, c, err := v.find(ctx, id)
	if err != nil {
		return Report{}, err
	}
	s, err := v.Board.series(ctx, &c.Change)
	return Report{c, s}, err
}

// Handle implements [Source].
func (v View) Handle(ctx context.Context, id string, h Handling, by string) (Item, error) {
	whole, seen, err := v.find(ctx, id)
	if err != nil {
		return Item{}, err
	}
	if len(seen.Pages) < len(whole.Pages) {
		return Item{}, &ForbiddenError{"the change is also on pages that you may not see; ask a person with access " +
			"to them to handle it"}
	}
	c, err := v.Board.Handle(ctx, id, h, by)
	if err != nil {
		return Item{}, err
	}
	out, _ := v.seen(c)
	return out, nil
}
