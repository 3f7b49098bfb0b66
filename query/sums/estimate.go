package sums

import "fmt"

// Estimate is a value with its interval. Without a High the interval is unknown, as for a single
// page view.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
}

// Bounds formats the interval with the given number of decimals, or returns "" if there is none.
func (e Estimate) Bounds(digits int) string {
	if e.High == 0 {
		return ""
	}
	return fmt.Sprintf("(%.*f to %.*f)", digits, e.Low, digits, e.High)
}
