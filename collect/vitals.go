package collect

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/collect/redact"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Maximum accepted values of Web Vitals.
const (
	maxVitalTime  = 3_600_000 // ms
	maxVitalScore = 1_000
)

// roundParts is the maximum difference between the sum of parts and their Web Vital, in ms.
const roundParts = 0.1

// checkVitals returns an error for implausible values. Unknown vitals are accepted for later
// versions.
func checkVitals(v *view) error {
	for _, name := range slices.Sorted(maps.Keys(v.Vitals)) {
		kind, known := rollup.VitalKindOf(name)
		most, unit := float64(maxVitalTime), "ms"
		if kind.Score {
			most, unit = maxVitalScore, ""
		}
		if value := v.Vitals[name]; known && !(value >= 0 && value <= most) {
			return refuse(http.StatusUnprocessableEntity, "invalid", "body: vitals.%s: %g is not from 0 to %g %s", name,
				value, most, unit)
		}
	}
	for _, kind := range rollup.VitalKinds() {
		if parts, ok := v.Parts[kind.Name]; ok {
			if err := checkParts(kind, parts, v.Vitals); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkParts returns an error if parts do not add up to their Web Vital.
func checkParts(kind rollup.VitalKind, parts []float64, vitals map[string]float64) error {
	field := "body: parts." + kind.Name
	if len(parts) != len(kind.Parts) {
		return refuse(http.StatusUnprocessableEntity, "invalid", "%s: got %d parts, want %d: %s", field, len(parts),
			len(kind.Parts), strings.Join(kind.Parts, ", "))
	}
	sum := 0.0
	for _, part := range parts {
		if !(part >= 0) {
			return refuse(http.StatusUnprocessableEntity, "invalid", "%s: %g ms is negative", field, part)
		}
		sum += part
	}
	if value, ok := vitals[kind.Name]; !ok || !(math.Abs(sum-value) <= roundParts) {
		return refuse(http.StatusUnprocessableEntity, "invalid", "%s: the parts add up to %g ms, but vitals.%s is %g",
			field, sum, kind.Name, value)
	}
	return nil
}

// countVitals counts the Web Vitals of a report. Its labels are processed like labels of a trace.
func (c *Collector) countVitals(page string, v *view, who client) {
	x := c.vitalContext(page, v, who)
	labels := rollup.BaseLabels(&x)
	with := func(labels trie.Labels, key, value string) trie.Labels {
		if value == "" {
			return labels
		}
		return append(slices.Clone(labels), trie.Label{Key: key, Value: value}).Sort()
	}
	known := func(key string, values ...string) string {
		if value, _ := v.Labels[key].(string); slices.Contains(values, value) {
			return value
		}
		return ""
	}
	labels = with(labels, rollup.KeyNavigation, known(rollup.KeyNavigation, rollup.NavigationSoft))
	arm := known(rollup.KeyArm, rollup.ArmProfiled, rollup.ArmHeader, rollup.ArmNone)
	var list []rollup.Vital
	add := func(name string, labels trie.Labels, value float64) {
		one := rollup.Vital{Labels: labels, Name: name}
		one.Add(int64(math.Round(value)), int64(v.Weight))
		list = append(list, one)
	}
	for _, kind := range rollup.VitalKinds() {
		value, ok := v.Vitals[kind.Name]
		if !ok {
			continue
		}
		unit := 1000.0 // µs
		if kind.Score {
			unit = 1_000_000
		}
		of := with(labels, rollup.KeyElement, x.Labels.Value(elementKey(kind)))
		add(kind.Name, with(of, rollup.KeyArm, arm), value*unit)
		for i, part := range v.Parts[kind.Name] {
			add(kind.Part(kind.Parts[i]), of, part*unit)
		}
		c.metrics.vitals.WithLabelValues(page, kind.Name, kind.Rating(math.Round(value*unit))).Add(float64(v.Weight))
	}
	c.opts.Store.CountVitals(page, list)
}

// vitalContext returns the context that a trace of the page view would have, without private data
// and names without a place. Elements become labels, so that they are treated alike.
func (c *Collector) vitalContext(page string, v *view, who client) trie.Context {
	t := &trie.Trace{Trie: *trie.New()}
	t.Context = trie.Context{Page: page, Release: v.Release, Environment: v.Environment}
	label := func(key, value string) {
		if value != "" {
			t.Context.Labels = append(t.Context.Labels, trie.Label{Key: key, Value: value})
		}
	}
	for _, key := range []string{rollup.KeyConnection, rollup.KeyDevice} {
		value, _ := v.Labels[key].(string)
		label(key, value)
	}
	var r redact.Redactor
	for _, kind := range rollup.VitalKinds() {
		label(elementKey(kind), r.Element(v.Elements[kind.Name]))
	}
	now := c.opts.Now()
	c.normalize(t, store.ID{}, who, now)
	addBrowser(&t.Context, who.browser, c.bounds.Load().Trace.Labels+len(rollup.VitalKinds()))
	c.foldNames(t, who, now)
	return t.Context
}

// elementKey returns the label for the element of a Web Vital, which has its own budget of names.
func elementKey(kind rollup.VitalKind) string { return kind.Name + "-" + rollup.KeyElement }
