package sums

import "fmt"

// Estimate is a value and its interval. Without a High nothing can be said about it, as of
// one page view.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
}

// Bounds writes the interval, with so many digits after the point; nothing if there is none.
func (e Estimate) Bounds(digits int) string {
	if e.High == 0 {
		return ""
	}
	return fmt.Sprintf("(%.*f to %.*f)", digits, e.Low, digits, e.High)
}
