package query

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// An answer is made once for all who ask within the lag, also for those who ask while it is
// made; then it is made anew.
func TestRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRecent()
		var made atomic.Int64
		ask := func() (int64, time.Duration) {
			n, age, err := answerRecent(t.Context(), r, "key", 15*time.Second, func() (int64, error) {
				time.Sleep(2 * time.Second)
				return made.Add(1), nil
			})
			if err != nil {
				t.Error(err)
			}
			return n, age
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if n, _ := ask(); n != 1 {
					t.Errorf("got answer %d, want the one that all share", n)
				}
			})
		}
		all.Wait()
		time.Sleep(10 * time.Second)
		if n, age := ask(); n != 1 || age != 12*time.Second {
			t.Errorf("got answer %d, %v old, want 1, begun 12 s ago", n, age)
		}
		time.Sleep(4 * time.Second)
		if n, age := ask(); n != 2 || age != 0 {
			t.Errorf("got answer %d, %v old, want a new one", n, age)
		}
	})
}

// What took little time is made anew soon.
func TestRecentFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRecent()
		made := 0
		for _, x := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {400 * time.Millisecond, 1}, {200 * time.Millisecond, 2}} {
			time.Sleep(x.after)
			n, _, err := answerRecent(t.Context(), r, "key", 15*time.Second, func() (int, error) {
				time.Sleep(10 * time.Millisecond)
				made++
				return made, nil
			})
			if n != x.want || err != nil {
				t.Errorf("after %v more: got answer %d, %v, want %d", x.after, n, err, x.want)
			}
		}
	})
}

// An error is for the one whose question it was: another who waited makes the answer itself.
func TestRecentErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRecent()
		failing := errors.New("given up")
		go func() {
			_, _, err := answerRecent(t.Context(), r, "key", time.Minute, func() (int, error) {
				time.Sleep(time.Second)
				return 0, failing
			})
			if !errors.Is(err, failing) {
				t.Errorf("got %v, want its own error", err)
			}
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, _, err := answerRecent(ctx, r, "key", time.Minute, func() (int, error) { return 2, nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting with a deadline: got %v, want that it ends", err)
		}
		if n, _, err := answerRecent(t.Context(), r, "key", time.Minute, func() (int, error) { return 3, nil }); n != 3 || err != nil {
			t.Errorf("got %d, %v, want 3", n, err)
		}
	})
}

// Without a lag every question is answered by itself.
func TestRecentWithoutLag(t *testing.T) {
	r := NewRecent()
	for want := range 3 {
		if n, _, err := answerRecent(t.Context(), r, "key", 0, func() (int, error) { return want, nil }); n != want || err != nil {
			t.Errorf("got %d, %v, want %d", n, err, want)
		}
	}
}
