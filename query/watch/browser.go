package watch

import (
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/browsers"
)

// evidenceOf returns what days of a page tell about how much browser versions differ.
func evidenceOf(days []Day) browsers.Evidence {
	var cells []browsers.Cell
	versions := map[string]bool{}
	for _, d := range days {
		cells = append(cells, d.Versions...)
		for _, c := range d.Versions {
			for name := range c.Versions {
				versions[name] = true
			}
		}
	}
	return browsers.Estimate(slices.Sorted(maps.Keys(versions)), cells, browsers.Evidence{}).Evidence
}
