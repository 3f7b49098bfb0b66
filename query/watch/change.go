package watch

import (
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

// Change is a detected change with its consequences.
type Change struct {
	ID        string    `json:"id"` // 16 hexadecimal digits, the same on all nodes; never changes
	State     State     `json:"state"`
	Direction Direction `json:"direction"`
	What      What      `json:"what"`
	Detector  Detector  `json:"detector"`
	// Release is the first release with the change, CompareRelease the last one without it. Both
	// are empty if no release explains the change.
	Release        string `json:"release,omitempty"`
	CompareRelease string `json:"compare_release,omitempty"`
	// Begin is when the change began: the begin of the release, or the most likely day.
	Begin   time.Time `json:"begin"`
	Found   time.Time `json:"found"`
	Checked time.Time `json:"checked"` // time of the last test
	// Resolved is when the change ended, zero while it is open. Resolution is how it ended.
	Resolved   time.Time  `json:"resolved,omitzero"`
	Resolution Resolution `json:"resolution,omitempty"`
	// Pages lists the change on each page, by added time of all visitors, largest first.
	Pages []PageChange `json:"pages"`
	// Consequences lists callers, features, pages and Web Vitals that changed as a result.
	Consequences []Consequence `json:"consequences,omitempty"`
	// Moved lists functions that changed by the same amount in the other direction, if Direction is
	// Moved.
	Moved []Consequence `json:"moved,omitempty"`
	// Causes lists at most three causes, the most likely first. CausesNote is the reason if there
	// are none.
	Causes     []Cause `json:"causes,omitempty"`
	CausesNote string  `json:"causes_note,omitempty"`
	// Handled is the decision of a person about the change.
	Handled *Handled `json:"handled,omitempty"`
}

// State is the state of work on a change.
type State string

// States of a change.
const (
	Open         State = "open"
	Acknowledged State = "acknowledged"
	Expected     State = "expected" // until Handled.Until
	Resolved     State = "resolved"
)

// Resolution is how a change ended.
type Resolution string

// Resolutions of a change.
const (
	Back      Resolution = "back"       // to the earlier level, in the next release or without one
	NewNormal Resolution = "new normal" // after 14 days
	ByHand    Resolution = "by hand"
)

// Direction is the direction of a change.
type Direction string

// Directions of a change. Moved is time that went from one function to another while their sum
// stayed the same.
const (
	Slower Direction = "slower"
	Faster Direction = "faster"
	Moved  Direction = "moved"
)

// Detector names the detector that found a change.
type Detector string

// Detectors of changes.
const (
	ByRelease Detector = "release"
	ByTime    Detector = "time"
)

// Kind is a kind of series.
type Kind string

// Kinds of series.
const (
	OfPage     Kind = "page"
	OfFeature  Kind = "feature"
	OfFunction Kind = "function"
	OfVital    Kind = "vital"
)

// What identifies the series that changed on a page.
type What struct {
	Kind Kind `json:"kind"`
	// Metric is the measured quantity: "js" (JavaScript per page view, in ms) for pages and
	// features, "self" for functions, or the lower-case name of a Web Vital, such as "inp", for its
	// 75th percentile.
	Metric   string         `json:"metric"`
	Function *compare.Place `json:"function,omitempty"` // in the newer release
	Feature  string         `json:"feature,omitempty"`
}

// PageChange is the change on one page. Times are in ms per page view (cls: a score).
type PageChange struct {
	Page  string       `json:"page"`
	Views compare.Pair `json:"views"` // profiled page views that were compared
	// ViewsADay estimates the page views of all visitors per day, profiled or not. It is 0 if
	// unknown.
	ViewsADay float64      `json:"views_a_day,omitempty"`
	Value     compare.Pair `json:"value"` // before and after
	// Change is the plain change with its interval. Beside is the change relative to the rest of
	// the page view, which decides for functions. An estimate is null if unknown.
	Change   compare.Estimate  `json:"change"`
	Beside   *compare.Estimate `json:"beside,omitempty"`
	Level    float64           `json:"level"` // of the intervals
	Relative *float64          `json:"relative,omitempty"`
}

// Consequence is another series that changed as a result.
type Consequence struct {
	Page   string           `json:"page"`
	What   What             `json:"what"`
	Change compare.Estimate `json:"change"`
}

// Cause is a likely cause of a change.
type Cause struct {
	Kind CauseKind `json:"kind"`
	// Text describes the cause in one sentence, without a period.
	Text string `json:"text"`
	// Function is the edited or added function, with its place in the sources.
	Function *compare.Place `json:"function,omitempty"`
	Link     string         `json:"source_url,omitempty"` // link to the place
	// Label is the only label whose page views changed, Resource a script, Package a package. The
	// versions belong to them.
	Label    *Label `json:"label,omitempty"`
	Resource string `json:"resource,omitempty"`
	Package  string `json:"package,omitempty"`
	Before   string `json:"before,omitempty"` // earlier version, if any
	After    string `json:"after,omitempty"`
	// Share is the part of the change that runs below the cause, from 0 to 1.
	Share   *compare.Estimate `json:"share,omitempty"`
	Commits []Commit          `json:"commits,omitempty"` // at most three that edited the file
}

// Label is a label of page views.
type Label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Commit is a commit of a release.
type Commit struct {
	SHA    string `json:"sha"`
	Author string `json:"author,omitempty"`
	Title  string `json:"title,omitempty"`
	URL    string `json:"url,omitempty"`
}

// CauseKind is what explains a change.
type CauseKind string

// Kinds of causes.
const (
	CauseEdited     CauseKind = "edited"      // the function, a function that it calls, or a caller
	CauseAdded      CauseKind = "added"       // a new function
	CauseLabel      CauseKind = "label"       // only page views with a label: a browser's new version, a device, a flag
	CauseThirdParty CauseKind = "third party" // a third-party script that changed
	CausePackage    CauseKind = "package"     // a package whose version changed
	CauseCalls      CauseKind = "calls"       // more calls, or more page views with calls; no slower calls
	CauseMix        CauseKind = "mix"         // a different mix of visitors
	CauseBrowser    CauseKind = "browser"     // a browser version that replaced another
)

// Handled is the decision of a person about a change.
type Handled struct {
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
	Note  string    `json:"note,omitempty"`
	Until time.Time `json:"until,omitzero"` // end of Expected
}
