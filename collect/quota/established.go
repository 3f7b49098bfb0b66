package quota

import (
	"cmp"
	"maps"
	"slices"
)

// established are the names of earlier hours, by kind, with a score. A name gains two points in
// each hour in which it has a place and loses one point in each other hour, so that names of the
// day are still there in the morning.
type established map[uint64]map[uint64]int

const (
	seenPoints = 2
	mostPoints = 48 * seenPoints
	// enoughPoints is the score after two hours. From this score on, a place is reserved.
	enoughPoints = 2 * seenPoints
)

// learn adds names of a kind with a score that reserves a place.
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

// pass updates the scores after an hour with the names in seen. It keeps at most most names of each
// kind.
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
			} else { // including those that have just lost their place
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

// kept returns the names with a reserved place, by kind: those with the highest scores, at most
// kinds kinds and most names of each.
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

// forget deletes names with the fewest points until at most most are left.
func forget(points map[uint64]int, most int) {
	if len(points) <= most {
		return
	}
	all := slices.SortedFunc(maps.Keys(points), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(points[b], points[a]), cmp.Compare(a, b))
	})
	for _, n := range all[most:] {
		delete(points, n)
	}
}
