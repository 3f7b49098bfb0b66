package fresh

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// newCache returns a cache as large as the response cache.
func newCache(t *testing.T) *Cache[int] { return New[int](t.Context(), 1024, most) }

// most is its size in bytes.
const most = 64 << 20

// slowly makes values with a delay and counts them.
func slowly(takes time.Duration, made *atomic.Int64) Make[int] {
	return func(ctx context.Context) (int, int, error) {
		select {
		case <-time.After(takes):
			return int(made.Add(1)), 8, nil
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
	}
}

// Concurrent callers share one computation. Requested values are recomputed before they expire, so
// that no caller waits. After expiry they are recomputed immediately.
func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCache(t)
		var made atomic.Int64
		f := slowly(2*time.Second, &made)
		ask := func() (int, time.Duration) {
			n, age, err := r.Get(t.Context(), "key", time.Minute, f)
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
		for _, x := range []struct {
			after time.Duration // since the last request
			want  int
			age   time.Duration
		}{
			{10 * time.Second, 1, 12 * time.Second},
			{10 * time.Second, 1, 22 * time.Second}, // the next one begins after a third of a minute
			{time.Second, 1, 23 * time.Second},
			{2 * time.Second, 2, 3 * time.Second},
			{2 * time.Minute, 3, 0},
		} {
			time.Sleep(x.after)
			begin := time.Now()
			n, age := ask()
			if n != x.want || age != x.age {
				t.Errorf("%v later: got answer %d, %v old, want %d, %v old", x.after, n, age, x.want, x.age)
			}
			if waited := time.Since(begin); waited > 0 && x.age > 0 {
				t.Errorf("%v later: waited %v for an answer that was there", x.after, waited)
			}
			synctest.Wait() // for the goroutine that computes the next value
		}
	})
}

// A cheap value is recomputed soon.
func TestCacheFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCache(t)
		var made atomic.Int64
		f := slowly(10*time.Millisecond, &made)
		for _, x := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {150 * time.Millisecond, 1}, {600 * time.Millisecond, 2}} {
			time.Sleep(x.after)
			if n, _, err := r.Get(t.Context(), "key", time.Minute, f); n != x.want || err != nil {
				t.Errorf("after %v more: got answer %d, %v, want %d", x.after, n, err, x.want)
			}
		}
	})
}

// Values are computed ahead one at a time, with pauses. A request for an expired value computes it,
// or waits for the computation in progress.
func TestCacheAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := New[int](ctx, 1024, most)
		var made, running atomic.Int64
		ask := func(key string) (int, time.Duration) {
			begin := time.Now()
			n, _, err := r.Get(t.Context(), key, time.Minute, func(context.Context) (int, int, error) {
				if running.Add(1) > 1 {
					t.Error("two values are computed ahead concurrently")
				}
				defer running.Add(-1)
				time.Sleep(4 * time.Second)
				return int(made.Add(1)), 8, nil
			})
			if err != nil {
				t.Error(err)
			}
			return n, time.Since(begin)
		}
		ask("a")
		ask("b")
		time.Sleep(30 * time.Second)
		ask("a")
		synctest.Wait() // its turn has begun
		ask("b")
		synctest.Wait()
		if n := running.Load(); n != 1 {
			t.Fatalf("%d answers are being made ahead, want 1", n)
		}
		time.Sleep(15 * time.Second)
		if n, _ := ask("a"); n != 3 {
			t.Errorf("got answer %d, want the one that was made ahead", n)
		}
		time.Sleep(2 * time.Second) // the other one's turn came after the pause
		if n, waited := ask("b"); n != 2 || waited > 0 {
			t.Errorf("got answer %d after %v, want 2 immediately", n, waited)
		}
		time.Sleep(5 * time.Second)
		if n, waited := ask("b"); n != 4 || waited > 0 {
			t.Errorf("got answer %d after %v, want 4 immediately", n, waited)
		}
		time.Sleep(25 * time.Second)
		ask("b")
		cancel()
		time.Sleep(time.Hour)
		if n := made.Load(); n != 4 {
			t.Errorf("%d answers were made, want none ahead after the end", n)
		}
	})
}

// If a caller cancels a computation, another waiting caller repeats it. An error is returned to all
// waiting callers, and a later request retries.
func TestCacheErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCache(t)
		failing := errors.New("too large")
		var made atomic.Int64
		ask := func(ctx context.Context, takes time.Duration, n int, err error) (int, error) {
			got, _, gotErr := r.Get(ctx, "key", time.Minute, func(context.Context) (int, int, error) {
				made.Add(1)
				time.Sleep(takes)
				return n, 8, err
			})
			return got, gotErr
		}
		for range 20 {
			go func() {
				if _, err := ask(t.Context(), time.Second, 0, failing); !errors.Is(err, failing) {
					t.Errorf("got %v, want the error", err)
				}
			}()
		}
		time.Sleep(2 * time.Second)
		if n := made.Load(); n != 1 {
			t.Errorf("the value was computed %d times for the waiting callers", n)
		}
		go func() {
			if _, err := ask(t.Context(), time.Second, 0, context.Canceled); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want its own error", err)
			}
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := ask(ctx, 0, 2, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting with a deadline: got %v, want that it ends", err)
		}
		if n, err := ask(t.Context(), 2*time.Second, 3, nil); n != 3 || err != nil {
			t.Errorf("got %d, %v, want 3", n, err)
		}
		// An error while computing ahead keeps the existing value.
		time.Sleep(40 * time.Second)
		if n, err := ask(t.Context(), time.Second, 0, failing); n != 3 || err != nil {
			t.Errorf("got %d, %v, want 3", n, err)
		}
		time.Sleep(5 * time.Second)
		if n, err := ask(t.Context(), time.Second, 0, failing); n != 3 || err != nil {
			t.Errorf("got %d, %v, want 3 again", n, err)
		}
		time.Sleep(time.Minute)
		if _, err := ask(t.Context(), time.Second, 0, failing); !errors.Is(err, failing) {
			t.Errorf("got %v, want the error", err)
		}
	})
}

// The oldest values are evicted first. Values that are too large are not cached.
func TestCacheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCache(t)
		made := map[string]int{}
		ask := func(key string, size int) {
			if _, _, err := r.Get(t.Context(), key, time.Hour, func(context.Context) (int, int, error) {
				time.Sleep(time.Minute)
				made[key]++
				return size, size << 20, nil
			}); err != nil {
				t.Error(err)
			}
			total := 0
			for _, x := range r.of {
				total += x.size
			}
			if total != r.size || total > most || len(r.of) > 1024 {
				t.Fatalf("%d answers of %d bytes, %d are counted", len(r.of), total, r.size)
			}
		}
		for range 2 {
			for n := range 3 {
				ask(fmt.Sprint(n), 15)
			}
			ask("large", 17)
		}
		ask("3", 15)
		ask("4", 15)
		ask("1", 15)
		ask("0", 15)
		var got []string
		for _, key := range strings.Fields("0 1 2 3 4 large") {
			got = append(got, fmt.Sprint(key, ":", made[key]))
		}
		if want := "0:2 1:1 2:1 3:1 4:1 large:2"; strings.Join(got, " ") != want {
			t.Errorf("made %v, want %v", got, want)
		}
	})
}
