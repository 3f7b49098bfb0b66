package verdict

import (
	"fmt"
	"math"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

// Repair reports whether a change is undone.
type Repair string

// Repairs. The threshold is half of the change, as for changes that end without a release.
const (
	Mended     Repair = "mended"      // less than half of the change is left, significantly
	NotMended  Repair = "not mended"  // more than half of the change is left, significantly
	HalfMended Repair = "half mended" // about half of the change is left
	NotKnown   Repair = "not yet"     // too few page views
)

// Mending describes whether a change is undone in a release, or by now.
type Mending struct {
	Repair Repair `json:"verdict"`
	Reason string `json:"reason"` // a sentence
	// Missing is the approximate number of additional page views that are needed, if Repair is
	// NotKnown.
	Missing float64 `json:"missing_views,omitempty"`
}

// enoughOfIt is the largest half width of the interval, as a part of the change, at which "about
// half" is a result rather than a lack of page views.
const enoughOfIt = 0.25

// OfMending decides whether a change is undone on side B of a comparison whose side A is the time
// before the change.
func OfMending(c *watch.Change, x *query.Comparison) Mending {
	if !x.Enough {
		return Mending{NotKnown,
			fmt.Sprintf("%.0f page views of it and %.0f from before the change: %d of each are needed", x.Views.B,
				x.Views.A, x.MinViews), max(float64(x.MinViews)-x.Views.B, 0)}
	}
	size, left := c.Size().Value, 0.0
	e, ok := watch.Left(c, x)
	if !ok || size == 0 {
		return Mending{NotKnown, changes.Text(c.What) + " was not seen often enough to measure the rest", 0}
	}
	half := (*e.High - *e.Low) / 2
	left = e.Value / size
	low, high := left-half/math.Abs(size), left+half/math.Abs(size)
	unit := changes.Unit(c.What)
	if unit != "" {
		unit = " " + unit
	}
	said := fmt.Sprintf("%s%s (%s to %s) of %s%s are left", terminal.Signed(e.Value), unit, terminal.Signed(*e.Low),
		terminal.Signed(*e.High), terminal.Signed(size), unit)
	switch {
	case high <= 0.5:
		return Mending{Mended, said + ", which is less than half", 0}
	case low >= 0.5:
		return Mending{NotMended, said, 0}
	case half <= enoughOfIt*math.Abs(size):
		return Mending{HalfMended, said, 0}
	}
	more := x.Views.B * (math.Pow(half/(enoughOfIt*math.Abs(size)), 2) - 1)
	return Mending{NotKnown, said + ": that may be half of it, more or less", math.Ceil(more)}
}

// Before returns the first side of the comparison for OfMending: the first page of a change before
// it began, with a release of the last day, or with all releases for "".
func Before(c *watch.Change, release string, now time.Time) (q query.CompareQuery, err error) {
	const day = 24 * time.Hour
	q = query.CompareQuery{Method: query.MethodSums, Brief: true}
	q.B = selection.Selection{Page: c.Pages[0].Page, Since: now.Add(-day).Truncate(time.Hour), Until: now}
	q.A = q.B
	q.A.Since, q.A.Until = c.Begin.Add(-day), c.Begin
	if c.Release == "" {
		q.A.Since = c.Begin.Add(-7 * day)
	}
	for side, name := range map[*selection.Selection]string{&q.A: c.CompareRelease, &q.B: release} {
		if name == "" {
			continue
		}
		m, err := selection.NewMatcher("release", selection.Equal, name)
		if err != nil {
			return q, err
		}
		side.Where = []selection.Matcher{m}
	}
	return q, nil
}
