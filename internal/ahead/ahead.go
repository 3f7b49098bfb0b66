// Package ahead reads the elements of a list in order, with bounded read-ahead.
package ahead

import (
	"context"
	"iter"
	"sync"
)

// InOrder yields the result of read for each element of list, in order. It reads ahead: at most
// atOnce elements, including the current one, are being read or wait to be yielded. If atOnce is 1
// or less, each element is read when it is due. When the caller stops, InOrder cancels the context
// of read and returns after the last read has returned.
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
