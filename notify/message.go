package notify

import "time"

// Message is what one notification says. Its texts come from browsers in part: they are data, and each channel escapes them.
type Message struct {
	// ID is the same for each attempt to send it, on every node. A receiver that has seen it can drop it.
	ID     string
	Time   time.Time
	Event  Event
	Change string // id of the change; repeats and the end of a change have the same
	// Title is one line: "formatPrice became slower by 160 ms on /products (+112 to +208)".
	Title string
	// Lines are short paragraphs of text: pages, causes, what to do.
	Lines []string
	// Labels are short names and values: page, function, release, metric, direction, owner. All messages of a change have
	// the same, since Alertmanager tells alerts apart by them.
	Labels map[string]string
	// Pages are the pages that have the change, for filters; the one with the most added time first.
	Pages []string
	// Milliseconds is the size of the change in ms of a page view, without a sign; nil if it is no time, or unknown.
	Milliseconds *float64
	// Link is the change in the dashboard; empty without a public address.
	Link       string
	Begin      time.Time
	End        time.Time // zero as long as it is open
	Commit     string    // SHA of the release's commit, empty if unknown
	Repository string    // URL of it, such as https://github.com/acme/shop
}

// Event is what happened.
type Event string

// The events.
const (
	Found    Event = "found"
	Resolved Event = "resolved"
	Test     Event = "test"
)
