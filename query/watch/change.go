package watch

import (
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

// Change is one found change, with all that only follows from it.
type Change struct {
	ID        string    `json:"id"` // 16 hexadecimal digits, the same on all nodes and for ever
	State     State     `json:"state"`
	Direction Direction `json:"direction"`
	What      What      `json:"what"`
	Detector  Detector  `json:"detector"`
	// Release has the change and CompareRelease has not. Both are empty if no release explains it.
	Release        string `json:"release,omitempty"`
	CompareRelease string `json:"compare_release,omitempty"`
	// Begin is when the change began: when the release did, or the likeliest day.
	Begin   time.Time `json:"begin"`
	Found   time.Time `json:"found"`
	Checked time.Time `json:"checked"` // when it was last tested
	// Resolved is when it ended, zero as long as it is open, and Resolution how.
	Resolved   time.Time  `json:"resolved,omitzero"`
	Resolution Resolution `json:"resolution,omitempty"`
	// Pages has the change of each page, the one with the most added time of all visitors first.
	Pages []PageChange `json:"pages"`
	// Consequences are callers, features, pages and Web Vitals that changed because of it.
	Consequences []Consequence `json:"consequences,omitempty"`
	// MovedFrom or MovedTo are functions that changed by as much in the other direction, if Direction is Moved.
	Moved []Consequence `json:"moved,omitempty"`
	// Causes are at most three, the likeliest first. CausesNote says why there are none.
	Causes     []Cause `json:"causes,omitempty"`
	CausesNote string  `json:"causes_note,omitempty"`
	// Handled is what a person said about it.
	Handled *Handled `json:"handled,omitempty"`
}

// State is what is done about a change.
type State string

// The states.
const (
	Open         State = "open"
	Acknowledged State = "acknowledged"
	Expected     State = "expected" // until Handled.Until
	Resolved     State = "resolved"
)

// Resolution is how a change ended.
type Resolution string

// The resolutions.
const (
	Back      Resolution = "back"       // to what was before, in the next release or by itself
	NewNormal Resolution = "new normal" // after 14 days
	ByHand    Resolution = "by hand"
)

// Direction is which way something changed.
type Direction string

// The directions. Moved is time that went from one function to another, without a change of both together.
const (
	Slower Direction = "slower"
	Faster Direction = "faster"
	Moved  Direction = "moved"
)

// Detector is what found a change.
type Detector string

// The detectors.
const (
	ByRelease Detector = "release"
	ByTime    Detector = "time"
)

// Kind is a kind of series.
type Kind string

// The kinds.
const (
	OfPage     Kind = "page"
	OfFeature  Kind = "feature"
	OfFunction Kind = "function"
	OfVital    Kind = "vital"
)

// What is the series that changed, without the page.
type What struct {
	Kind Kind `json:"kind"`
	// Metric is what is measured: "js" (ms of JavaScript of a page view) of pages and features, "self" of functions, and
	// the name of a Web Vital, in lower case, such as "inp": its 75th percentile.
	Metric   string         `json:"metric"`
	Function *compare.Place `json:"function,omitempty"` // in the newer release
	Feature  string         `json:"feature,omitempty"`
}

// PageChange is the change on one page. Times are ms of a page view (cls: a score).
type PageChange struct {
	Page  string       `json:"page"`
	Views compare.Pair `json:"views"` // profiled page views that it was found in
	// ViewsADay estimates the page views of all visitors in a day, profiled or not; 0 if unknown.
	ViewsADay float64      `json:"views_a_day,omitempty"`
	Value     compare.Pair `json:"value"` // before and after
	// Change is the plain change with its interval. Beside is the change at an equal rest of the page view: it has decided
	// for functions. Null if unknown.
	Change   compare.Estimate  `json:"change"`
	Beside   *compare.Estimate `json:"beside,omitempty"`
	Level    float64           `json:"level"` // of the intervals
	Relative *float64          `json:"relative,omitempty"`
}

// Consequence is another series that changed with it.
type Consequence struct {
	Page   string           `json:"page"`
	What   What             `json:"what"`
	Change compare.Estimate `json:"change"`
}

// Cause is a likely cause of a change.
type Cause struct {
	Kind CauseKind `json:"kind"`
	// Text is one sentence about it, without a period.
	Text string `json:"text"`
	// Function is what was edited or added, with its place in the sources.
	Function *compare.Place `json:"function,omitempty"`
	Link     string         `json:"source_url,omitempty"` // of the place
	// Label is a label that the change is confined to, Resource a script, Package a package, with their versions.
	Label    *Label `json:"label,omitempty"`
	Resource string `json:"resource,omitempty"`
	Package  string `json:"package,omitempty"`
	Before   string `json:"before,omitempty"` // version before, if any
	After    string `json:"after,omitempty"`
	// Share is the part of the change that runs under it, from 0 to 1.
	Share   *compare.Estimate `json:"share,omitempty"`
	Commits []Commit          `json:"commits,omitempty"` // that edited its file, at most three
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

// CauseKind is a kind of cause.
type CauseKind string

// The kinds of causes.
const (
	CauseEdited     CauseKind = "edited"      // the function, one it calls, or one that calls it
	CauseAdded      CauseKind = "added"       // a function that was not there
	CauseLabel      CauseKind = "label"       // only page views with a label: a browser's new version, a device, a flag
	CauseThirdParty CauseKind = "third party" // a script of others that changed
	CausePackage    CauseKind = "package"     // a package with another version
	CauseCalls      CauseKind = "calls"       // more calls or more page views with it, and no slower ones
	CauseMix        CauseKind = "mix"         // other visitors
	CauseBrowser    CauseKind = "browser"     // a browser version that replaced another
)

// Handled is what a person said about a change.
type Handled struct {
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
	Note  string    `json:"note,omitempty"`
	Until time.Time `json:"until,omitzero"` // of Expected
}
