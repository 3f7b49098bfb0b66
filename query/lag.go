package query

import (
	"context"
	"sync/atomic"
	"time"
)

// lag says how far behind an answer may be, and takes how far it is.
type lag struct {
	most   time.Duration
	behind atomic.Int64 // ns
}

type lagKey struct{}

// withLag returns a context in which answers of a [Local] may lack what came in the last
// time, if that is expensive to sum up.
func withLag(ctx context.Context, l *lag) context.Context { return context.WithValue(ctx, lagKey{}, l) }

// mayLag returns what ctx says; nothing may be missing if it says nothing.
func mayLag(ctx context.Context) *lag {
	if l, ok := ctx.Value(lagKey{}).(*lag); ok {
		return l
	}
	return &lag{}
}

// note takes how far an answer is behind.
func (l *lag) note(d time.Duration) {
	for {
		was := l.behind.Load()
		if int64(d) <= was || l.behind.CompareAndSwap(was, int64(d)) {
			return
		}
	}
}
