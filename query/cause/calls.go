package cause

import (
	"fmt"
	"math"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
)

const (
	// byReach is the least part of a change, on a logarithmic scale, that the number of page views
	// with the function must explain. The most is 2-byReach, so the time per such page view
	// explains at most 1-byReach in either direction.
	byReach = 0.8
	// sureReach is the number of standard errors by which the share of page views must have
	// changed.
	sureReach = 3.3
)

// calls returns the cause that a function ran in more or fewer page views and took as long in each.
func (d *delta) calls() (watch.Cause, bool) {
	f := d.change.What.Function
	if f == nil || d.compared == nil {
		return watch.Cause{}, false
	}
	for i := range d.compared.Functions {
		x := &d.compared.Functions[i]
		if x.Place != *f {
			continue
		}
		n, reach, mean := d.compared.Views, x.Reach, x.Mean
		if min(n.A, n.B, reach.A, reach.B, mean.A, mean.B) <= 0 {
			return watch.Cause{}, false
		}
		share := compare.Pair{A: min(reach.A/n.A, 1), B: min(reach.B/n.B, 1)}
		both := (reach.A + reach.B) / (n.A + n.B)
		err := math.Sqrt(both * (1 - min(both, 1)) * (1/n.A + 1/n.B))
		part := math.Log(share.B/share.A) / math.Log(mean.B/mean.A)
		if !(math.Abs(share.B-share.A) > sureReach*err) || !(part >= byReach && part <= 2-byReach) {
			return watch.Cause{}, false
		}
		more := "more"
		if share.B < share.A {
			more = "fewer"
		}
		return watch.Cause{Kind: watch.CauseCalls,
			Text: fmt.Sprintf(
				"it ran in %s page views, %.3g %% instead of %.3g %%, and took about as long in each: %s ms instead "+
					"of "+
					"%s ms",
				more, 100*share.B, 100*share.A, terminal.Number(mean.B/share.B), terminal.Number(mean.A/share.A))}, true
	}
	return watch.Cause{}, false
}
