// Package ahead reads a list of things in order, some of them ahead of the one that is used.
package ahead

import (
	"context"
	"iter"
	"sync"
)

// InOrder yields what read returns for each element of list, in the order of the list, while it reads the elements that follow:
// atOnce of them at most are read or wait for their turn, the one that is used among them. If atOnce is 1 or less, each is read when
// it is its turn. When the caller stops, the context of read ends, and InOrder returns after the last read has.
func InOrder[T, R any](ctx context.Context, atOnce int, list []T, read func(context.Context, T) R) iter.Seq[R] {
	atOnce = min(atOnce, len(list))
	return func(yield func(R) bool) {
		ctx, cancel := context.WithCancel(ctx)
		if atOnce <= 1 {
			defer cancel()
			for _, x := range list {
				if !yield(read(ctx, x)) {
					return
				}
			}
			return
		}
		var group sync.WaitGroup
		defer group.Wait()
		defer cancel()
		var coming []chan R // of the next elements
		for left := list; len(left)+len(coming) > 0; {
			for ; len(left) > 0 && len(coming) < atOnce; left = left[1:] {
				x, c := left[0], make(chan R, 1)
				coming = append(coming, c)
				group.Go(func() { c <- read(ctx, x) })
			}
			got := <-coming[0]
			coming = append(coming[:0], coming[1:]...)
			if !yield(got) {
				return
			}
		}
	}
}
