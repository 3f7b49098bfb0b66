package compare

import (
	"math"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

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
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}

// Another mix of pages is no change, though no device of a page has enough page views to be a cell.
// A page without page views in B is left out, and its functions are not listed as gone.
func TestPagesAreTraffic(t *testing.T) {
	var in Input
	for _, page := range []string{"/", "/feed", "/board"} {
		for _, device := range []string{"fast", "mid", "slow"} {
			in.Strata = append(in.Strata, trie.MakeLabels("device", device, KeyPage, page))
		}
	}
	side := func(views ...float64) (s Side) {
		f := Function{Frame: trie.Frame{Name: "render"}}
		board := Function{Frame: trie.Frame{Name: "alignCards"}}
		for i, n := range views {
			page := i / 3
			ms := []float64{10, 500, 90}[page]
			s.Views = append(s.Views, n)
			s.Time = append(s.Time, amount(n, ms))
			f.Self = append(f.Self, amount(n, ms/2))
			board.Self = append(board.Self, amount(n*float64(page/2), ms/2))
		}
		s.Functions = []Function{f}
		if views[8] > 0 {
			s.Functions = append(s.Functions, board)
		}
		return s
	}
	in.A, in.B = side(20, 20, 20, 80, 80, 80, 15, 15, 15), side(80, 80, 80, 20, 20, 20, 0, 0, 0)
	r := Compare(in, Options{})
	if got := r.Total; math.Abs(got.Shown.Value) > 1e-9 || got.Mean.A != got.Mean.B || got.Status.Alarm() ||
		got.Measured.B-got.Measured.A > -200 {
		t.Errorf("got %+v", got)
	}
	if len(r.Functions) != 1 || r.Functions[0].Name != "render" || math.Abs(r.Functions[0].Shown.Value) > 1e-9 {
		t.Errorf("got %+v", r.Functions)
	}
	for i, s := range r.Strata {
		want := StratumPooled
		if i >= 6 {
			want = StratumLeftOut
		}
		if s.Use != want {
			t.Errorf("%v: got %s, want %s", s.Labels, s.Use, want)
		}
	}
}

// amount is n page views of about as many ms.
func amount(n, ms float64) Amount {
	return Amount{Seen: n, Sum: n * ms, Squares: n * ms * ms * 1.1}
}
