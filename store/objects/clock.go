package objects

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Clock estimates the time of the store, so that machines agree on the time even if their own
// clocks are wrong. The Date header of a response has a precision of one second; combining many
// responses gives a much better estimate.
type Clock struct {
	now func() time.Time
	// passed returns the time since the start, even if the clock of this machine is changed.
	passed func() time.Duration

	mu        sync.Mutex
	low, high time.Duration // bounds of the store's clock minus ours
	at        time.Time     // when they were estimated, by our clock
	atPassed  time.Duration // the same as time since the start
	known     bool
	heard     time.Time     // the last response of the store, by our clock
	local     bool          // there is no other clock than ours
	jump      time.Duration // time between the last use of the place and the start, if that is not trusted yet
	last      time.Time     // the latest trusted time of this machine, if there is no other clock
	lastAt    time.Duration // the same as time since the start
	set       time.Time     // when a clock was last found to be changed by more than setBy, by our clock
	disputed  dispute
}

// dispute is a time of the store that recent responses agree on, but that contradicts earlier ones.
type dispute struct {
	low, high time.Duration
	since     time.Time
	answers   int // number of responses; 0 if there is no dispute
}

// A single response may have a wrong time, or come from a proxy. So a time that is far from the
// clock of this machine and from earlier responses is only trusted after believeAnswers responses
// within at least believeAfter. nearby is the maximum error of a clock that counts as correct.
const (
	nearby         = 10 * time.Minute
	believeAnswers = 8
	believeAfter   = 3 * time.Minute
)

// setBy is the jump from which on a clock counts as changed. calmAfter is how long nothing should
// be deleted by age afterwards.
const (
	setBy     = time.Minute
	calmAfter = time.Hour
)

// The clock of a machine may be wrong from the start, as with an empty battery. A clock that is
// more than jumpBy away from the last use of the place is not trusted for jumpAfter, so that an
// operator can notice it.
const (
	jumpBy    = 24 * time.Hour
	jumpAfter = 3 * time.Hour
)

// drift is the maximum relative error in the speed of clocks.
const drift = 200e-6

// useful is the maximum duration of a request whose response is used for estimating the time.
const useful = 10 * time.Second

// NewClock returns the clock of a place whose responses have the time, see [Clock.Note]. now is the
// clock of this machine.
func NewClock(now func() time.Time) *Clock {
	start := now()
	return &Clock{now: now, passed: func() time.Duration { return now().Sub(start) }} // monotonic if now is
}

// LocalClock returns the clock of a local place, which is the clock of this machine.
func LocalClock(now func() time.Time) *Clock {
	c := NewClock(now)
	c.at, c.known, c.local = now(), true, true
	return c
}

// LastUsed sets the last use of the place, as a trusted time.
func (c *Clock) LastUsed(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if jump := c.at.Sub(at); jump.Abs() > jumpBy {
		c.jump = jump
	}
	c.last, c.lastAt = at, c.passed()
}

// behind returns how far the clock of this machine is definitely behind, or 0 if it may be correct.
// The caller holds the lock.
func (c *Clock) behind(now time.Time) time.Duration {
	if !c.local || c.last.IsZero() {
		return 0
	}
	if by := c.last.Add(c.passed() - c.lastAt).Sub(now); by > jumpBy {
		return by
	}
	return 0
}

// Local returns the time of this machine.
func (c *Clock) Local() time.Time { return c.now() }

// Heard returns the time of the last response of the store, by the clock of this machine, or zero
// if there was none.
func (c *Clock) Heard() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.local {
		return c.now()
	}
	return c.heard
}

// Note records a response with the given Date. The store sent it at some time between sent and
// received, which are times of this machine.
func (c *Clock) Note(sent, received, date time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = received
	if took := received.Sub(sent); took < 0 || took > useful {
		return
	}
	c.follow(received)
	low, high := date.Sub(received.Round(0)), date.Add(time.Second).Sub(sent.Round(0))
	if c.known {
		slack := max(0, time.Duration(float64(received.Sub(c.at))*drift))
		if l, h := max(low, c.low-slack), min(high, c.high+slack); l <= h {
			low, high = l, h
		} else { // one of the clocks was changed
			if !c.believe(low, high, received) {
				return
			}
			if ((low+high)/2 - (c.low+c.high)/2).Abs() > setBy {
				c.set = received
			}
		}
	}
	c.low, c.high, c.at, c.atPassed, c.known, c.disputed = low, high, received, c.passed(), true, dispute{}
}

// follow detects whether our clock was changed since the last response: its progress differs from
// the time that has passed.
func (c *Clock) follow(now time.Time) {
	if !c.known {
		return
	}
	passed := c.passed()
	if by := now.Round(0).Sub(c.at.Round(0)) - (passed - c.atPassed); by.Abs() > time.Second {
		c.at, c.atPassed = now, passed
		if !c.local {
			c.low, c.high = c.low-by, c.high-by
		}
		c.disputed = dispute{}
		if by.Abs() > setBy {
			c.set = now
		}
	}
}

// believe reports whether to trust a response that contradicts earlier ones.
func (c *Clock) believe(low, high time.Duration, now time.Time) bool {
	if ((low + high) / 2).Abs() <= nearby {
		return true
	}
	d := &c.disputed
	if l, h := max(low, d.low-time.Second), min(high, d.high+time.Second); d.answers == 0 || l > h {
		*d = dispute{since: now}
	}
	d.low, d.high = low, high
	d.answers++
	return d.answers >= believeAnswers && now.Sub(d.since) >= believeAfter
}

// Doubt returns why nothing should be deleted by age at the moment, or nil. The reasons are: the
// clocks of the store and of this machine differ by more than ten minutes; one of them was changed
// in the last hour; at a start in the last three hours, the clock was more than a day after the
// last use of the place; or the clock is more than a day before the last use.
func (c *Clock) Doubt() error {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(now)
	by := c.behind(now)
	switch offset := (c.low + c.high) / 2; {
	case by != 0:
		return fmt.Errorf("the clock of this machine shows %s, %v before the last use of the data; "+
			"correct it, or start with --believe-clock if it is right",
			now.UTC().Format(time.RFC3339), by.Round(time.Hour))
	case !c.known:
		return errors.New("the store has not sent its time yet")
	case offset.Abs() > nearby:
		return fmt.Errorf("the clocks of this machine and of the store differ by %v", offset.Abs().Round(time.Second))
	case c.disputed.answers > 0:
		return fmt.Errorf("the clock of the store seems to have been changed by %v",
			((c.disputed.low+c.disputed.high)/2 - offset).Round(time.Second))
	case c.jump != 0 && c.passed() < jumpAfter:
		return fmt.Errorf("the clock of this machine shows %s; at the start it was %v away from the last use of the "+
			"data; it is trusted %v after the start, or with --believe-clock",
			now.UTC().Format(time.RFC3339), c.jump.Abs().Round(time.Hour), jumpAfter)
	case !c.set.IsZero() && now.Sub(c.set) < calmAfter:
		return fmt.Errorf("the clock of this machine or of the store was changed %v ago",
			now.Sub(c.set).Round(time.Second))
	}
	c.last, c.lastAt = now, c.passed()
	return nil
}

// Offset returns the store's clock minus ours, and the maximum error of that estimate. It returns
// false before the first response.
func (c *Clock) Offset() (offset, within time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return (c.low + c.high) / 2, (c.high - c.low) / 2, c.known
}

// Now returns the time of the store, or the time of this machine before the first response. If
// there is only the clock of this machine, and it is more than a day before the latest trusted
// time, Now returns the trusted time plus the time that has passed since. Otherwise objects that
// are stored meanwhile would expire as soon as the clock is corrected.
func (c *Clock) Now() time.Time {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(now)
	return now.Add((c.low+c.high)/2 + c.behind(now))
}
