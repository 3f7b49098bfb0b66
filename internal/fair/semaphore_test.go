package fair

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// A client with a hundred concurrent requests delays others by at most the duration of one request.
func TestGreedyClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Turns: 4, Each: 3})
		work := func(client string, takes time.Duration) time.Duration {
			begin := time.Now()
			done, err := l.Take(t.Context(), client)
			if err != nil {
				t.Error(err)
				return 0
			}
			waited := time.Since(begin)
			time.Sleep(takes)
			done()
			return waited
		}
		for range 100 {
			go work("greedy", time.Second)
		}
		synctest.Wait()
		if taken, waiting := l.Taken(); taken != 3 || waiting != 97 {
			t.Errorf("%d work and %d wait, want 3 and 97", taken, waiting)
		}
		for i := range 5 { // one gets the remaining turn, the others wait for the first that is returned
			go func() {
				if waited := work(fmt.Sprint("client", i), time.Second/2); waited > time.Second {
					t.Errorf("client %d has waited for %s", i, waited)
				}
			}()
		}
		time.Sleep(time.Minute)
		if taken, waiting := l.Taken(); taken != 0 || waiting != 0 || len(l.working) != 0 {
			t.Errorf("%d work, %d wait", taken, waiting)
		}
	})
}

func TestTooMany(t *testing.T) {
	l := New(Options{Turns: 1, Waiting: 1, Most: 2})
	done, err := l.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error)
	wait := func(client string, n int) {
		go func() {
			_, err := l.Take(ctx, client)
			results <- err
		}()
		for waiting := 0; waiting < n; _, waiting = l.Taken() {
			time.Sleep(time.Millisecond)
		}
	}
	wait("a", 1)
	if _, err := l.Take(ctx, "a"); !errors.Is(err, ErrTooMany) {
		t.Errorf("a second one of a client waits: %v", err)
	}
	wait("b", 2)
	if _, err := l.Take(ctx, "c"); !errors.Is(err, ErrTooMany) {
		t.Errorf("a third one waits: %v", err)
	}
	cancel()
	for range 2 {
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	done()
	if done, err = l.Take(t.Context(), "c"); err != nil {
		t.Error(err)
	}
	done()
}

// With random clients, there are never more turns in use than exist, and none in the end.
func TestTurnsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Turns: 3, Each: 2, Waiting: 5, Most: 9})
		for i := range 300 {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			go func() {
				time.Sleep(time.Duration(r.IntN(3000)) * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(100))*time.Millisecond)
				defer cancel()
				done, err := l.Take(ctx, fmt.Sprint(r.IntN(4)))
				if err != nil {
					return
				}
				taken := 0
				l.mu.Lock()
				for _, n := range l.working {
					taken += n
					if n > 2 {
						t.Errorf("a client has %d turns", n)
					}
				}
				if taken != l.taken || taken > 3 {
					t.Errorf("%d turns are in use, %d counted", taken, l.taken)
				}
				l.mu.Unlock()
				time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
				done()
			}()
		}
		time.Sleep(time.Minute)
		if taken, waiting := l.Taken(); taken != 0 || waiting != 0 {
			t.Errorf("%d work, %d wait", taken, waiting)
		}
	})
}
