package objects

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Clock tells the time of the store, so that machines agree on it whatever their own clocks say. The
// header Date of answers has whole seconds, so that one answer says it to a second, and many answers
// together say it much better.
type Clock struct {
	now func() time.Time
	// passed says how much time has passed since the start, whatever the clock of this machine is set to.
	passed func() time.Duration

	mu        sync.Mutex
	low, high time.Duration // the clock of the store less ours is between them
	at        time.Time     // when that was found out, by our clock
	atPassed  time.Duration // and then had passed
	known     bool
	heard     time.Time     // when the store answered last, by our clock
	local     bool          // there is no other clock than ours
	jump      time.Duration // from when the place was used last to the start, if that is not believed yet
	last      time.Time     // the latest time of this machine that was believed, if there is no other clock
	lastAt    time.Duration // and how much time had passed then
	set       time.Time     // when one of the clocks was last found set by more than setBy, by our clock
	disputed  dispute
}

// dispute is a time of the store that its last answers say, and that can not be if those before were right.
type dispute struct {
	low, high time.Duration
	since     time.Time
	answers   int // 0 if there is none
}

// One answer may be wrong, or come from something on the way. So a time that is far from that of this machine and from
// what the store said before is believed after so many answers in so long. Nearby is how far clocks are off that are taken for right.
const (
	nearby         = 10 * time.Minute
	believeAnswers = 8
	believeAfter   = 3 * time.Minute
)

// setBy is by how much a clock jumps that was set, and calmAfter how long after that nothing should be deleted by its age.
const (
	setBy     = time.Minute
	calmAfter = time.Hour
)

// The time of a machine may be wrong from the start, as with a flat battery: one that is further than jumpBy from when the place was used last is
// not believed for as long as an operator may need to see that.
const (
	jumpBy    = 24 * time.Hour
	jumpAfter = 3 * time.Hour
)

// drift is how much faster or slower clocks may go.
const drift = 200e-6

// useful is the longest call from which the time is told.
const useful = 10 * time.Second

// NewClock returns the clock of a place whose answers say the time, see [Clock.Note]. Now is the clock of this machine.
func NewClock(now func() time.Time) *Clock {
	start := now()
	return &Clock{now: now, passed: func() time.Duration { return now().Sub(start) }} // which is monotonic, where now is that
}

// LocalClock returns the clock of a place on this machine: that of the machine.
func LocalClock(now func() time.Time) *Clock {
	c := NewClock(now)
	c.at, c.known, c.local = now(), true, true
	return c
}

// LastUsed sets when the place was used last, by a time that was believed.
func (c *Clock) LastUsed(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if jump := c.at.Sub(at); jump.Abs() > jumpBy {
		c.jump = jump
	}
	c.last, c.lastAt = at, c.passed()
}

// behind returns by how much the clock of this machine is certainly behind, 0 if it may be right.
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

// Heard returns when the store answered last, by the clock of this machine; zero if it never did.
func (c *Clock) Heard() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.local {
		return c.now()
	}
	return c.heard
}

// Note notes that the clock of the store was in the second that begins with date, somewhen between
// two times of ours.
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
		} else { // one of the clocks was set
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

// follow finds out whether our clock was set since the last answer: what it says has gone on by another time than what passed.
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

// believe reports whether an answer is believed that contradicts those before.
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

// Doubt returns why nothing should be deleted by its age now: the clocks of the store and of this
// machine differ by more than ten minutes, one of them was set in the last hour, at a start in the
// last three hours it was more than a day after the last use of the place, or it is more than a
// day before that.
func (c *Clock) Doubt() error {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(now)
	by := c.behind(now)
	switch offset := (c.low + c.high) / 2; {
	case by != 0:
		return fmt.Errorf("the clock of this machine says %s, %v before the data was used last: "+
			"set it, or start with --believe-clock if it is right",
			now.UTC().Format(time.RFC3339), by.Round(time.Hour))
	case !c.known:
		return errors.New("the store has not said what time it is")
	case offset.Abs() > nearby:
		return fmt.Errorf("the clock of this machine and that of the store differ by %v", offset.Abs().Round(time.Second))
	case c.disputed.answers > 0:
		return fmt.Errorf("the store says that its clock was set by %v", ((c.disputed.low+c.disputed.high)/2 - offset).Round(time.Second))
	case c.jump != 0 && c.passed() < jumpAfter:
		return fmt.Errorf("the clock of this machine says %s, and at the start that was %v from when the data was used last: believed %v after the start, or with --believe-clock",
			now.UTC().Format(time.RFC3339), c.jump.Abs().Round(time.Hour), jumpAfter)
	case !c.set.IsZero() && now.Sub(c.set) < calmAfter:
		return fmt.Errorf("the clock of this machine or of the store was set %v ago", now.Sub(c.set).Round(time.Second))
	}
	c.last, c.lastAt = now, c.passed()
	return nil
}

// Offset returns how far the clock of the store is ahead of ours, and to what it is known; ok is false
// before the first answer.
func (c *Clock) Offset() (offset, within time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return (c.low + c.high) / 2, (c.high - c.low) / 2, c.known
}

// Now returns the time of the store; that of this machine before the first answer. If there is no
// other clock than that of this machine, and it is more than a day before the latest time that was
// believed, Now returns that time plus what has passed since. Objects that are stored meanwhile
// would otherwise expire as soon as the clock is right.
func (c *Clock) Now() time.Time {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(now)
	return now.Add((c.low+c.high)/2 + c.behind(now))
}
