package changes

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// Handling is the triage of a change by a user.
type Handling struct {
	// State is [watch.Acknowledged]; [watch.Expected], with Until; [watch.Resolved]; or
	// [watch.Open], which reverts the others.
	State watch.State `json:"state"`
	Note  string      `json:"note,omitempty"`
	Until time.Time   `json:"until,omitzero"`
}

// longestExpected is the maximum time that a change may be expected.
const longestExpected = 400 * 24 * time.Hour

// check returns an error for an invalid handling.
func (h *Handling) check(now time.Time) error {
	switch h.State {
	case watch.Expected:
		if h.Until.IsZero() {
			return selection.Refuse("until: required for the state expected")
		}
		if !h.Until.After(now) || h.Until.Sub(now) > longestExpected {
			return selection.Refuse("until: %s is not a time in the next 400 days", h.Until.UTC().Format(time.RFC3339))
		}
	case watch.Open, watch.Acknowledged, watch.Resolved:
		if !h.Until.IsZero() {
			return selection.Refuse("until: allowed for the state expected only")
		}
	default:
		return selection.Refuse("state: %.40q is none of open, acknowledged, expected, resolved", h.State)
	}
	unfit := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }
	if len(h.Note) > maxText || !utf8.ValidString(h.Note) || strings.ContainsFunc(h.Note, unfit) {
		return selection.Refuse("note: use a text of up to %d bytes without control characters", maxText)
	}
	return nil
}

// Handle records the triage of a change. Resolving by hand, and opening a resolved change, send
// notifications.
func (r *Register) Handle(id string, h Handling, by string, now time.Time) (watch.Change, error) {
	if err := h.check(now); err != nil {
		return watch.Change{}, err
	}
	c := r.find(id)
	if c == nil {
		return watch.Change{}, &query.NotFoundError{What: "change " + id}
	}
	was := c.State
	if was == watch.Resolved && (h.State == watch.Acknowledged || h.State == watch.Expected) {
		return watch.Change{}, selection.Refuse("state: the change is resolved; open it first")
	}
	handled := watch.Handled{By: by, At: now.UTC(), Note: h.Note}
	if h.State == watch.Expected {
		handled.Until = h.Until.UTC()
	}
	if again := h.State == was && was == watch.Resolved; again && c.Handled != nil {
		handled.Until = c.Handled.Until // the change may have ended in that time
	}
	c.Handled = &handled
	switch {
	case h.State == watch.Resolved && was == watch.Resolved: // only the note is new
	case h.State == watch.Resolved:
		end(c, now, watch.ByHand)
		r.tell(c, EventResolved, now)
	default:
		c.State, c.Resolved, c.Resolution = h.State, time.Time{}, ""
		if was == watch.Resolved {
			c.Found = now.UTC()
			r.tell(c, EventFound, now)
		}
	}
	trim(c)
	return *c, nil
}

func end(c *watch.Change, now time.Time, how watch.Resolution) {
	c.State, c.Resolved, c.Resolution = watch.Resolved, now.UTC(), how
}

// open reopens a change and removes its handling.
func open(c *watch.Change, now time.Time) {
	c.State, c.Resolved, c.Resolution, c.Handled = watch.Open, time.Time{}, "", nil
	c.Found = now.UTC()
}

// Apply applies the result of an evaluation up to an hour. Changes that users handled since the
// evaluation began keep their handling.
func (r *Register) Apply(e watch.Evaluation, hour, now time.Time) {
	r.Memory, r.Hour, r.Evaluated = e.Memory, hour.UTC(), now.UTC()
	for _, k := range e.Known {
		r.again(k, now)
	}
	r.expire(now)
	for _, f := range e.Found {
		r.add(f, now)
	}
	// Without channels, no attempt removes the notifications.
	r.Outbox = slices.DeleteFunc(r.Outbox, func(n Notification) bool { return now.Sub(n.Since) > 2*giveUpAfter })
}

// Known returns the changes to pass to an evaluation at a time.
func (r *Register) Known(now time.Time) (known []watch.Change) {
	for _, c := range r.Changes {
		if c.State != watch.Resolved || now.Sub(c.Resolved) < knownFor { // the evaluation may append to its lists
			c.Pages, c.Consequences, c.Moved = slices.Clone(c.Pages), slices.Clone(c.Consequences),
				slices.Clone(c.Moved)
			known = append(known, c)
		}
	}
	return known
}

// knownFor is how long the detectors know a resolved change.
const knownFor = 42 * 24 * time.Hour

// again updates a known change. A change that ends while it is expected sends no notification, and
// an expected change does not become normal.
func (r *Register) again(k watch.Change, now time.Time) {
	c := r.find(k.ID)
	if c == nil || c.State == watch.Resolved {
		return
	}
	how := k.Resolution
	expected := c.State == watch.Expected && now.Before(c.Handled.Until)
	take(c, k)
	switch {
	case k.State != watch.Resolved || how == watch.NewNormal && expected:
	case expected:
		end(c, now, how)
	default:
		end(c, now, how)
		r.tell(c, EventResolved, now)
	}
}

// take copies the latest numbers of a change.
func take(c *watch.Change, from watch.Change) {
	from.State, from.Found, from.Resolved, from.Resolution, from.Handled = c.State, c.Found, c.Resolved,
		c.Resolution, c.Handled
	*c = from
}

// add adds a found change. A known change that ended without a user reopens. A change that a user
// resolved does not, because it is the same change.
func (r *Register) add(found watch.Change, now time.Time) {
	c := r.find(found.ID)
	switch {
	case c == nil:
		found.State, found.Resolved, found.Resolution, found.Handled = watch.Open, time.Time{}, "", nil
		found.Found = now.UTC()
		r.Changes = append(r.Changes, found)
		r.tell(&r.Changes[len(r.Changes)-1], EventFound, now)
	case c.State == watch.Resolved && c.Resolution == watch.ByHand:
	case c.State == watch.Resolved:
		take(c, found)
		open(c, now)
		r.tell(c, EventFound, now)
	default:
		take(c, found)
	}
}

// expire opens changes whose expected time is over and that are still there.
func (r *Register) expire(now time.Time) {
	for i := range r.Changes {
		if c := &r.Changes[i]; c.State == watch.Expected && !now.Before(c.Handled.Until) {
			note := c.Handled
			open(c, now)
			c.Handled = note // keeps the note and the time
			r.tell(c, EventFound, now)
		}
	}
}
