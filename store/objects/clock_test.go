package objects

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
	c := NewClock(func() time.Time { return local })
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
			c.Note(sent, local, date)
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
	c.Note(local, local.Add(time.Minute), local.Add(time.Hour))
	if after, _, _ := c.Offset(); after != before {
		t.Error("an answer that took a minute tells the time")
	}
}

// An answer with a wrong time is not believed, many over some minutes are; and until long after that nobody relies on them.
func TestClockIsSet(t *testing.T) {
	local := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	c := NewClock(func() time.Time { return local })
	ahead := time.Duration(0)
	answers := func(n int, every time.Duration) {
		for range n {
			local = local.Add(every)
			c.Note(local, local.Add(time.Millisecond), local.Add(ahead).Truncate(time.Second))
		}
	}
	off := func(want time.Duration) {
		t.Helper()
		if got, _, _ := c.Offset(); (got - want).Abs() > time.Second {
			t.Fatalf("the store is taken to be %v ahead, want %v", got, want)
		}
	}
	doubts := func(want bool) {
		t.Helper()
		if err := c.Doubt(); (err != nil) != want {
			t.Fatalf("doubt: %v", err)
		}
	}
	doubts(true)
	answers(3, time.Second)
	off(0)
	doubts(false)
	ahead = 402 * 24 * time.Hour
	answers(1, time.Second)
	off(0)
	doubts(true)
	ahead = 0
	answers(1, time.Second)
	off(0)
	doubts(false)
	ahead = 402 * 24 * time.Hour
	answers(7, time.Minute)
	off(0)
	answers(1, time.Minute)
	off(ahead)
	doubts(true)
	ahead = 0
	answers(1, time.Minute) // which agrees with this machine
	off(0)
	answers(58, time.Minute)
	doubts(true)
	answers(3, time.Minute)
	doubts(false)
}

// The clock of the machine is set: the time of the store goes on.
func TestClockOfMachineIsSet(t *testing.T) {
	right := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	local, passed := right, time.Duration(0)
	c := NewClock(func() time.Time { return local })
	c.passed = func() time.Duration { return passed }
	c.Note(local, local, right)
	if err := c.Doubt(); err != nil {
		t.Fatal(err)
	}
	for _, by := range []time.Duration{365 * 24 * time.Hour, -3 * time.Hour, 0} {
		right, passed = right.Add(time.Minute), passed+time.Minute
		local = right.Add(by)
		if off := c.Now().Sub(right).Abs(); off > 2*time.Second {
			t.Errorf("set by %v: the time of the store is off by %v", by, off)
		}
		if c.Doubt() == nil {
			t.Errorf("set by %v: nobody doubts it", by)
		}
		c.Note(local, local, right)
		if off := c.Now().Sub(right).Abs(); off > 2*time.Second {
			t.Errorf("set by %v: after an answer the time of the store is off by %v", by, off)
		}
	}
}

// A clock that is days after the last use of the place is believed some hours after the start, and
// immediately if it is not that far off. One that is days before it is wrong for as long as it is.
func TestLastUsed(t *testing.T) {
	const day = 24 * time.Hour
	for off, want := range map[time.Duration][3]bool{
		0: {}, 23 * time.Hour: {}, -23 * time.Hour: {}, 25 * time.Hour: {true, true, false}, 400 * day: {true, true, false},
		-25 * time.Hour: {true, true, true}, -400 * day: {true, true, true},
	} {
		now := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
		c := LocalClock(func() time.Time { return now })
		c.LastUsed(now.Add(-off))
		for _, doubted := range want {
			if err := c.Doubt(); (err != nil) != doubted {
				t.Errorf("used %v ago, %v: %v, want a doubt: %v", off, now, err, doubted)
			}
			now = now.Add(2 * time.Hour)
		}
	}
}

// While a clock is far before the last time that was believed, time goes on from there. A clock
// that is set right is followed.
func TestClockIsBehind(t *testing.T) {
	used := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	local, passed := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), time.Duration(0)
	c := LocalClock(func() time.Time { return local })
	c.passed = func() time.Duration { return passed }
	wait := func(d time.Duration) { local, passed = local.Add(d), passed+d }
	says := func(what string, want time.Time, doubted bool) {
		t.Helper()
		if err := c.Doubt(); !c.Now().Equal(want) || (err != nil) != doubted {
			t.Errorf("%s: it is %v, doubt %v, want %v, %v", what, c.Now(), err, want, doubted)
		}
	}
	c.LastUsed(used)
	says("at the start", used, true)
	wait(5 * time.Hour)
	says("five hours later", used.Add(5*time.Hour), true)
	right := used.Add(70 * time.Hour)
	local = right
	says("set right", right, true)
	wait(61 * time.Minute)
	says("an hour after that", right.Add(61*time.Minute), false)
	wait(48 * time.Hour)
	says("two days after that", local, false)
	right, local = local, local.Add(-420*24*time.Hour)
	says("set back while it runs", right, true)
	wait(time.Hour)
	says("an hour later", right.Add(time.Hour), true)
	local = right.Add(time.Hour)
	says("set right again", local, true)
	local, right = local.Add(-2*time.Hour), local.Add(-2*time.Hour) // which may be right
	says("set back by little", right, true)
	wait(61 * time.Minute)
	says("an hour after that", local, false)

	c = LocalClock(func() time.Time { return local }) // nothing is known of the last use
	says("the first start", local, false)
}
