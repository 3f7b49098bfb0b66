package agent

import (
	"fmt"
	"math"

	"github.com/fieldtrie/fieldtrie/query"
)

// Estimate is a number of milliseconds with its 95 % confidence interval.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"` // of the interval; absent if unknown
	High  *float64 `json:"high,omitempty"`
}

func estimateOf(e query.Estimate) Estimate {
	out := Estimate{Value: rounded(e.Value)}
	if e.Low != 0 || e.High != 0 {
		out.Low, out.High = new(rounded(e.Low)), new(rounded(e.High))
	}
	return out
}

// rounded rounds to three digits below 100, and to whole numbers above. More digits would be noise.
func rounded(x float64) float64 {
	if x == 0 || math.Abs(x) >= 100 {
		return math.Round(x)
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

func (e Estimate) String() string {
	if e.High == nil {
		return fmt.Sprintf("%g ms", e.Value)
	}
	return fmt.Sprintf("%g ms (%g to %g)", e.Value, *e.Low, *e.High)
}

// signed formats e as a change.
func (e Estimate) signed() string {
	if e.High == nil {
		return fmt.Sprintf("%+g ms", e.Value)
	}
	return fmt.Sprintf("%+g ms (%+g to %+g)", e.Value, *e.Low, *e.High)
}

// perView returns microseconds of all page views as milliseconds per page view.
func perView(us, views int64) float64 {
	if views == 0 {
		return 0
	}
	return rounded(float64(us) / 1000 / float64(views))
}
