package ahead

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// InOrder keeps the order of the list, whatever takes longest, and reads at most atOnce elements.
func TestInOrder(t *testing.T) {
	for _, atOnce := range []int{0, 1, 2, 5, 100} {
		synctest.Test(t, func(t *testing.T) {
			var reading, most atomic.Int64
			list := []int{7, 1, 9, 3, 3, 0, 8, 2}
			read := func(_ context.Context, x int) int {
				if n := reading.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer reading.Add(-1)
				time.Sleep(time.Duration(x) * time.Second)
				return 10 * x
			}
			got := slices.Collect(InOrder(t.Context(), atOnce, list, read))
			if want := []int{70, 10, 90, 30, 30, 0, 80, 20}; !slices.Equal(got, want) {
				t.Errorf("atOnce %d: got %v, want %v", atOnce, got, want)
			}
			if n := int(most.Load()); n > max(1, atOnce) {
				t.Errorf("atOnce %d: %d concurrent reads", atOnce, n)
			}
		})
	}
}

// When the caller stops, reads in progress are cancelled and no more begin.
func TestStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun, ended atomic.Int64
		read := func(ctx context.Context, x int) int {
			begun.Add(1)
			defer ended.Add(1)
			if x > 0 {
				<-ctx.Done()
			}
			return x
		}
		for range InOrder(t.Context(), 3, []int{0, 1, 2, 3, 4, 5}, read) {
			break
		}
		if begun.Load() != 3 || ended.Load() != 3 {
			t.Errorf("got %d reads begun and %d ended, want 3 and 3", begun.Load(), ended.Load())
		}
		for range InOrder(t.Context(), 3, nil, read) {
			t.Error("got something of an empty list")
		}
	})
}
