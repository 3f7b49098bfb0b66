package watch

import (
	"context"
	"math"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

const (
	// newNormal is the longest time that a change stays open.
	newNormal = 14 * day
	checkEach = day
	// goneShare is the share of the page views below which a release is no longer in use.
	goneShare = 0.05
	// backDays is the number of days that must be back at the earlier level if there is no release
	// to test.
	backDays = 3
	// backShare: a change is back if less than this part of it demonstrably remains.
	backShare = 0.5
)

// check tests once a day whether an open change still exists on its first page.
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

// backByRelease compares the release before the change with the newest one. The page is also back
// if the release with the change is no longer in use and the one before it is.
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

// Left returns how much of a change remains, with a 95 % interval, from a comparison of the time
// before the change with a later time. ok is false if the comparison lacks the series.
func Left(c *Change, x *query.Comparison) (left compare.Estimate, ok bool) {
	e, level, ok := estimateIn(c.What, x)
	half := normal95 * errorOf(e, level)
	if !ok || math.IsInf(half, 0) || math.IsNaN(half) {
		return e, false
	}
	return compare.Estimate{Value: e.Value, Low: new(e.Value - half), High: new(e.Value + half)}, true
}

// Size returns the decisive change on the first page. For functions it is the change relative to
// the rest of the page view, if known.
func (c *Change) Size() compare.Estimate { return c.Pages[0].decisive() }

// backByTime compares the last days with the days before the change.
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

// isBack reports whether a difference, given its standard error, is significantly less than
// backShare of a change.
func isBack(difference, err, change float64) bool {
	toward := difference
	if change < 0 {
		toward = -difference
	}
	return toward+1.6448536269514722*err < backShare*math.Abs(change)
}

// average is the mean of several points.
type average struct {
	n         int
	mean, err float64 // err is the larger of the points' own error and the error from their spread
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
