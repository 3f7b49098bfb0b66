// Package site replays real page views as weeks of one page of a site, for the detectors of
// query/watch: with a season of traffic and of speed, drifting devices, an outage, bots, a new
// browser version, releases, and planted changes.
//
// As in test/simulate, no single page view is constructed: an hour is how often each real view was
// drawn on each device, with the sums of the factors of their speed. All sums of an hour follow
// from these.
package site

import "github.com/fieldtrie/fieldtrie/test/simulate"

// Plan describes what happens to a page. Hours count from the beginning of the first day.
type Plan struct {
	Page  *simulate.Page
	Name  string
	Days  int
	Views float64 // profiled page views a day
	Seed  uint64
	// Season is how much traffic and, at other hours, the time of page views differ over the week:
	// 0.4 is from 60 to 140 %.
	Season float64
	Sigma  float64 // spread of the logarithm of the speed of a device from view to view
	// PageDay and FunctionDay are the standard deviations of the logarithm of the time from day to
	// day: of all functions together, and of each function independently.
	PageDay, FunctionDay float64
	// Drift is the share of page views that move from the first to the last kind of device over the
	// whole time.
	Drift    float64
	Releases []Release
	Ramp     int // hours until all page views have a new release
	Effects  []Effect
	// Edits is how many functions each release edits, besides those with effects. Symbols of all
	// releases are known; with 0 none are.
	Edits  int
	Outage Hours
	Bots   Hours
	// Browser is when page views change to a new browser version, which is faster by 2 %.
	Browser Hours
	// Versions are the browser versions of all page views; nil: unknown.
	Versions []Version
}

// Version is a version of a browser family. Later ones of a family replace earlier ones.
type Version struct {
	Name   string // such as "Chrome 158"
	Effect float64
	Hour   int // when its rollout begins; on phones five days later
}

// Hours is a range of hours; Until is excluded.
type Hours struct{ From, Until int }

func (h Hours) has(hour int) bool { return hour >= h.From && hour < h.Until }

// Release is a release and the hour in which its rollout begins.
type Release struct {
	Name string
	Hour int
}

// Effect multiplies the time of functions.
type Effect struct {
	Functions []int // empty: all
	Factor    float64
	Release   string // since this one; "" for all
	Hours     Hours  // empty: all
	Growing   int    // days in which the factor grows evenly from 1
	// To gets the time that the functions lose, if it is not below 0: a refactoring.
	To int
}

// Devices are the device classes of page views.
func devices() []simulate.Device { return simulate.Devices() }
