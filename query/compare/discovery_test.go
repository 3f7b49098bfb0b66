package compare

import (
	"math"
	"testing"
)

// Adjusted p-values are in the order of the p-values.
func TestAdjustTakesTheLeast(t *testing.T) {
	for _, tt := range []struct{ p, want []float64 }{
		{[]float64{0.010, 0.011}, []float64{0.011, 0.011}},
		{[]float64{0.011, 0.010}, []float64{0.011, 0.011}},
		{[]float64{0.02, 0.03, 0.031, 0.9}, []float64{0.031 * 4 / 3, 0.031 * 4 / 3, 0.031 * 4 / 3, 0.9}},
		{[]float64{0.9, 1}, []float64{1, 1}},
		{[]float64{0.8, 0.8, 0.8}, []float64{0.8, 0.8, 0.8}},
	} {
		got := adjustEqual(tt.p)
		for i := range got {
			if math.Abs(got[i]-tt.want[i]) > 1e-12 {
				t.Errorf("%v: got %v, want %v", tt.p, got, tt.want)
				break
			}
		}
	}
}
