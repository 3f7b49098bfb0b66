package collect

import (
	"maps"
	"math"
	"net/http"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// The largest values of Web Vitals that are taken.
const (
	maxVitalTime  = 3_600_000 // ms
	maxVitalScore = 1_000
)

// checkVitals refuses values that no page view has. Vitals that are not known are for later
// versions.
func checkVitals(vitals map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(vitals)) {
		kind, known := rollup.VitalKindOf(name)
		most, unit := float64(maxVitalTime), "ms"
		if kind.Score {
			most, unit = maxVitalScore, ""
		}
		if value := vitals[name]; known && !(value >= 0 && value <= most) {
			return refuse(http.StatusUnprocessableEntity, "invalid", "body: vitals.%s: %g is not from 0 to %g %s", name, value, most, unit)
		}
	}
	return nil
}

// countVitals counts the Web Vitals of a report. Its labels become what those of a trace do.
func (c *Collector) countVitals(page string, v *view, who client) {
	t := &trie.Trace{Trie: *trie.New()}
	t.Context = trie.Context{Page: page, Release: v.Release, Environment: v.Environment}
	for _, key := range []string{rollup.KeyConnection, rollup.KeyDevice} {
		if value, ok := v.Labels[key].(string); ok && value != "" {
			t.Context.Labels = append(t.Context.Labels, trie.Label{Key: key, Value: value})
		}
	}
	now := c.opts.Now()
	c.normalize(t, store.ID{}, who, now)
	addBrowser(&t.Context, who.browser, c.bounds.Load().Trace.Labels)
	c.foldNames(t, who, now)
	labels := rollup.BaseLabels(&t.Context)
	for key, known := range map[string][]string{rollup.KeyNavigation: {rollup.NavigationSoft}, rollup.KeyArm: {rollup.ArmProfiled, rollup.ArmHeader, rollup.ArmNone}} {
		if value, _ := v.Labels[key].(string); slices.Contains(known, value) {
			labels = append(labels, trie.Label{Key: key, Value: value}).Sort()
		}
	}
	var list []rollup.Vital
	for _, kind := range rollup.VitalKinds() {
		value, ok := v.Vitals[kind.Name]
		if !ok {
			continue
		}
		unit := 1000.0 // µs
		if kind.Score {
			unit = 1_000_000
		}
		x := rollup.Vital{Labels: labels, Name: kind.Name}
		x.Add(int64(math.Round(value*unit)), int64(v.Weight))
		list = append(list, x)
		c.metrics.vitals.WithLabelValues(page, kind.Name, kind.Rating(math.Round(value*unit))).Add(float64(v.Weight))
	}
	c.opts.Store.CountVitals(page, list)
}
