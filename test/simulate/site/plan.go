// Package site replays real page views as weeks of one page of a site, for the detectors of
// query/watch: with a season of traffic and of speed, devices that drift, an outage, bots, a new
// version of a browser, releases, and changes that are planted.
//
// As in test/simulate, no page view is ever made: an hour is how often each real view was drawn on
// each device, with the sums of the factors of their speed. All sums of an hour follow from these.
package site

import "github.com/fieldtrie/fieldtrie/test/simulate"

// Plan is what happens to a page. Hours are those since the first day began.
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
	// PageDay and FunctionDay are the spread of the logarithm of the time from day to day: of all
	// functions together, and of each by itself.
	PageDay, FunctionDay float64
	// share of page views that change from the first to the last kind of device in all the time
	Drift    float64
	Releases []Release
	Ramp     int // hours until all page views have a new release
	Effects  []Effect
	// Edits is how many functions each release edits, besides those that its effects are of.
	// Symbols of all releases are known; with 0 none are.
	Edits  int
	Outage Hours
	Bots   Hours
	// Browser is when page views change to a new version of their browser, which is faster by 2 %.
	Browser Hours
	// Versions are the browser versions of all page views; nil: unknown.
	Versions []Version
}

// Version is a version of a browser family. Later ones of a family replace earlier ones.
type Version struct {
	Name   string // such as "Chrome 158"
	Effect float64
	Hour   int // from which on it is rolled out, to phones five days later
}

// Hours are from one hour to before another.
type Hours struct{ From, Until int }

func (h Hours) has(hour int) bool { return hour >= h.From && hour < h.Until }

// Release is a release and the hour from which on it is rolled out.
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
	Growing   int    // days in which the factor grows from 1, evenly
	// To gets the time that the functions lose, if it is not below 0: a refactoring.
	To int
}

// Devices are the device classes of page views.
func devices() []simulate.Device { return simulate.Devices() }
