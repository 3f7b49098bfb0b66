package bucket

import (
	"sync"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// Clock tells the time of the store, so that machines agree on it whatever their own clocks say. The
// header Date of answers has whole seconds, so that one answer says it to a second, and many answers
// together say it much better.
type Clock struct {
	now func() time.Time

	mu        sync.Mutex
	low, high time.Duration // the clock of the store less ours is between them
	at        time.Time     // when that was found out, by our clock
	known     bool
	heard     time.Time // when the store answered last, by our clock
}

// drift is how much faster or slower clocks may go.
const drift = 200e-6

// useful is the longest call from which the time is told.
const useful = 10 * time.Second

func newClock(now func() time.Time) *Clock { return &Clock{now: now} }

// Local returns the time of this machine.
func (c *Clock) Local() time.Time { return c.now() }

// Heard returns when the store answered last, by the clock of this machine; zero if it never did.
func (c *Clock) Heard() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard
}

// saw notes an answer to a request that was sent at a time.
func (c *Clock) saw(sent time.Time, m middleware.Metadata) {
	if date, ok := awsmiddleware.GetServerTime(m); ok && !date.IsZero() {
		c.note(sent, c.now(), date)
	}
}

// note notes that the clock of the store was in the second that begins with date, somewhen between
// two times of ours.
func (c *Clock) note(sent, received, date time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = received
	if took := received.Sub(sent); took < 0 || took > useful {
		return
	}
	low, high := date.Sub(received), date.Add(time.Second).Sub(sent)
	if c.known {
		slack := max(0, time.Duration(float64(received.Sub(c.at))*drift))
		if l, h := max(low, c.low-slack), min(high, c.high+slack); l <= h {
			low, high = l, h
		} // else one of the clocks was set
	}
	c.low, c.high, c.at, c.known = low, high, received, true
}

// Offset returns how far the clock of the store is ahead of ours, and to what it is known; ok is false
// before the first answer.
func (c *Clock) Offset() (offset, within time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return (c.low + c.high) / 2, (c.high - c.low) / 2, c.known
}

// Now returns the time of the store; that of this machine before the first answer.
func (c *Clock) Now() time.Time {
	offset, _, _ := c.Offset()
	return c.now().Add(offset)
}
