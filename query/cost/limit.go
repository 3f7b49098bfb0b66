package cost

import (
	"fmt"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Limits say how much longer profiled page views may take than others.
type Limits struct {
	Of []Limit // empty: nothing is limited
	// Since is from when on page views count, and what was done before is undone.
	Since time.Time
}

// Limit limits the difference of a Web Vital: that of the geometric mean as a share of the control if Relative, else that of p75 in the unit.
type Limit struct {
	Vital    string // a name of rollup.VitalKinds, not ttfb
	Most     float64
	Relative bool
}

// String returns the limit as it is written, such as "2%" or "4ms".
func (l Limit) String() string {
	switch kind, _ := rollup.VitalKindOf(l.Vital); {
	case l.Relative:
		return fmt.Sprintf("%g%%", 100*l.Most)
	case kind.Score:
		return fmt.Sprintf("%g", l.Most)
	}
	return fmt.Sprintf("%gms", l.Most)
}

// Excess is a difference that is above a limit.
type Excess struct {
	Limit      Limit
	Unit       string // of the difference: ms, or score
	Difference Difference
}

// String says by how much, such as "LCP p75 1434 ms, 1366 ms without: +68 ms (+31 to +105), +5.0 % (+2.3 to +7.7), limit 2%".
func (x *Excess) String() string {
	d := x.Difference
	unit := d.unit(x.Unit)
	text := fmt.Sprintf("%s %s %s%s, %s%s without: %s%s %s", strings.ToUpper(x.Limit.Vital), d.What, terminal.Number(d.Profiled), unit, terminal.Number(d.Control), unit,
		terminal.Signed(d.Value), unit, terminal.Screen{}.Interval(d.Low, d.High, terminal.Signed))
	if r := d.Relative; r != nil {
		text += fmt.Sprintf(", %+.1f %% (%+.1f to %+.1f)", 100*r.Value, 100*r.Low, 100*r.High)
	}
	return text + ", limit " + x.Limit.String()
}

// certain is how many standard errors a difference is from 0 before anything is done about it. Somebody who looks each hour for a month, at
// several Web Vitals of a hundred pages, sees four by chance more often than one would think: see BenchmarkLimits.
const certain = 4.5

// Exceeded returns the first difference of a report that is above its limit: the interval is, as a whole, and chance does not explain that
// there is a difference. It is nil if there is none or nothing can be told, as of a draw that is not fair or may not be.
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
