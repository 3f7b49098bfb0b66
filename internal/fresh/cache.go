package fresh

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Cache keeps values by key for those who ask the same within a lag, and has them made once for all
// who ask at the same time. Its methods may be called at once.
type Cache[V any] struct {
	most, mostBytes int
	ahead           *Ahead

	mu   sync.Mutex
	of   map[string]*entry[V]
	size int // bytes of all
}

// entry is a value, or one that is being made.
type entry[V any] struct {
	made  chan struct{} // closed when value and err are set
	value V
	err   error

	at       time.Time // when it was begun
	until    time.Time // when it is too old; zero while it is being made
	size     int       // bytes
	renewing bool      // somebody is about to make the next one
	next     *entry[V] // the next one while that is being made
}

// New returns a Cache of so many values of so many bytes at most. A value that takes more than a
// quarter of these is not kept. It makes none ahead when ctx is done.
func New[V any](ctx context.Context, most, mostBytes int) *Cache[V] {
	return &Cache[V]{most: most, mostBytes: mostBytes, ahead: NewAhead(ctx), of: map[string]*entry[V]{}}
}

// Make makes a value, and says about how many bytes it takes.
type Make[V any] func(context.Context) (v V, bytes int, err error)

// errNone is what those hear who wait for a value whose making ends in a panic. They try themselves.
var errNone = errors.New("no value was made")

// Get returns a value that was begun less than the lag ago, and how long ago that was. If there is
// none, it makes one; whoever asks for the same meanwhile waits for that, no longer than ctx. Nobody may
// change values, as they are shared.
func (c *Cache[V]) Get(ctx context.Context, key string, lag time.Duration, f Make[V]) (v V, age time.Duration, err error) {
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
		// The other one may have been given up by who asked for it. What fails by itself fails for all: twenty who wait would
		// make it twenty times.
		if !errors.Is(x.err, context.Canceled) && !errors.Is(x.err, context.DeadlineExceeded) && !errors.Is(x.err, errNone) {
			return v, 0, x.err
		}
	}
}

// toDo is what is left to who has found an entry.
type toDo int

const (
	useIt   toDo = iota
	renewIt      // and have the next one made
	makeIt       // it is empty
)

// find returns the entry under key, and what to do about it.
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

// fill makes a value and puts it under key, or nothing if there is none.
func (c *Cache[V]) fill(ctx context.Context, key string, lag time.Duration, f Make[V], x *entry[V]) error {
	var v V
	var bytes int
	err := errNone
	defer func() { // also if it panics
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

// renew makes the value that follows x, unless somebody else has.
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
			// Who asks when x is too old is told what goes wrong, and a panic there is logged and
			// ends that request alone.
			defer func() { _ = recover() }()
			_ = c.fill(ctx, key, lag, f, next)
		}()
		c.mu.Lock()
		x.renewing, x.next = false, nil
		c.mu.Unlock()
	})
}

// keep puts an entry in place of the one under key, and makes room for it. It is called with the lock
// held, as is drop.
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

// isOver reports whether a value is too old, and nobody makes the next one.
func (x *entry[V]) isOver(now time.Time) bool {
	return !x.until.IsZero() && !now.Before(x.until) && x.next == nil
}

func (c *Cache[V]) drop(key string) {
	if x := c.of[key]; x != nil {
		c.size -= x.size
		delete(c.of, key)
	}
}
