package rollup

import (
	"maps"
	"math"
	"slices"
	"unsafe"

	"github.com/fieldtrie/fieldtrie/trie"
)

// VitalKind is a Web Vital, a measure of user experience; see https://web.dev/articles/vitals.
type VitalKind struct {
	Name string // lcp, inp, cls, fcp or ttfb
	// Good is the largest value rated good, and Poor the largest that is not yet poor, as
	// published: in µs, or in millionths of a layout shift score.
	Good, Poor int64
	Score      bool // a score, not a time
	// Parts are the names of its consecutive phases. They add up to it in each page view. See
	// https://web.dev/articles/optimize-lcp and https://web.dev/articles/optimize-inp.
	Parts []string
}

// Part returns the name of the [Vital] for a part of k, such as "lcp/load-delay".
func (k VitalKind) Part(name string) string { return k.Name + "/" + name }

// VitalKinds returns all known Web Vitals, the Core Web Vitals first.
func VitalKinds() []VitalKind {
	return []VitalKind{
		{Name: "lcp", Good: 2_500_000, Poor: 4_000_000, Parts: []string{"ttfb", "load-delay", "load-time",
			"render-delay"}},
		{Name: "inp", Good: 200_000, Poor: 500_000, Parts: []string{"input-delay", "processing", "presentation"}},
		{Name: "cls", Good: 100_000, Poor: 250_000, Score: true},
		{Name: "fcp", Good: 1_800_000, Poor: 3_000_000},
		{Name: "ttfb", Good: 800_000, Poor: 1_800_000},
	}
}

// VitalKindOf returns the Web Vital with a name, and false if there is none.
func VitalKindOf(name string) (VitalKind, bool) {
	for _, k := range VitalKinds() {
		if k.Name == name {
			return k, true
		}
	}
	return VitalKind{}, false
}

// Rating returns the rating of a value in the unit of k: good, needs improvement, or poor.
func (k VitalKind) Rating(value float64) string {
	switch {
	case value <= float64(k.Good):
		return "good"
	case value > float64(k.Poor):
		return "poor"
	}
	return "needs improvement"
}

// Vital is the distribution of a Web Vital over page views with the same labels. Each reporting
// page view represents a number of others, its weight.
type Vital struct {
	Labels        trie.Labels // BaseLabels plus KeyNavigation, KeyArm and KeyElement; parts have no arm
	Name          string      // name of a [VitalKind] or of a part
	Views         int64       // page views that reported it
	Weight        int64       // page views represented by these
	WeightSquares int64       // sum of the squares of the weights
	Good, Poor    int64       // weights of good and of poor page views
	Histogram     Histogram   // values in the unit of the kind; its counts are weights
}

// Add adds a page view that represents weight others, at most [MaxVitalWeight].
func (v *Vital) Add(value, weight int64) {
	v.Views++
	v.Weight += weight
	v.WeightSquares += weight * weight
	if k, known := VitalKindOf(v.Name); known && value <= k.Good {
		v.Good += weight
	} else if known && value > k.Poor {
		v.Poor += weight
	}
	v.Histogram.Add(value, weight)
}

// MaxVitalWeight is the maximum weight, so that a million page views can be added up.
const MaxVitalWeight = 10_000

// AddAll adds o, without labels and name.
func (v *Vital) AddAll(o *Vital) {
	v.Views += o.Views
	v.Weight += o.Weight
	v.WeightSquares += o.WeightSquares
	v.Good += o.Good
	v.Poor += o.Poor
	v.Histogram.AddAll(&o.Histogram)
}

// Interval returns the 95 % confidence interval of quantile q, and false if there are too few page
// views. Page views of different weights carry less information than as many of equal weight; the
// effective number is Weight²/WeightSquares (L. Kish, Survey Sampling, 1965).
func (v *Vital) Interval(q float64) (low, high float64, ok bool) {
	if v.Weight <= 0 || v.WeightSquares <= 0 {
		return 0, 0, false
	}
	n := float64(v.Weight) * float64(v.Weight) / float64(v.WeightSquares)
	d := z95 * math.Sqrt(n*q*(1-q))
	first, last := n*q-d-0.5, n*q+d+0.5
	if first < -1 || last > n {
		return 0, 0, false
	}
	each := float64(v.Weight) / n
	return v.Histogram.rank(max(first, 0) * each), v.Histogram.rank(min(last*each, float64(v.Weight-1))), true
}

func (v *Vital) size() int {
	return int(unsafe.Sizeof(*v)) + len(v.Histogram.buckets)*int(unsafe.Sizeof(bucket{})) +
		len(v.Labels)*int(unsafe.Sizeof(trie.Label{}))
}

// AddVital adds v to the vital with the same name in list, and returns the list. All vitals in list
// must have the same labels. It does not retain v.
func AddVital(list []Vital, v *Vital) []Vital {
	i := slices.IndexFunc(list, func(o Vital) bool { return o.Name == v.Name })
	if i < 0 {
		i = len(list)
		list = append(list, Vital{Labels: v.Labels, Name: v.Name})
	}
	list[i].AddAll(v)
	return list
}

// vitals are the Web Vitals under construction.
type vitals struct {
	of   map[string]*Vital // by labels and name
	sets map[string]bool   // sets of labels
}

// AddVital adds v to the page views with its labels, which must be sorted. Labels over the limit
// become (other), like in cells, elements first.
func (b *Builder) AddVital(v *Vital) {
	if b.vitals.of == nil {
		b.vitals = vitals{map[string]*Vital{}, map[string]bool{}}
	}
	l := v.Labels
	b.key = appendLabelsKey(b.key[:0], l)
	for i := 1; len(b.vitals.sets) >= i*b.lim.Cells && !b.vitals.sets[string(b.key)] && i < 4; i++ {
		switch i {
		case 1:
			l = FoldElement(l)
		case 2:
			l = foldWide(l)
		case 3:
			l = otherLabels()
		}
		b.key = appendLabelsKey(b.key[:0], l)
	}
	b.vitals.sets[string(b.key)] = true
	b.key = append(b.key, v.Name...)
	sum := b.vitals.of[string(b.key)]
	if sum == nil {
		sum = &Vital{Labels: slices.Clone(l), Name: v.Name}
		b.vitals.of[string(b.key)] = sum
	}
	sum.AddAll(v)
}

// vitals writes the Web Vitals of a level.
func (w *writer) vitals(of map[string]*Vital, level Level) {
	byKey := map[string]*Vital{}
	for _, v := range of {
		l := level.project(v.Labels)
		for _, own := range vitalKeys() {
			if value := v.Labels.Value(own); value != "" && level != Narrow {
				l = append(l, trie.Label{Key: own, Value: value}).Sort()
			}
		}
		key := string(appendLabelsKey(nil, l)) + v.Name
		if byKey[key] == nil {
			byKey[key] = &Vital{Labels: l, Name: v.Name}
		}
		byKey[key].AddAll(v)
	}
	w.length(len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		v := byKey[key]
		w.labels(v.Labels)
		w.text(v.Name)
		w.ints(v.Views, v.Weight, v.WeightSquares, v.Good, v.Poor)
		w.histogram(&v.Histogram)
	}
}

func (r *reader) vital() Vital {
	return Vital{r.labels(), r.text(), r.Int(), r.Int(), r.Int(), r.Int(), r.Int(), r.histogram()}
}

// EncodeVitals encodes vitals for [DecodeVitals]. It needs no stack table.
func EncodeVitals(list []Vital) []byte {
	b := NewBuilder("", trie.New(), Limits{})
	for i := range list {
		b.AddVital(&list[i])
	}
	return b.Encode(Wide, false)
}

// DecodeVitals decodes the result of [EncodeVitals]. Errors wrap [ErrMalformed].
func DecodeVitals(data []byte) ([]Vital, error) {
	rec, err := Decode(data, trie.New())
	if err != nil {
		return nil, err
	}
	return rec.Vitals, nil
}
