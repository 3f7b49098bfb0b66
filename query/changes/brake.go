package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// EventBraked reports that fewer page views of a page are profiled.
const EventBraked Event = "braked"

// Brake is a page of which fewer page views are profiled, since profiling cost its visitors more
// than a limit.
type Brake struct {
	ID    string    `json:"id"` // 16 hexadecimal digits, also the id of its notifications
	Page  string    `json:"page"`
	First float64   `json:"first"` // share of its page views that were profiled before
	Rate  float64   `json:"rate"`  // share that may be
	Begin time.Time `json:"begin"`
	// Acted is when the share was last halved. Page views since then decide about the next step.
	Acted time.Time `json:"acted"`
	Why   string    `json:"why"` // as text
}

const (
	maxBrakes = 1000
	// leastRate is below which part of the first share a page is not profiled any more.
	leastRate = 1.0 / 16
)

func (b *Brake) check() error {
	switch {
	case !isID(b.ID):
		return errors.New("an id has 16 hexadecimal digits")
	case !(b.Rate >= 0 && b.Rate <= b.First && b.First <= 1):
		return fmt.Errorf("its rate is %g, and was %g", b.Rate, b.First)
	case b.Acted.IsZero() || b.Begin.After(b.Acted):
		return fmt.Errorf("it began %v, and was changed %v", b.Begin, b.Acted)
	}
	return nil
}

// Excess is a page of which profiling costs more than a limit.
type Excess struct {
	Page  string
	Share float64 // of its page views that are profiled
	Why   string
}

// Brake returns the brake of a page, nil if there is none.
func (r *Register) Brake(page string) *Brake {
	if i := slices.IndexFunc(r.Brakes, func(b Brake) bool { return b.Page == page }); i >= 0 {
		return &r.Brakes[i]
	}
	return nil
}

// BrakeOf returns the brake that a notification is about, nil if there is none.
func (r *Register) BrakeOf(id string) *Brake {
	if i := slices.IndexFunc(r.Brakes, func(b Brake) bool { return b.ID == id }); i >= 0 {
		return &r.Brakes[i]
	}
	return nil
}

// Holding returns the brakes that hold: those that were changed last at a time or after it.
func (r *Register) Holding(since time.Time) []Brake {
	return slices.DeleteFunc(slices.Clone(r.Brakes), func(b Brake) bool { return b.Acted.Before(since) })
}

// brake halves the share of a page's page views that are profiled, with a notification. It does
// nothing if the share is 0.
func (r *Register) brake(x Excess, now time.Time) *Brake {
	b := r.Brake(x.Page)
	switch {
	case b == nil && len(r.Brakes) == maxBrakes || b != nil && b.Rate == 0:
		return nil
	case b == nil:
		r.Brakes = append(r.Brakes, Brake{ID: idOf("brake %s %d", x.Page, now.UnixNano()), Page: x.Page, First: x.Share,
			Rate: x.Share, Begin: now.UTC()})
		b = &r.Brakes[len(r.Brakes)-1]
	}
	if b.Rate /= 2; b.Rate < leastRate*b.First {
		b.Rate = 0
	}
	b.Acted, b.Why = now.UTC(), x.Why
	clip(&b.Why)
	r.put(b.ID, EventBraked, now)
	return b
}

// Braked notes of which pages profiling costs more than a limit, up to an hour, and returns the
// brakes that this changes. Brakes from before since are gone. Nothing is noted if another node was
// first.
func (b *Board) Braked(ctx context.Context, hour, since time.Time, over []Excess) (acted []Brake, err error) {
	_, err = b.change(ctx, func(r *Register) error {
		acted = nil
		if !r.Costs.Before(hour) {
			return errNothing
		}
		r.Costs = hour.UTC()
		r.Brakes = r.Holding(since)
		for _, x := range over {
			if b := r.brake(x, b.o.Now()); b != nil {
				acted = append(acted, *b)
			}
		}
		return nil
	})
	return acted, err
}
