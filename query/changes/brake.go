package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// EventBraked reports that fewer page views of a page are profiled than before.
const EventBraked Event = "braked"

// Brake limits the share of profiled page views of a page, because profiling cost its visitors more
// than a limit.
type Brake struct {
	ID    string    `json:"id"` // 16 hexadecimal digits, also the id of its notifications
	Page  string    `json:"page"`
	First float64   `json:"first"` // share of profiled page views before
	Rate  float64   `json:"rate"`  // allowed share
	Begin time.Time `json:"begin"`
	// Acted is when the share was last halved. Later page views decide about the next step.
	Acted time.Time `json:"acted"`
	Why   string    `json:"why"` // reason, as text
}

const (
	maxBrakes = 1000
	// leastRate is the fraction of the first share below which a page is not profiled any more.
	leastRate = 1.0 / 16
)

func (b *Brake) check() error {
	switch {
	case !isID(b.ID):
		return errors.New("an id has 16 hexadecimal digits")
	case !(b.Rate >= 0 && b.Rate <= b.First && b.First <= 1):
		return fmt.Errorf("rate %g, before %g", b.Rate, b.First)
	case b.Acted.IsZero() || b.Begin.After(b.Acted):
		return fmt.Errorf("began %v, last changed %v", b.Begin, b.Acted)
	}
	return nil
}

// Excess is a page whose profiling costs more than a limit.
type Excess struct {
	Page  string
	Share float64 // share of profiled page views
	Why   string
}

// Brake returns the brake of a page, or nil.
func (r *Register) Brake(page string) *Brake {
	if i := slices.IndexFunc(r.Brakes, func(b Brake) bool { return b.Page == page }); i >= 0 {
		return &r.Brakes[i]
	}
	return nil
}

// BrakeOf returns the brake of a notification, or nil.
func (r *Register) BrakeOf(id string) *Brake {
	if i := slices.IndexFunc(r.Brakes, func(b Brake) bool { return b.ID == id }); i >= 0 {
		return &r.Brakes[i]
	}
	return nil
}

// Holding returns the brakes that were last changed at or after a time.
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

// Braked records the pages whose profiling costs more than a limit, up to an hour, and returns the
// changed brakes. It deletes brakes that were last changed before since. It records nothing if
// another node was first.
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
