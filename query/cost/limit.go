package cost

import (
	"fmt"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Limits configures how much longer profiled page views may take than others.
type Limits struct {
	Of []Limit // empty: no limits
	// Since is the time from which page views count. Earlier decisions no longer apply.
	Since time.Time
}

// Limit limits the difference of a Web Vital. If Relative, it applies to the geometric mean, as a
// share of the control; otherwise to p75, in the unit of the Web Vital.
type Limit struct {
	Vital    string // a name of rollup.VitalKinds, not ttfb
	Most     float64
	Relative bool
}

// String returns the limit in its written form, such as "2%" or "4ms".
func (l Limit) String() string {
	switch kind, _ := rollup.VitalKindOf(l.Vital); {
	case l.Relative:
		return fmt.Sprintf("%g%%", 100*l.Most)
	case kind.Score:
		return fmt.Sprintf("%g", l.Most)
	}
	return fmt.Sprintf("%gms", l.Most)
}

// Excess is a difference above a limit.
type Excess struct {
	Limit      Limit
	Unit       string // of the difference: ms, or score
	Difference Difference
}

// String describes the excess, such as "LCP p75 1434 ms, 1366 ms without: +68 ms (+31 to +105),
// +5.0 % (+2.3 to +7.7), limit 2%".
func (x *Excess) String() string {
	d := x.Difference
	unit := d.unit(x.Unit)
	text := fmt.Sprintf("%s %s %s%s, %s%s without: %s%s %s", strings.ToUpper(x.Limit.Vital), d.What,
		terminal.Number(d.Profiled), unit, terminal.Number(d.Control), unit,
		terminal.Signed(d.Value), unit, terminal.Screen{}.Interval(d.Low, d.High, terminal.Signed))
	if r := d.Relative; r != nil {
		text += fmt.Sprintf(", %+.1f %% (%+.1f to %+.1f)", 100*r.Value, 100*r.Low, 100*r.High)
	}
	return text + ", limit " + x.Limit.String()
}

// certain is the number of standard errors between a difference and 0 that is required for action.
// With hourly tests of several Web Vitals on 100 pages for a month, four standard errors occur by
// chance surprisingly often: see BenchmarkLimits.
const certain = 4.5

// Exceeded returns the first difference of a report that is above its limit. The whole interval
// must be above the limit, and the difference must be certain. Exceeded returns nil if there is
// none, or if the draw is not known to be fair.
func (l Limits) Exceeded(r Report) *Excess {
	if r.Fair == nil || !*r.Fair {
		return nil
	}
	for _, limit := range l.Of {
		what := "p75"
		if limit.Relative {
			what = "geomean"
		}
		for _, v := range r.Vitals {
			if v.Name != limit.Vital {
				continue
			}
			for _, d := range v.Differences {
				if d.What == what && limit.exceededBy(d) {
					return &Excess{limit, v.Unit, d}
				}
			}
		}
	}
	return nil
}

// exceededBy reports whether a difference is above the limit.
func (l Limit) exceededBy(d Difference) bool {
	low := d.Low
	if l.Relative {
		if d.Relative == nil {
			return false
		}
		low = d.Relative.Low
	}
	return low > l.Most && d.Value > certain/z95*(d.Value-d.Low)
}
