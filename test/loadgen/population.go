package loadgen

import (
	"math"
	"math/rand/v2"
)

// population has the properties in which page views differ. The labels are those that
// the browser script sends, and browser, which the daemon otherwise derives from the
// request.
type population struct {
	releases    []string // the oldest first
	devices     []string
	connections []string
	navigations []string
	browsers    []string
	features    []string
	chunks      func(*rand.Rand) int // draws how many chunks a view has
}

// anyView is the population in which nearly every view has its own set of labels and
// spans: the hardest case for rollups, which then have little in common.
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

// site is the population of a real site. Repeated values are more frequent.
func site() population {
	return population{
		releases:    []string{"2026.11.1", "2026.11.2", "2026.11.3", "2026.11.4", "2026.11.5"},
		devices:     []string{"mobile-low", "mobile-mid", "mobile-mid", "desktop-mid", "desktop-high"},
		connections: []string{"4g", "4g", "4g", "4g", "4g", "3g", "2g", "slow-2g"},
		navigations: []string{"navigate", "navigate", "navigate", "reload", "back_forward"},
		browsers: []string{"Chrome 156", "Chrome 156", "Chrome 156", "Chrome 155", "Edge 156", "Edge 155",
			"Opera 140", "Samsung Internet 30"},
		features: []string{"search", "menu", "checkout", "filter", "edit", "gallery", "comments", "map",
			"login", "share"},
		chunks: siteChunks,
	}
}

// siteChunks draws a number of chunks from 1 to maxChunks. n or more have frequency
// n^-1.25: 58 of 100 views have one chunk, and two have all.
func siteChunks(rnd *rand.Rand) int {
	return int(min(math.Pow(1-rnd.Float64(), -1/1.25), maxChunks))
}

// rollout gives the release of a page view while the last release rolls out.
type rollout struct {
	releases int
	of       int // traces until the last release has the share rolledOut
}

// rolledOut is the final share of the last release.
const rolledOut = 0.8

// older are the relative shares of the other releases, newest first.
var older = [...]float64{0.85, 0.1, 0.03, 0.02}

// release draws the release of a view after made traces.
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
