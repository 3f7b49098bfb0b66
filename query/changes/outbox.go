package changes

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/watch"
)

// Event is the event of a notification.
type Event string

const (
	EventFound    Event = "found"
	EventResolved Event = "resolved"
)

// Notification is a message about a change or a brake, for all channels.
type Notification struct {
	ID     string    `json:"id"` // 16 hexadecimal digits, the same for each attempt
	Event  Event     `json:"event"`
	Change string    `json:"change"` // the id of the change or brake
	Since  time.Time `json:"since"`  // when it was created
	// Channels has the delivery by channel. Channels without an entry were not tried yet.
	Channels map[string]Delivery `json:"channels,omitempty"`
}

// Delivery is the state of a notification in a channel.
type Delivery struct {
	Attempts int       `json:"attempts"`
	Next     time.Time `json:"next,omitzero"`    // time of the next attempt, zero after the last
	Failed   string    `json:"failed,omitempty"` // error of the last attempt, empty after a delivery
}

// Bounds of notifications.
const (
	maxChannels = 100
	// giveUpAfter is how long the delivery to a channel is retried.
	giveUpAfter = 3 * 24 * time.Hour
)

func (n *Notification) check() error {
	switch {
	case !isID(n.ID) || !isID(n.Change):
		return errors.New("an id has 16 hexadecimal digits")
	case n.Event != EventFound && n.Event != EventResolved && n.Event != EventBraked:
		return fmt.Errorf("unknown event %.40q", n.Event)
	case len(n.Channels) > maxChannels:
		return fmt.Errorf("%d channels; the most is %d", len(n.Channels), maxChannels)
	}
	return nil
}

// tell adds a notification to the outbox, except for time that moved between functions.
func (r *Register) tell(c *watch.Change, e Event, now time.Time) {
	if c.Direction != watch.Moved {
		r.put(c.ID, e, now)
	}
}

func (r *Register) put(about string, e Event, now time.Time) {
	r.Outbox = append(r.Outbox, Notification{ID: idOf("%s %s %d %d", about, e, now.UnixNano(), r.Saves), Event: e,
		Change: about, Since: now.UTC()})
}

// idOf returns the id for a unique text.
func idOf(format string, of ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, of...))
	return fmt.Sprintf("%x", sum[:8])
}

// Attempt identifies an attempt to send a notification to a channel.
type Attempt struct{ Notification, Channel string }

// Outcome is the result of an attempt.
type Outcome struct {
	Attempt
	// Failed is the error, or nil if the channel accepted the notification. Next is the time of the
	// next attempt, zero for none.
	Failed error
	Next   time.Time
}

// underWay is how long an attempt of a node blocks attempts of other nodes, even if the node stops.
const underWay = 2 * time.Minute

// Due returns the notifications to send to a channel at a time, oldest first. A notification of a
// change waits until the channel has received the earlier ones.
func (r *Register) Due(channel string, now time.Time) (due []Notification) {
	waits := map[string]bool{}
	for _, n := range r.Outbox {
		d, tried := n.Channels[channel]
		if tried && d.Next.IsZero() {
			continue
		}
		if !waits[n.Change] && (!tried || !now.Before(d.Next)) {
			due = append(due, n)
		}
		waits[n.Change] = true
	}
	return due
}

// Take records that attempts begin now, so that no other node makes them, and returns the attempts
// that are still due.
func (r *Register) Take(attempts []Attempt, now time.Time) (taken []Attempt) {
	for _, a := range attempts {
		due := slices.ContainsFunc(r.Due(a.Channel, now), func(n Notification) bool { return n.ID == a.Notification })
		if n := r.notification(a.Notification); due && n != nil && (len(n.Channels) < maxChannels ||
			n.Channels[a.Channel] != Delivery{}) {
			n.set(a.Channel, Delivery{Attempts: n.Channels[a.Channel].Attempts + 1, Next: now.Add(underWay).UTC(),
				Failed: "in progress"})
			taken = append(taken, a)
		}
	}
	return taken
}

func (r *Register) notification(id string) *Notification {
	if i := slices.IndexFunc(r.Outbox, func(n Notification) bool { return n.ID == id }); i >= 0 {
		return &r.Outbox[i]
	}
	return nil
}

func (n *Notification) set(channel string, d Delivery) {
	if n.Channels == nil {
		n.Channels = map[string]Delivery{}
	}
	n.Channels[channel] = d
}

// Note records the outcomes of attempts, and removes notifications that all channels have finished.
func (r *Register) Note(outcomes []Outcome, channels []string, now time.Time) {
	for _, o := range outcomes {
		n := r.notification(o.Notification)
		if n == nil {
			continue
		}
		d := Delivery{Attempts: max(n.Channels[o.Channel].Attempts, 1)}
		if o.Failed != nil {
			if d.Failed = o.Failed.Error(); d.Failed == "" {
				d.Failed = "it failed"
			}
			clip(&d.Failed)
			if d.Next = o.Next.UTC(); o.Next.IsZero() || now.Sub(n.Since) > giveUpAfter {
				d.Next = time.Time{}
				r.Dropped++
			}
		}
		n.set(o.Channel, d)
	}
	r.Outbox = slices.DeleteFunc(r.Outbox, func(n Notification) bool { return n.done(channels) })
}

// done reports whether n needs no more attempts in any of the channels.
func (n *Notification) done(channels []string) bool {
	return !slices.ContainsFunc(channels, func(c string) bool {
		d, tried := n.Channels[c]
		return !tried || !d.Next.IsZero()
	})
}
