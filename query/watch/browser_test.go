package watch

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
)

// daysWithVersions returns days of a page seen by one browser family. A new version is adopted
// around a day, within some days, and is slower by a factor.
func daysWithVersions(rng *rand.Rand, around, within, factor float64) (out []Day) {
	for i := range 35 {
		share := 1 / (1 + math.Exp(-(float64(i)+0.5-around)*2.77/within)) // rises from 0.2 to 0.8 in within days
		d := Day{Day: time.Date(2026, 3, 2+i, 0, 0, 0, 0, time.UTC), Strata: map[string]DayStratum{}}
		cell := browsers.Cell{Versions: map[string]browsers.Sum{}}
		for name, n := range map[string]float64{"Chrome 157": math.Round(5000 * (1 - share)),
			"Chrome 158": math.Round(5000 * share)} {
			if n == 0 {
				continue
			}
			mean := 100 * (1 + rng.NormFloat64()/math.Sqrt(n))
			if name == "Chrome 158" {
				mean *= factor
			}
			cell.Versions[name] = browsers.Sum{Views: n, Time: n * mean, Squares: 2 * n * mean * mean}
			d.Views += n
			d.Time = d.Time.Plus(compare.Amount{Seen: n, Sum: n * mean, Squares: 2 * n * mean * mean})
		}
		d.Strata["Chrome"], d.Versions = DayStratum{Views: d.Views, Time: d.Time}, []browsers.Cell{cell}
		out = append(out, d)
	}
	return out
}

func TestBrowserCause(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 4))
	at := func(day int) time.Time { return time.Date(2026, 3, 2+day, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name           string
		within, factor float64
		step           int
		size           float64
		want           bool
	}{
		{"a slower version", 4, 1.1, 28, 0.1, true},
		{"a faster version", 4, 0.9, 28, -0.1, true},
		{"a slow roll-out", 14, 1.1, 28, 0.06, true},
		{"the other way round", 4, 1.1, 28, -0.1, false},
		{"a version that is no slower", 4, 1, 28, 0.1, false},
		{"more than the version makes", 4, 1.1, 28, 0.4, false},
		{"before the version", 4, 1.1, 15, 0.3, false},
	} {
		v := versionsOf(daysWithVersions(rng, 28, tt.within, tt.factor))
		cause, ok := v.cause(at(tt.step), tt.size, tt.size)
		if ok != tt.want {
			t.Errorf("%s: %t, want %t; effects %v", tt.name, ok, tt.want, v.effects.Effect)
		}
		if ok && (cause.Label.Value != "Chrome 158" || !strings.HasPrefix(cause.Text, "Chrome 158 has ")) {
			t.Errorf("%s: %+v", tt.name, cause)
		}
	}
}

// Evidence about browser versions is stored, and the evidence of selected pages adds up.
func TestMemoryOfBrowsers(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 5))
	e := versionsOf(daysWithVersions(rng, 20, 6, 1.02)).effects.Evidence
	m := Memory{Pages: map[string]PageMemory{"/a": {Browsers: e}, "/b": {Browsers: e}, "/c": {}}}
	if e.Information <= 0 {
		t.Fatalf("two versions for days tell nothing: %+v", e)
	}
	if got := m.Browsers(func(page string) bool { return page != "/b" }); got != e {
		t.Errorf("got %+v, want %+v", got, e)
	}
	if got := m.Browsers(func(string) bool { return true }); got != e.Plus(e) {
		t.Errorf("got %+v, want twice %+v", got, e)
	}
}
