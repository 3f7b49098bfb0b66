package notify

import "time"

// Message is the content of a notification. Some texts come from browsers: they are data, and each
// channel escapes them.
type Message struct {
	// ID is the same for each attempt on every node, so that a receiver can drop repeats.
	ID     string
	Time   time.Time
	Event  Event
	Change string // id of the change, equal in all messages about it
	// Title is one line: "formatPrice became slower by 160 ms on /products (+112 to +208)".
	Title string
	// Lines are short paragraphs of text: pages, causes, what to do.
	Lines []string
	// Labels are short names and values: page, function, release, metric, direction, owner. All
	// messages about a change have the same labels, since Alertmanager identifies alerts by them.
	Labels map[string]string
	// Pages are the affected pages, for filters, with the most added time first.
	Pages []string
	// Milliseconds is the absolute size of the change in ms per page view; nil if it is not a time,
	// or unknown.
	Milliseconds *float64
	// Link is the URL of the change in the dashboard; empty without a public address.
	Link       string
	Begin      time.Time
	End        time.Time // zero while the change is open
	Commit     string    // SHA of the release's commit, empty if unknown
	Repository string    // its URL, such as https://github.com/acme/shop
}

// Event is the kind of a message.
type Event string

const (
	Found    Event = "found"
	Resolved Event = "resolved"
	Test     Event = "test"
)
