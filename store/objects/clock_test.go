package objects

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Many responses with whole seconds give a much better estimate than one, and a change of the clock
// is detected.
func TestClock(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	local := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	c := NewClock(func() time.Time { return local })
	if _, _, ok := c.Offset(); ok || !c.Now().Equal(local) {
		t.Error("the time is known before the first response")
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
		t.Error("a response after a minute is used for the estimate")
	}
}

// A single response with a wrong time is not trusted, but many responses over some minutes are.
// Until long after that the clock is in doubt.
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
			t.Fatalf("the store is estimated to be %v ahead, want %v", got, want)
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
	answers(1, time.Minute) // agrees with this machine
	off(0)
	answers(58, time.Minute)
	doubts(true)
	answers(3, time.Minute)
	doubts(false)
}

// If the clock of this machine is changed, the time of the store is not affected.
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
			t.Errorf("set by %v: the clock is not in doubt", by)
		}
		c.Note(local, local, right)
		if off := c.Now().Sub(right).Abs(); off > 2*time.Second {
			t.Errorf("set by %v: after a response the time of the store is off by %v", by, off)
		}
	}
}

// A clock that is days after the last use of the place is trusted three hours after the start, and
// immediately if the difference is less than a day. A clock that is days before it is never
// trusted.
func TestLastUsed(t *testing.T) {
	const day = 24 * time.Hour
	for off, want := range map[time.Duration][3]bool{
		0: {}, 23 * time.Hour: {}, -23 * time.Hour: {}, 25 * time.Hour: {true, true, false},
		400 * day:       {true, true, false},
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

// While a clock is more than a day before the latest trusted time, time continues from the trusted
// time. Once the clock is corrected, it is used again.
func TestClockIsBehind(t *testing.T) {
	used := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	local, passed := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), time.Duration(0)
	c := LocalClock(func() time.Time { return local })
	c.passed = func() time.Duration { return passed }
	wait := func(d time.Duration) { local, passed = local.Add(d), passed+d }
	says := func(what string, want time.Time, doubted bool) {
		t.Helper()
		if err := c.Doubt(); !c.Now().Equal(want) || (err != nil) != doubted {
			t.Errorf("%s: got %v with doubt %v, want %v, %v", what, c.Now(), err, want, doubted)
		}
	}
	c.LastUsed(used)
	says("at the start", used, true)
	wait(5 * time.Hour)
	says("five hours later", used.Add(5*time.Hour), true)
	right := used.Add(70 * time.Hour)
	local = right
	says("corrected", right, true)
	wait(61 * time.Minute)
	says("an hour after that", right.Add(61*time.Minute), false)
	wait(48 * time.Hour)
	says("two days after that", local, false)
	right, local = local, local.Add(-420*24*time.Hour)
	says("set back while running", right, true)
	wait(time.Hour)
	says("an hour later", right.Add(time.Hour), true)
	local = right.Add(time.Hour)
	says("corrected again", local, true)
	local, right = local.Add(-2*time.Hour), local.Add(-2*time.Hour) // this may be correct
	says("set back by two hours", right, true)
	wait(61 * time.Minute)
	says("an hour after that", local, false)

	c = LocalClock(func() time.Time { return local }) // the last use is unknown
	says("the first start", local, false)
}
