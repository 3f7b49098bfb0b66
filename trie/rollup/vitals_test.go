package rollup

import (
	"bytes"
	"compress/flate"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// randomVitals returns the vitals of a number of page views.
func randomVitals(r *rand.Rand, n int) (out []Vital) {
	for range n {
		for _, k := range VitalKinds() {
			if r.IntN(4) == 0 {
				continue // the browser does not support this vital
			}
			v := Vital{Name: k.Name, Labels: trie.MakeLabels(
				KeyDevice, []string{"mobile-low", "desktop-high"}[r.IntN(2)],
				KeyBrowser, []string{"chrome 140", "firefox 145", "safari 26"}[r.IntN(3)],
				KeyRelease, []string{"r1", "r2"}[r.IntN(2)])}
			v.Add(int64(r.ExpFloat64()*float64(k.Good)), []int64{1, 1, 100}[r.IntN(3)])
			out = append(out, v)
		}
	}
	return out
}

// withElements adds elements to vitals, and parts to some of those.
func withElements(r *rand.Rand, list []Vital) (out []Vital) {
	for _, v := range list {
		v.Labels = append(v.Labels, trie.Label{Key: KeyElement, Value: []string{"image img#hero", "text h1",
			"div#banner"}[r.IntN(3)]}).Sort()
		out = append(out, v)
		kind, _ := VitalKindOf(v.Name)
		for _, part := range kind.Parts {
			x := Vital{Name: kind.Part(part), Labels: v.Labels}
			x.Add(int64(r.ExpFloat64()*float64(kind.Good)/4), v.Weight)
			out = append(out, x)
		}
	}
	return out
}

func buildVitals(lists ...[]Vital) *Builder {
	b := NewBuilder("/a", trie.New(), Limits{})
	for _, list := range lists {
		for i := range list {
			b.AddVital(&list[i])
		}
	}
	return b
}

// In any order and grouping, and with any intermediate level, the sum of vitals has the same bytes.
func TestVitalsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		all := withElements(r, randomVitals(r, 1+r.IntN(60)))
		for _, level := range []Level{Narrow, Wide, Whole} {
			want := buildVitals(all).Encode(level, true)
			mixed := slices.Clone(all)
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			sum := NewBuilder("/a", trie.New(), Limits{})
			for len(mixed) > 0 {
				n := 1 + r.IntN(len(mixed))
				part := buildVitals(mixed[:n])
				rec, err := Decode(part.Encode([]Level{level, Whole}[r.IntN(2)], false), part.Stacks())
				if err != nil {
					t.Fatal(err)
				}
				sum.AddRecord(rec, part.Stacks())
				mixed = mixed[n:]
			}
			if got := sum.Encode(level, true); !bytes.Equal(got, want) {
				t.Fatalf("level %d: the sum of parts differs from the sum of all", level)
			}
		}
	}
}

// Page views over the limit of label sets are counted under fewer labels, and none is lost.
func TestVitalsBounded(t *testing.T) {
	b := NewBuilder("/a", trie.New(), Limits{Cells: 10})
	for i := range 200 {
		n := strconv.Itoa(i)
		v := Vital{Name: "lcp", Labels: trie.MakeLabels(KeyDevice, "d"+n, KeyRelease, "r"+n)}
		v.Add(1_000_000, 1)
		b.AddVital(&v)
	}
	rec, err := b.Record()
	if err != nil {
		t.Fatal(err)
	}
	views := int64(0)
	for _, v := range rec.Vitals {
		views += v.Views
	}
	if len(rec.Vitals) > 31 || views != 200 {
		t.Errorf("%d label sets, want 31 at most; %d page views, want 200", len(rec.Vitals), views)
	}
}

// Elements are folded first; all other data is the same as without them.
func TestElementsBounded(t *testing.T) {
	b := NewBuilder("/a", trie.New(), Limits{Cells: 10})
	for i := range 200 {
		v := Vital{Name: "inp", Labels: trie.MakeLabels(KeyDevice, "d"+strconv.Itoa(i%9), KeyElement,
			"pointer div#"+strconv.Itoa(i))}
		v.Add(100_000, 1)
		b.AddVital(&v)
	}
	rec, err := b.Record()
	if err != nil {
		t.Fatal(err)
	}
	views, devices := int64(0), map[string]int64{}
	for _, v := range rec.Vitals {
		views += v.Views
		devices[v.Labels.Value(KeyDevice)] += v.Views
	}
	if len(rec.Vitals) > 19 || views != 200 || len(devices) != 9 || devices["d8"] != 22 {
		t.Errorf("%d label sets, want 19 at most; %d page views, want 200; by device %v", len(rec.Vitals),
			views, devices)
	}
}

// The bounds of ratings are the published ones, to the unit.
func TestVitalRatings(t *testing.T) {
	for _, test := range []struct {
		name  string
		value int64
		want  string
	}{
		{"lcp", 2_500_000, "good"}, {"lcp", 2_500_001, "needs improvement"}, {"lcp", 4_000_000, "needs improvement"},
		{"lcp", 4_000_001, "poor"},
		{"inp", 200_000, "good"}, {"inp", 208_000, "needs improvement"}, {"inp", 504_000, "poor"},
		{"cls", 100_000, "good"}, {"cls", 250_001, "poor"},
	} {
		k, _ := VitalKindOf(test.name)
		if got := k.Rating(float64(test.value)); got != test.want {
			t.Errorf("%s of %d is %s, want %s", test.name, test.value, got, test.want)
		}
		v := Vital{Name: test.name}
		v.Add(test.value, 3)
		if good, poor := v.Good == 3, v.Poor == 3; good != (test.want == "good") || poor != (test.want == "poor") {
			t.Errorf("%s of %d: %d are good and %d poor, want %s", test.name, test.value, v.Good, v.Poor, test.want)
		}
	}
}

// The interval of a quantile contains the true value as often as stated, also if page views have
// different weights.
func TestVitalInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const runs = 2000
	truth := -math.Log(0.25) * 1e6 // third quartile of the exponential distribution
	held, wide := 0, 0
	for range runs {
		v := Vital{Name: "lcp"}
		for range 300 {
			v.Add(int64(r.ExpFloat64()*1e6), []int64{1, 10}[r.IntN(2)])
		}
		low, high, ok := v.Interval(0.75)
		if !ok || low > high {
			t.Fatalf("interval %g to %g, %t", low, high, ok)
		}
		if low <= truth && truth <= high {
			held++
		}
		if high-low > truth {
			wide++
		}
	}
	if share := float64(held) / runs; share < 0.93 || share > 0.985 || wide > 0 {
		t.Errorf("%.3f of the intervals hold the true quantile, want about 0.95; %d are wider than it is large",
			share, wide)
	}
	few := Vital{Name: "lcp"}
	few.Add(1, 1)
	if _, _, ok := few.Interval(0.75); ok {
		t.Error("one page view has an interval")
	}
}

// BenchmarkVitalLabels reports the size of the Web Vitals of a page in an hour with 600 reports:
// without arms, with arms, and with elements and parts as well.
func BenchmarkVitalLabels(b *testing.B) {
	var plain float64
	for _, with := range []string{"nothing", "arms", "arms and elements"} {
		b.Run("with="+with, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			var list []Vital
			for range 600 {
				profiled := r.IntN(2)
				weight := []int64{100, 1}[profiled]
				base := trie.MakeLabels(KeyDevice, []string{"mobile-low", "desktop-high", "desktop-low",
					"mobile-high"}[r.IntN(4)], KeyBrowser, []string{"Chrome 148", "Chrome 149",
					"Chrome 150"}[r.IntN(3)],
					KeyConnection, []string{"4g", "3g"}[r.IntN(2)], KeyRelease, []string{"r1", "r2"}[r.IntN(2)])
				add := func(name string, value float64, labels trie.Labels) {
					v := Vital{Name: name, Labels: labels.Sort()}
					v.Add(int64(value), weight)
					list = append(list, v)
				}
				for _, k := range VitalKinds() {
					value := float64(k.Good) / 3 * math.Exp(0.6*r.NormFloat64())
					labels := slices.Clone(base)
					// One of three elements for LCP and CLS, and one of a dozen for INP, most of
					// them rare.
					if most := map[string]int{"lcp": 3, "inp": 12, "cls": 3}[k.Name]; with == "arms and elements" &&
						most > 0 {
						labels = append(labels, trie.Label{Key: KeyElement, Value: "pointer button#" +
							strconv.Itoa(min(int(r.ExpFloat64()*float64(most)/4), most-1))})
						rest := value
						for _, part := range k.Parts {
							x := rest * r.Float64()
							rest -= x
							add(k.Part(part), x, slices.Clone(labels))
						}
					}
					if with != "nothing" {
						labels = append(labels, trie.Label{Key: KeyArm, Value: []string{ArmNone,
							ArmProfiled}[profiled]})
					}
					add(k.Name, value, labels)
				}
			}
			built := buildVitals(list)
			var data []byte
			for b.Loop() {
				data = built.Encode(Wide, false)
			}
			var packed bytes.Buffer
			z, _ := flate.NewWriter(&packed, flate.DefaultCompression)
			_, _ = z.Write(data) // a buffer takes everything
			_ = z.Close()
			b.ReportMetric(float64(len(data)), "bytes")
			b.ReportMetric(float64(packed.Len()), "packed")
			if with == "nothing" {
				plain = float64(packed.Len())
			} else if plain > 0 {
				b.ReportMetric(float64(packed.Len())/plain, "packed-ratio")
			}
		})
	}
}
