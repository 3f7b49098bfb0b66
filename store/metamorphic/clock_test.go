package metamorphic

import (
	"sync/atomic"
	"time"
)

// clock is the clock of a store. It only moves when it is told to.
type clock struct {
	micro  atomic.Int64
	latest atomic.Int64 // the latest time that it showed

	alone func(move func()) // moves it while no operation is running, where that matters
}

func newClock(at time.Time) *clock {
	c := &clock{alone: func(move func()) { move() }}
	c.micro.Store(at.UnixMicro())
	c.latest.Store(at.UnixMicro())
	return c
}

func (c *clock) Now() time.Time { return time.UnixMicro(c.micro.Load()).UTC() }

// highest returns the latest time that the clock ever showed.
func (c *clock) highest() time.Time { return time.UnixMicro(c.latest.Load()).UTC() }

func (c *clock) move(d time.Duration) {
	c.alone(func() {
		now := c.micro.Add(d.Microseconds())
		for was := c.latest.Load(); now > was && !c.latest.CompareAndSwap(was, now); was = c.latest.Load() {
		}
	})
}
