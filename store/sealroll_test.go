package store

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"testing"
	"time"
)

// Rolling up reads dictionaries that it does not know yet while the hour ends. Neither waits
// for the other for good.
func TestRollWhileSealing(t *testing.T) {
	c := newClock(noon)
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	s := mustOpen(t, t.TempDir(), o)
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 6 {
		for n := round * 1000; n < (round+1)*1000; n += 100 { // enough of one page for a new dictionary
			var recs []Record
			for k := n; k < n+100; k++ {
				id := traceID(k)
				recs = append(recs, traceRecord(t, fieldTrace(r, id), id))
			}
			mustAppend(t, s, recs...)
		}
		p := s.writer.p
		both := make(chan error, 2)
		go func() { both <- s.Roll(context.Background()) }()
		for leased := false; !leased; { // by the roll
			s.shelf.mu.Lock()
			leased = p.leases > 0
			s.shelf.mu.Unlock()
		}
		c.Add(time.Hour) // Maintain seals the hour
		go func() { both <- s.Maintain(context.Background()) }()
		for range 2 {
			select {
			case err := <-both:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Minute):
				_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
				t.Fatal("rolling up and sealing wait for each other")
			}
		}
	}
}
