package changes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/query/watch"
)

// errDone ends a round that another node completed first, which is not a failure.
var errDone = errors.New("another node has evaluated the hour")

// Evaluate evaluates the pages up to the last closed hour, unless another node has done so. Changes
// and their notifications are saved together, or not at all if another node was first.
func (b *Board) Evaluate(ctx context.Context) error {
	err := b.evaluate(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case errors.Is(err, errDone):
		b.health.Lost++
		b.health.Err = nil
		return nil
	case ctx.Err() != nil && err != nil:
		return err
	case err != nil:
		b.health.Failed++
	}
	b.health.Err = err
	return err
}

// Closed returns the end of the last hour that is closed for this node. Nodes wait for different
// times, so that one of several nodes comes first.
func (b *Board) Closed() time.Time {
	return b.o.Now().Add(-b.o.After - b.jitter).Truncate(time.Hour)
}

func (b *Board) evaluate(ctx context.Context) error {
	hour := b.o.Now().Add(-b.o.After).Truncate(time.Hour)
	r, _, err := b.load(ctx)
	if _, newer := errors.AsType[*VersionError](err); newer {
		return err
	}
	if err != nil { // quarantine it now, because an evaluation may take long
		if r, err = b.change(ctx, func(*Register) error { return nil }); err != nil {
			return err
		}
	}
	if !r.Hour.Before(hour) {
		return nil
	}
	b.mu.Lock()
	s := b.settings
	b.mu.Unlock()
	before := r.Hour
	var found []hourly
	for at := b.first(r, hour); !at.After(hour); at = at.Add(time.Hour) {
		e, err := b.detect(ctx, b.observer, at, s, r.Memory, r.Known(at))
		if err != nil {
			return err
		}
		b.notePages(e)
		if err := b.explain(ctx, e.Found); err != nil {
			return err
		}
		now := at
		if at.Equal(hour) {
			now = b.o.Now()
		}
		found = append(found, hourly{e, at, now})
		r.Apply(e, at, now)
	}
	return b.commit(ctx, found, before, hour)
}

// hourly is the result of an evaluation up to an hour.
type hourly struct {
	watch.Evaluation
	hour, now time.Time
}

// first returns the end of the first hour to evaluate.
func (b *Board) first(r *Register, hour time.Time) time.Time {
	if from := b.o.From.Truncate(time.Hour); r.Hour.IsZero() && !from.IsZero() && from.Before(hour) {
		return from
	}
	return hour
}

// commit saves the result of an evaluation. Users may have changed the register meanwhile. If
// another node has evaluated the hour, the result is discarded.
func (b *Board) commit(ctx context.Context, found []hourly, before, hour time.Time) error {
	_, err := b.change(ctx, func(r *Register) error {
		if !r.Hour.Before(hour) {
			return errDone
		}
		if !r.Hour.Equal(before) {
			return fmt.Errorf("another node has evaluated pages up to %s", r.Hour.Format(time.RFC3339))
		}
		for _, x := range found {
			r.Apply(x.Evaluation, x.hour, x.now)
		}
		return nil
	})
	if err == nil {
		b.mu.Lock()
		b.health.Evaluations++
		b.mu.Unlock()
	}
	return err
}

// notePages records the pages that failed.
func (b *Board) notePages(e watch.Evaluation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.health.Pages, b.health.Example = len(e.Failed), ""
	for page, err := range e.Failed {
		if text := page + ": " + err.Error(); b.health.Example == "" || text < b.health.Example {
			b.health.Example = text
		}
	}
}

// explain looks for causes of changes. A failure to find causes does not hide the change.
func (b *Board) explain(ctx context.Context, found []watch.Change) error {
	if b.o.Explain == nil {
		return nil
	}
	for i := range found {
		c := &found[i]
		causes, note, err := b.o.Explain(ctx, *c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			note = "the search for causes failed: " + err.Error()
		}
		if c.Causes = append(c.Causes, causes...); len(c.Causes) > 0 {
			note = ""
		}
		c.CausesNote = note
	}
	return nil
}

// Run evaluates after each hour until ctx is done, and calls done after each attempt. It retries
// failed evaluations at growing intervals.
func (b *Board) Run(ctx context.Context, first time.Duration, done func(error)) {
	const soon, seldom = time.Minute, 15 * time.Minute
	for wait, again := first, soon; pause(ctx, wait) == nil; {
		err := b.Evaluate(ctx)
		if ctx.Err() != nil {
			return
		}
		done(err)
		if err != nil {
			wait, again = again, min(2*again, seldom)
			continue
		}
		now := b.o.Now()
		wait, again = now.Add(-b.o.After).Truncate(time.Hour).Add(time.Hour+b.o.After+b.jitter).Sub(now), soon
	}
}

// Handle records the triage of a change.
func (b *Board) Handle(ctx context.Context, id string, h Handling, by string) (c watch.Change, err error) {
	_, err = b.change(ctx, func(r *Register) error {
		c, err = r.Handle(id, h, by, b.o.Now())
		return err
	})
	return c, err
}

// Take records and returns the attempts that plan selects. It saves nothing if there are none.
func (b *Board) Take(ctx context.Context, plan func(r *Register, now time.Time) []Attempt) (taken []Attempt,
	r *Register, err error) {
	r, err = b.change(ctx, func(r *Register) error {
		now := b.o.Now()
		if taken = r.Take(plan(r, now), now); len(taken) == 0 {
			return errNothing
		}
		return nil
	})
	if err != nil || r == nil {
		return nil, nil, err
	}
	return taken, r, nil
}

// Note records the outcomes of attempts, and removes notifications that need no more attempts in
// any of the channels.
func (b *Board) Note(ctx context.Context, outcomes []Outcome, channels []string) error {
	_, err := b.change(ctx, func(r *Register) error {
		r.Note(outcomes, channels, b.o.Now())
		return nil
	})
	return err
}

// Forget deletes pages from the register: changes of these pages only, and mentions in other
// changes.
func (b *Board) Forget(ctx context.Context, gone func(page string) bool) error {
	_, err := b.change(ctx, func(r *Register) error {
		if !r.forget(gone) {
			return errNothing
		}
		return nil
	})
	return err
}
