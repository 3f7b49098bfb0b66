package watch

import (
	"context"
	"math"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

const (
	// newNormal is how long a change is open at most.
	newNormal = 14 * day
	checkEach = day
	// goneShare is the share of the page views of a release that is not used any more.
	goneShare = 0.05
	// backDays is how many days must be as before, if no release says so.
	backDays = 3
	// backShare is the part of a change that must be shown not to be left.
	backShare = 0.5
)

// check tests whether an open change is still there, on its first page, once a day.
func (r *reader) check(ctx context.Context, c *Change) error {
	if c.State == Resolved || r.now.Sub(c.Checked) < checkEach {
		return nil
	}
	test := r.backByTime
	if c.Detector == ByRelease {
		test = r.backByRelease
	}
	back, tested, err := test(ctx, c)
	if err != nil || !tested {
		return err
	}
	c.Checked = r.now
	if back {
		c.State, c.Resolved, c.Resolution = Resolved, r.now, Back
	}
	return nil
}

// backByRelease compares the release before the change with the newest one. It is back, too, if the release with the change is gone
// and the one before is there.
func (r *reader) backByRelease(ctx context.Context, c *Change) (back, tested bool, err error) {
	t := &r.traffic
	if t.share(c.Release, r.now) < goneShare && t.share(c.CompareRelease, r.now) >= newestShare {
		return true, true, nil
	}
	newest := c.Release
	since := r.now.Add(-day)
	if s, ok := t.newest(r.page, r.now); ok && s.after != c.Release && s.began.After(c.Begin) {
		newest = s.after
		if s.began.After(since) {
			since = s.began
		}
	}
	if t.views(newest, since, r.now) < t.least {
		return false, false, nil
	}
	before := Span{c.CompareRelease, c.Begin.Add(-day), c.Begin}
	x, err := r.o.Compare(ctx, r.page, before, Span{newest, since, r.now}, compare.Options{})
	if err != nil {
		return false, false, err
	}
	e, level, ok := estimateIn(c.What, &x)
	return ok && isBack(e.Value, errorOf(e, level), c.Pages[0].decisive().Value), ok, nil
}

// Left returns what is left of a change in a comparison of what was before it with something later, with an interval of 95 %. ok is
// false if nothing can be said.
func Left(c *Change, x *query.Comparison) (left compare.Estimate, ok bool) {
	e, level, ok := estimateIn(c.What, x)
	half := normal95 * errorOf(e, level)
	if !ok || math.IsInf(half, 0) || math.IsNaN(half) {
		return e, false
	}
	return compare.Estimate{Value: e.Value, Low: new(e.Value - half), High: new(e.Value + half)}, true
}

// Size returns the change on its first page that has decided: of functions, that at an equal rest of the page view if it is known.
func (c *Change) Size() compare.Estimate { return c.Pages[0].decisive() }

// backByTime compares the last days with those before the change.
func (r *reader) backByTime(ctx context.Context, c *Change) (back, tested bool, err error) {
	all, err := r.series(ctx)
	if err != nil {
		return false, false, err
	}
	for _, x := range all {
		if x.what.key() != c.What.key() {
			continue
		}
		before := window(x.points, c.Begin.Add(-mostAfter*day), c.Begin)
		last := window(x.points, r.now.UTC().Truncate(day).Add(-backDays*day), r.now)
		if before.n < leastBefore || last.n < backDays || c.Pages[0].Value.A <= 0 {
			return false, false, nil
		}
		size := math.Log1p(c.Pages[0].decisive().Value / c.Pages[0].Value.A)
		return isBack(last.mean-before.mean, math.Hypot(last.err, before.err), size), true, nil
	}
	return false, false, nil
}

// isBack reports whether a difference with its standard error is shown to be less than a part of a change.
func isBack(difference, err, change float64) bool {
	toward := difference
	if change < 0 {
		toward = -difference
	}
	return toward+1.6448536269514722*err < backShare*math.Abs(change)
}

// average is the mean of some points.
type average struct {
	n         int
	mean, err float64 // err is the larger one of that of the points and of what they differ by
}

func window(points []point, since, until time.Time) (a average) {
	var sum, squares, errors float64
	for _, p := range points {
		if !p.day.Before(since) && p.day.Before(until) {
			a.n++
			sum, squares, errors = sum+p.value, squares+p.value*p.value, errors+p.err*p.err
		}
	}
	n := float64(max(a.n, 1))
	a.mean = sum / n
	a.err = math.Sqrt(max(errors/n, (squares/n-square(a.mean))*n/max(n-1, 1)) / n)
	return a
}
