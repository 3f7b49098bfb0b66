package compare

import "testing"

// A stratum with 30 page views on both sides is a cell of its own. Smaller ones are pooled if they
// are small on both sides or have similar shares, and otherwise left out.
func TestUseOfStrata(t *testing.T) {
	for _, tt := range []struct {
		what string
		a, b float64 // page views of the stratum, beside one of 1,000 on each side
		want StratumUse
	}{
		{"just enough on both sides", 30, 30, StratumOwn},
		{"one too few on side A, of a similar share", 29, 30, StratumPooled},
		{"one too few on side B, of a similar share", 30, 29, StratumPooled},
		{"small on both sides", 1, 29, StratumPooled},
		{"small on one side, with a third of the share", 20, 60, StratumPooled},
		{"small on one side, with less than a third of the share", 20, 66, StratumLeftOut},
		{"missing on one side", 0, 30, StratumLeftOut},
	} {
		in := Input{Strata: strata("big", "pool", "x")}
		in.A.Views, in.B.Views = []float64{1000, 29, tt.a}, []float64{1000, 29, tt.b}
		c := newComparison(in, Options{}.withDefaults())
		got := c.report(in)[2].Use
		if tt.want == StratumPooled && c.pooled < 0 {
			got = "not compared"
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}
