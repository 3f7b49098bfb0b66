package fresh

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Cache caches values by key for a lag. Concurrent requests for the same key compute the value
// once. It is safe for concurrent use by multiple goroutines.
type Cache[V any] struct {
	most, mostBytes int
	ahead           *Ahead

	mu   sync.Mutex
	of   map[string]*entry[V]
	size int // bytes of all values
}

// entry is a value, or a value that is being computed.
type entry[V any] struct {
	made  chan struct{} // closed when value and err are set
	value V
	err   error

	at       time.Time // start of the computation
	until    time.Time // expiry; zero while the value is computed
	size     int       // bytes
	renewing bool      // a goroutine is about to compute the next value
	next     *entry[V] // the next value while it is computed
}

// New returns a Cache of at most most values with mostBytes bytes in total. Values larger than a
// quarter of mostBytes are not cached. It computes nothing ahead after ctx is done.
func New[V any](ctx context.Context, most, mostBytes int) *Cache[V] {
	return &Cache[V]{most: most, mostBytes: mostBytes, ahead: NewAhead(ctx), of: map[string]*entry[V]{}}
}

// Make computes a value and returns its approximate size in bytes.
type Make[V any] func(context.Context) (v V, bytes int, err error)

// errNone is the error for callers that waited for a value whose computation panicked. They retry.
var errNone = errors.New("no value was computed")

// Get returns a value whose computation began less than lag ago, and its age. If there is none, it
// computes one. Concurrent callers with the same key wait for that computation until ctx is done.
// Values are shared, so callers must not change them.
func (c *Cache[V]) Get(ctx context.Context, key string, lag time.Duration, f Make[V]) (v V, age time.Duration,
	err error) {
	for {
		x, todo := c.find(key)
		switch todo {
		case makeIt:
			err := c.fill(ctx, key, lag, f, x)
			return x.value, 0, err
		case renewIt:
			go c.renew(key, lag, f, x)
		}
		select {
		case <-x.made:
		case <-ctx.Done():
			return v, 0, ctx.Err()
		}
		if x.err == nil {
			return x.value, time.Since(x.at), nil
		}
		if err := ctx.Err(); err != nil {
			return v, 0, err
		}
		// The other caller may have cancelled the computation. Other errors apply to all callers:
		// otherwise twenty waiting callers would compute it twenty times.
		if !errors.Is(x.err, context.Canceled) && !errors.Is(x.err, context.DeadlineExceeded) &&
			!errors.Is(x.err, errNone) {
			return v, 0, x.err
		}
	}
}

// toDo is the next step for the caller of find.
type toDo int

const (
	useIt   toDo = iota
	renewIt      // and compute the next value
	makeIt       // compute the value
)

// find returns the entry under key, and the caller's next step.
func (c *Cache[V]) find(key string) (*entry[V], toDo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	x := c.of[key]
	if x != nil && !now.Before(x.until) && x.next != nil {
		x = x.next
	}
	switch {
	case x == nil || !x.until.IsZero() && !now.Before(x.until):
		x = newEntry[V](now)
		c.keep(key, x)
		return x, makeIt
	case x.until.IsZero() || x.renewing || !Due(now.Sub(x.at), x.until.Sub(x.at)):
		return x, useIt
	}
	x.renewing = true
	return x, renewIt
}

func newEntry[V any](now time.Time) *entry[V] { return &entry[V]{made: make(chan struct{}), at: now} }

// fill computes a value and stores it under key, or stores nothing if there is an error.
func (c *Cache[V]) fill(ctx context.Context, key string, lag time.Duration, f Make[V], x *entry[V]) error {
	var v V
	var bytes int
	err := errNone
	defer func() { // also after a panic
		c.mu.Lock()
		defer c.mu.Unlock()
		x.err, x.until = err, x.at.Add(For(time.Since(x.at), lag))
		if c.of[key] == x {
			c.drop(key)
		}
		if err == nil {
			x.value = v
			if x.size = len(key) + bytes; x.size <= c.mostBytes/4 {
				c.keep(key, x)
			}
		}
		close(x.made)
	}()
	v, bytes, err = f(ctx)
	return err
}

// renew computes the value that follows x, unless another goroutine does.
func (c *Cache[V]) renew(key string, lag time.Duration, f Make[V], x *entry[V]) {
	c.ahead.Do(func(ctx context.Context) {
		next := newEntry[V](time.Now())
		c.mu.Lock()
		wanted := c.of[key] == x && ctx.Err() == nil
		if wanted {
			x.next = next
		}
		c.mu.Unlock()
		if !wanted {
			return
		}
		func() {
			// A request after x has expired gets the error, and a panic there is logged and ends
			// only that request.
			defer func() { _ = recover() }()
			_ = c.fill(ctx, key, lag, f, next)
		}()
		c.mu.Lock()
		x.renewing, x.next = false, nil
		c.mu.Unlock()
	})
}

// keep replaces the entry under key, and evicts others to make room. The caller must hold the lock,
// as for drop.
func (c *Cache[V]) keep(key string, x *entry[V]) {
	c.drop(key)
	c.of[key] = x
	c.size += x.size
	now := time.Now()
	for k, other := range c.of {
		if other.isOver(now) {
			c.drop(k)
		}
	}
	for c.size > c.mostBytes || len(c.of) > c.most {
		oldest := ""
		for k, other := range c.of {
			if k != key && (oldest == "" || other.at.Before(c.of[oldest].at)) {
				oldest = k
			}
		}
		if oldest == "" {
			return
		}
		c.drop(oldest)
	}
}

// isOver reports whether a value has expired and its successor is not being computed.
func (x *entry[V]) isOver(now time.Time) bool {
	return !x.until.IsZero() && !now.Before(x.until) && x.next == nil
}

func (c *Cache[V]) drop(key string) {
	if x := c.of[key]; x != nil {
		c.size -= x.size
		delete(c.of, key)
	}
}
