package site

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fieldtrie/fieldtrie/query/browsers"
)

// versions draws the browser versions of page views.
type versions struct {
	list  []Version
	names []string // of families
	ofOne [][]int  // versions of a family, oldest first
}

func versionsOf(list []Version) versions {
	v := versions{list: list}
	for i, x := range list {
		f := slices.Index(v.names, browsers.FamilyOf(x.Name))
		if f < 0 {
			f = len(v.names)
			v.names, v.ofOne = append(v.names, browsers.FamilyOf(x.Name)), append(v.ofOne, nil)
		}
		v.ofOne[f] = append(v.ofOne[f], i)
	}
	return v
}

func (v *versions) number() int   { return max(len(v.list), 1) }
func (v *versions) families() int { return max(len(v.names), 1) }

func (v *versions) family(version int) int {
	if v.list == nil {
		return 0
	}
	return slices.Index(v.names, browsers.FamilyOf(v.list[version].Name))
}

// draw draws the version of a page view on a device, and the factor of its time. 61 % of the page
// views of a family have a version after seven days, 97 % after 14; phones get it five days later.
func (v *versions) draw(rng *rand.Rand, hour, device int) (version int, factor float64) {
	if v.list == nil {
		return 0, 1
	}
	of := v.ofOne[rng.IntN(len(v.ofOne))]
	if device > 0 {
		hour -= 5 * 24
	}
	version = of[0]
	for _, next := range of[1:] {
		days := float64(hour-v.list[next].Hour) / 24
		if days < 0 || rng.Float64() >= 1/(1+math.Exp((5.97-days)/2.31)) {
			break
		}
		version = next
	}
	return version, 1 + v.list[version].Effect
}

// addVersion adds page views of a browser version.
func (x *side) addVersion(stratum int, at [2]int, name string, sum browsers.Sum) {
	if sum.Views == 0 {
		return
	}
	if x.versions[stratum] == nil {
		x.versions[stratum] = map[string]float64{}
	}
	x.versions[stratum][name] += sum.Views
	if x.cells[at].Versions == nil {
		x.cells[at] = browsers.Cell{Kind: string(rune('a' + at[1])), Versions: map[string]browsers.Sum{}}
	}
	x.cells[at].Versions[name] = x.cells[at].Versions[name].Plus(sum)
}

// allCells returns the page views by day, device and browser version.
func (x *side) allCells() (out []browsers.Cell) {
	for _, at := range slices.SortedFunc(maps.Keys(x.cells), func(a, b [2]int) int {
		return cmp.Or(a[0]-b[0], a[1]-b[1])
	}) {
		out = append(out, x.cells[at])
	}
	return out
}
