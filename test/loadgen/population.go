package loadgen

import (
	"math"
	"math/rand/v2"
)

// population is what page views differ in. The labels are those that the browser script
// sends, and browser, which the daemon takes from the request otherwise.
type population struct {
	releases    []string // the oldest first
	devices     []string
	connections []string
	navigations []string
	browsers    []string
	features    []string
	chunks      func(*rand.Rand) int // draws how many chunks a view has
}

// anyView is the population in which nearly every view has a set of labels and spans of
// its own: the hardest for sums, which have little in common.
func anyView() population {
	counts := []int{1, 1, 1, 1, 1, 1, 1, 2, 2, 3}
	return population{
		releases:    []string{"2026.11.1", "2026.11.2", "2026.11.3"},
		devices:     []string{"mobile-low", "mobile-mid", "mobile-high", "desktop-low", "desktop-mid", "desktop-high"},
		connections: []string{"3g", "4g", "4g", "4g"},
		navigations: []string{"navigate", "navigate", "reload", "back_forward"},
		browsers:    []string{"Chrome 155", "Chrome 156", "Edge 156"},
		features:    []string{"search", "menu", "checkout", "filter", "edit", "gallery"},
		chunks:      func(rnd *rand.Rand) int { return oneOf(rnd, counts) },
	}
}

// site is the population of a real site. What stands twice is twice as frequent.
func site() population {
	return population{
		releases:    []string{"2026.11.1", "2026.11.2", "2026.11.3", "2026.11.4", "2026.11.5"},
		devices:     []string{"mobile-low", "mobile-mid", "mobile-mid", "desktop-mid", "desktop-high"},
		connections: []string{"4g", "4g", "4g", "4g", "4g", "3g", "2g", "slow-2g"},
		navigations: []string{"navigate", "navigate", "navigate", "reload", "back_forward"},
		browsers:    []string{"Chrome 156", "Chrome 156", "Chrome 156", "Chrome 155", "Edge 156", "Edge 155", "Opera 140", "Samsung Internet 30"},
		features:    []string{"search", "menu", "checkout", "filter", "edit", "gallery", "comments", "map", "login", "share"},
		chunks:      siteChunks,
	}
}

// siteChunks draws a number of chunks from 1 to maxChunks. n and more come as often as
// n^-1.25 says: 58 of 100 views have one chunk, and two have all.
func siteChunks(rnd *rand.Rand) int {
	return int(min(math.Pow(1-rnd.Float64(), -1/1.25), maxChunks))
}

// rollout says which release a page view is of while the last one is rolling out.
type rollout struct {
	releases int
	of       int // traces, over which the last release gets from no view to rolledOut of them
}

// rolledOut is the share of the last release in the end.
const rolledOut = 0.8

// older are the shares of the other releases among themselves, the newest of them first.
var older = [...]float64{0.85, 0.1, 0.03, 0.02}

// release draws the release of a view after so many traces were made.
func (r rollout) release(rnd *rand.Rand, made int) int {
	if rnd.Float64() < rolledOut*min(float64(made)/float64(max(r.of, 1)), 1) {
		return r.releases - 1
	}
	x := rnd.Float64()
	for i, share := range older {
		if x -= share; x < 0 {
			return r.releases - 2 - i
		}
	}
	return r.releases - 2
}
