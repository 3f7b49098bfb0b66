package query

import (
	"context"
	"testing"
	"time"
)

func stepsOfSize(bytes int) []step {
	s := step{at: time.Now(), page: "/"}
	return make([]step, bytes/s.size()+1)
}

// Two ask for the same steps, which take more room than there is. The first drops them; the second, who waited for
// its turn, gives back what is in no map any more: its size stays counted for good, and each answer after that panics.
func TestFineGivenBackAfterDrop(t *testing.T) {
	f := NewFine()
	a, err := f.take(context.Background(), "k")
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan *fineSteps)
	go func() {
		b, _ := f.take(context.Background(), "k")
		second <- b
	}()
	time.Sleep(50 * time.Millisecond)
	a.steps = stepsOfSize(maxFineSize + 1)
	f.give(a)
	give := func(what string, x *fineSteps) {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s: panic: %v (size %d, kept %d)", what, r, f.size, len(f.of))
			}
		}()
		f.give(x)
	}
	give("the second", <-second)
	c, _ := f.take(context.Background(), "another, small question")
	give("another, small question", c)
	d, _ := f.take(context.Background(), "one more")
	give("one more", d)
}

func TestFineSizeOfDropped(t *testing.T) {
	f := NewFine()
	slow, _ := f.take(context.Background(), "slow")
	big, _ := f.take(context.Background(), "big")
	slow.steps, big.steps = stepsOfSize(maxFineSize/3), stepsOfSize(maxFineSize+1)
	f.give(big) // pushes out "slow", which is in use, and itself
	f.give(slow)
	if len(f.of) == 0 && f.size != 0 {
		t.Errorf("nothing is kept, and it is said to take %d bytes", f.size)
	}
}

// Entries of 12 MB, which 20,000 traces are by the minute. Now and then one is pushed out while it is being read anew.
func TestFineLeaksUntilItPanics(t *testing.T) {
	f := NewFine()
	get := func(key string) *fineSteps {
		x, err := f.take(context.Background(), key)
		if err != nil {
			t.Fatal(err)
		}
		x.steps = stepsOfSize(12 << 20)
		return x
	}
	for round := range 20 {
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("round %d: panic: %v (size %d, kept %d)", round, r, f.size, len(f.of))
				}
			}()
			slow := get("slow page")
			for i := range 8 { // other pages, meanwhile
				f.give(get(string(rune('a' + i))))
			}
			f.give(slow)
		}()
	}
}
