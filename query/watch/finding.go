package watch

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/vital"
)

// Finding is a change of one series of one page, before those with one cause become one [Change].
type Finding struct {
	PageChange
	What                    What
	Detector                Detector
	Release, CompareRelease string // of ByRelease
	Begin                   time.Time
	Total                   compare.Pair // of a function: ms with what it calls
	// Script is all JavaScript of the page, before, in ms of a page view.
	Script float64
	// Moved says that the time of a function moved, and With from or to which functions, as far as they changed by more
	// than noise.
	Moved bool
	With  []Consequence
	// Causes are those that the detector itself knows.
	Causes []Cause
}

// Traffic is the page views of a page by release and hour.
type Traffic struct {
	Page  string
	Hours []ReleaseHour // by time, then by release
	// Uploaded is the first upload of symbols of each release that has any.
	Uploaded map[string]time.Time
}

// ReleaseHour is the profiled page views of a release in an hour.
type ReleaseHour struct {
	Hour    time.Time
	Release string
	Views   int64
}

// Day is what is known of a page in a day, with all releases. Times are in ms, sums over page views.
type Day struct {
	Day       time.Time
	Views     float64
	Time      compare.Amount
	Strata    map[string]DayStratum // by what they are called: kinds of page views, as comparisons have them
	Functions []compare.Function    // with their Amount over all strata
	Vitals    []vital.Report
	Versions  []browsers.Cell // page views by browser version
}

// DayStratum is the page views of a day on one kind of device and browser.
type DayStratum struct {
	Views    float64
	Time     compare.Amount
	Features map[string]compare.Amount
}

// Span is the profiled page views of a release in [Since, Until).
type Span struct {
	Release      string
	Since, Until time.Time
}

// Observer reads what the detectors need.
type Observer interface {
	// Traffic returns the page views of all pages in [since, until).
	Traffic(ctx context.Context, since, until time.Time) ([]Traffic, error)
	// Compare compares two releases of a page, see [query.CompareQuery]. The spans are at the same hours of one or more
	// days, or one and the same time: then the hours in which both ran are to be strata.
	Compare(ctx context.Context, page string, before, after Span, o compare.Options) (query.Comparison, error)
	// Days returns the days of a page in [since, until), whole ones alone, by time. Functions have one name and file on all
	// of them.
	Days(ctx context.Context, page string, since, until time.Time) ([]Day, error)
}
