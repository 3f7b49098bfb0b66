package compare

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/trie"
)

func asText(c Change) string {
	text, _ := json.Marshal(c)
	return string(text)
}

// versioned returns a side of one stratum whose page views have the given means by browser version,
// with a coefficient of variation of 1. Half of the time is in a function.
func versioned(views, mean map[string]float64) (s Side) {
	var all, half Amount
	cell := browsers.Cell{Versions: map[string]browsers.Sum{}}
	total := 0.0
	for name, n := range views {
		m := mean[name]
		x := Amount{Seen: n, Sum: n * m, Squares: 2 * n * m * m}
		all = all.Plus(x)
		half = half.Plus(Amount{n, x.Sum / 2, x.Squares / 4, x.Squares / 2})
		cell.Versions[name] = browsers.Sum{Views: n, Time: x.Sum, Squares: x.Squares}
		total += n
	}
	all.Product = all.Squares
	return Side{Views: []float64{total}, Time: []Amount{all}, Versions: []map[string]float64{views},
		Cells:     []browsers.Cell{cell},
		Functions: []Function{{Frame: trie.Frame{Name: "f", Line: 1}, Self: []Amount{half}}}}
}

// Two versions differ by 10 % in each side, and B has more of the slow one.
func TestBrowserVersions(t *testing.T) {
	mean := map[string]float64{"Chrome 157": 100, "Chrome 158": 110}
	in := Input{A: versioned(map[string]float64{"Chrome 157": 80_000, "Chrome 158": 20_000}, mean),
		B: versioned(map[string]float64{"Chrome 157": 20_000, "Chrome 158": 80_000}, mean)}
	r := Compare(in, Options{})
	if r.Total.Status != WithinNoise || math.Abs(r.Total.Browser.Value-6) > 0.5 || math.Abs(r.Total.Shown.Value) > 0.5 {
		t.Errorf("with versions: %s", asText(r.Total))
	}
	if f := r.Functions[0]; math.Abs(f.Browser.Value-3) > 0.3 ||
		*f.Browser.High-*f.Browser.Low <= *r.Total.Browser.High/2-*r.Total.Browser.Low/2 {
		t.Errorf("a function may have an effect of its own: %s", asText(f.Change))
	}
	if v := r.BrowserVersions; len(v) != 2 || math.Abs(v[1].Effect-v[0].Effect) < 0.08 ||
		math.Abs(v[0].ShareB-v[0].ShareA) < 0.59 || v[0].Low >= v[0].High {
		t.Errorf("versions %+v", v)
	}
	in.A.Versions = nil
	if r := Compare(in, Options{}); r.Total.Status != Slower || r.Total.Browser != nil || r.BrowserVersions != nil {
		t.Errorf("without versions: %s", asText(r.Total))
	}
}

// A version that only B has is not assumed to be equally fast.
func TestNewBrowserVersion(t *testing.T) {
	mean := map[string]float64{"Chrome 157": 100, "Chrome 158": 100, "Edge 158": 100}
	width := func(b map[string]float64) float64 {
		r := Compare(Input{A: versioned(map[string]float64{"Chrome 157": 50_000}, mean),
			B: versioned(b, mean)}, Options{})
		return *r.Total.Shown.High - *r.Total.Shown.Low
	}
	same := width(map[string]float64{"Chrome 157": 50_000})
	if got := width(map[string]float64{"Chrome 158": 50_000}); got < 1.2*same {
		t.Errorf("with another version the interval is %g ms wide, with the same one %g", got, same)
	}
	if got := width(map[string]float64{"Edge 158": 50_000}); got > 1.01*same {
		t.Errorf("another family counts as traffic, not as a version: %g ms wide, with the same one %g", got, same)
	}
}

// The call trees have the means of the comparison.
func TestAdjustBrowserVersions(t *testing.T) {
	mean := map[string]float64{"Chrome 157": 100, "Chrome 158": 110}
	in := Input{Strata: []trie.Labels{trie.MakeLabels("device", "a")},
		A: versioned(map[string]float64{"Chrome 157": 8000, "Chrome 158": 2000}, mean),
		B: versioned(map[string]float64{"Chrome 157": 2000, "Chrome 158": 8000}, mean)}
	r := Compare(in, Options{})
	if math.Abs(r.Strata[0].Browser*r.Total.Measured.B-r.Total.Browser.Value) > 1e-9 {
		t.Errorf("the stratum has the effect %g, the page %s", r.Strata[0].Browser, asText(r.Total))
	}
	tree := func(s Side) *trie.Profile {
		p := trie.NewProfile()
		p.Group(in.Strata[0]).Coverage.Views = int64(s.Views[0])
		p.Add(in.Strata[0], p.Insert(trie.Frame{Name: "f"}), trie.Weight{Self: int64(1000 * s.Time[0].Sum)})
		return p
	}
	a, b := Adjust(tree(in.A), tree(in.B), func(l trie.Labels) trie.Labels { return l }, r.Strata, Options{})
	for i, p := range []*trie.Profile{a, b} {
		w, c := p.Flat()
		total := 0.0
		for _, x := range w {
			total += float64(x.Self) / 1000 / float64(c.Views)
		}
		if want := []float64{r.Total.Mean.A, r.Total.Mean.B}[i]; math.Abs(total-want) > 0.01 {
			t.Errorf("tree %c has %g ms, the comparison %g", 'A'+i, total, want)
		}
	}
}
