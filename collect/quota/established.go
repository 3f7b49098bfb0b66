package quota

import (
	"cmp"
	"maps"
	"slices"
)

// established are the names of earlier hours, by kind, with how well each is known. A name is
// known by two points more after an hour in which it had a place, and by one less after another
// one, so that what is there by day has not gone in the morning.
type established map[uint64]map[uint64]int

const (
	seenPoints = 2
	mostPoints = 48 * seenPoints
	// enoughPoints are what two hours give. From then on places are kept for a name.
	enoughPoints = 2 * seenPoints
)

// learn says that names of a kind have been there for long enough.
func (e established) learn(kind uint64, names []uint64) {
	for _, n := range names {
		e.of(kind)[n] = enoughPoints
	}
}

func (e established) of(kind uint64) map[uint64]int {
	if e[kind] == nil {
		e[kind] = map[uint64]int{}
	}
	return e[kind]
}

// pass has an hour pass in which names were there. It remembers most of each kind.
func (e established) pass(seen map[uint64][]uint64, most int) {
	for _, names := range e {
		for n := range names {
			if names[n]--; names[n] == 0 {
				delete(names, n)
			}
		}
	}
	for kind, names := range seen {
		points := e.of(kind)
		for _, n := range names {
			if points[n] == 0 {
				points[n] = seenPoints
			} else { // what it has just lost, too
				points[n] = min(points[n]+1+seenPoints, mostPoints)
			}
		}
	}
	for kind, names := range e {
		if forget(names, most); len(names) == 0 {
			delete(e, kind)
		}
	}
}

// kept returns the names for which places are kept, by kind: those that are known best, kinds
// and most of each at the most.
func (e established) kept(kinds, most int) map[uint64]map[uint64]bool {
	best := map[uint64]int{}
	for kind, names := range e {
		best[kind] = slices.Max(slices.Collect(maps.Values(names)))
	}
	maps.DeleteFunc(best, func(_ uint64, points int) bool { return points < enoughPoints })
	forget(best, kinds)
	kept := map[uint64]map[uint64]bool{}
	for kind := range best {
		known := maps.Clone(e[kind])
		maps.DeleteFunc(known, func(_ uint64, points int) bool { return points < enoughPoints })
		forget(known, most)
		kept[kind] = map[uint64]bool{}
		for n := range known {
			kept[kind][n] = true
		}
	}
	return kept
}

// forget deletes what has the fewest points, until there are no more than most.
func forget(points map[uint64]int, most int) {
	if len(points) <= most {
		return
	}
	all := slices.SortedFunc(maps.Keys(points), func(a, b uint64) int { return cmp.Or(cmp.Compare(points[b], points[a]), cmp.Compare(a, b)) })
	for _, n := range all[most:] {
		delete(points, n)
	}
}
