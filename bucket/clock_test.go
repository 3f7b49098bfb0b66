package bucket

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Many answers that say whole seconds tell the time much better than one, and a clock that is set
// is found out.
func TestClock(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	local := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	c := newClock(func() time.Time { return local })
	if _, _, ok := c.Offset(); ok || !c.Now().Equal(local) {
		t.Error("it knows the time before the first answer")
	}
	for _, ahead := range []time.Duration{7*time.Minute + 123*time.Millisecond, -3 * time.Second, 0} {
		for range 200 {
			local = local.Add(time.Duration(rnd.Float64() * 3e9))
			sent := local
			there := time.Duration(rnd.Float64() * 50e6)
			local = local.Add(there)
			date := local.Add(ahead).Truncate(time.Second)
			local = local.Add(time.Duration(rnd.Float64() * 50e6))
			c.note(sent, local, date)
			offset, within, ok := c.Offset()
			if !ok || (offset-ahead).Abs() > within+time.Millisecond || within > 600*time.Millisecond {
				t.Fatalf("%v ahead: got %v within %v", ahead, offset, within)
			}
		}
		if offset, _, _ := c.Offset(); (offset - ahead).Abs() > 50*time.Millisecond {
			t.Errorf("%v ahead: got %v after 200 answers", ahead, offset)
		}
	}
	before, _, _ := c.Offset()
	c.note(local, local.Add(time.Minute), local.Add(time.Hour))
	if after, _, _ := c.Offset(); after != before {
		t.Error("an answer that took a minute tells the time")
	}
}
