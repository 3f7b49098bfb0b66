package metamorphic

import (
	"sync/atomic"
	"time"
)

// clock is the clock of a store. It stands still until it is moved.
type clock struct{ micro atomic.Int64 }

func newClock(at time.Time) *clock {
	c := &clock{}
	c.micro.Store(at.UnixMicro())
	return c
}

func (c *clock) Now() time.Time { return time.UnixMicro(c.micro.Load()).UTC() }

func (c *clock) move(d time.Duration) { c.micro.Add(d.Microseconds()) }
