package watch

import (
	"context"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/browsers"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/vital"
)

// Finding is a change of one series of one page. Findings with one cause become one [Change].
type Finding struct {
	PageChange
	What                    What
	Detector                Detector
	Release, CompareRelease string // for ByRelease
	Begin                   time.Time
	Total                   compare.Pair // of a function: ms including its callees
	// Script is the earlier JavaScript time of the whole page, in ms per page view.
	Script float64
	// Moved is set if the time of a function moved. With lists the functions it moved from or to,
	// as far as their change is significant.
	Moved bool
	With  []Consequence
	// Causes lists the causes that the detector itself found.
	Causes []Cause
}

// Traffic holds the page views of a page by release and hour.
type Traffic struct {
	Page  string
	Hours []ReleaseHour // sorted by time, then by release
	// Uploaded is the time of the first upload of symbols, by release.
	Uploaded map[string]time.Time
}

// ReleaseHour is the number of profiled page views of a release in an hour.
type ReleaseHour struct {
	Hour    time.Time
	Release string
	Views   int64
}

// Day is the data of a page for one day, over all releases. Times are sums over page views, in ms.
type Day struct {
	Day       time.Time
	Views     float64
	Time      compare.Amount
	Strata    map[string]DayStratum // by name; the strata are those of comparisons
	Functions []compare.Function    // Amount is over all strata
	Vitals    []vital.Report
	Versions  []browsers.Cell // page views by browser version
}

// DayStratum holds the page views of a day on one kind of device and browser.
type DayStratum struct {
	Views    float64
	Time     compare.Amount
	Features map[string]compare.Amount
}

// Span selects the profiled page views of a release in [Since, Until).
type Span struct {
	Release      string
	Since, Until time.Time
}

// Observer reads the data that the detectors need.
type Observer interface {
	// Traffic returns the page views of all pages in [since, until).
	Traffic(ctx context.Context, since, until time.Time) ([]Traffic, error)
	// Compare compares two releases of a page, see [query.CompareQuery]. The spans either cover the
	// same hours of different days, or are equal. If they are equal, the hours in which both
	// releases ran must be strata.
	Compare(ctx context.Context, page string, before, after Span, o compare.Options) (query.Comparison, error)
	// Days returns the complete days of a page in [since, until), by time. A function has the same
	// name and file on all days.
	Days(ctx context.Context, page string, since, until time.Time) ([]Day, error)
}
