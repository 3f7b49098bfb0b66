package read

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fieldtrie/fieldtrie/internal/lru"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// cache caches the parts of objects that queries have read, in memory and optionally in a
// directory. Objects never change, so the cache never has stale data. It implements
// [layout.Ranges].
type cache struct {
	from   layout.Ranges
	memory *lru.Cache[[]byte] // by name of the part
	most   int64              // maximum bytes in memory
	disk   *diskCache         // nil without a directory

	mu       sync.Mutex
	underway map[string]*asked

	hits, misses atomic.Uint64
}

// asked is a part that is being read. Other readers of the same part wait for it.
type asked struct {
	done chan struct{}
	part part
	err  error
}

// part is a part of an object, with the size of the whole object.
type part struct {
	body []byte
	size int64
}

// openCache opens a cache. It reuses files that are already in the directory.
func openCache(from layout.Ranges, o Options) (*cache, error) {
	c := &cache{from: from, most: o.CacheMemory, memory: lru.New[[]byte](o.CacheMemory, nil),
		underway: map[string]*asked{}}
	if o.Cache == "" {
		return c, nil
	}
	var err error
	c.disk, err = openDiskCache(o.Cache, o.CacheSize)
	return c, err
}

// Range implements [layout.Ranges]. The caller must not change the returned bytes.
func (c *cache) Range(ctx context.Context, key string, offset, n int64) ([]byte, int64, error) {
	name := fmt.Sprintf("%s@%d+%d", key, offset, n)
	for {
		c.mu.Lock()
		a := c.underway[name]
		mine := a == nil
		if mine {
			a = &asked{done: make(chan struct{})}
			c.underway[name] = a
		}
		c.mu.Unlock()
		if mine {
			a.part, a.err = c.load(ctx, name, key, offset, n)
			c.mu.Lock()
			delete(c.underway, name)
			c.mu.Unlock()
			close(a.done)
			return a.part.body, a.part.size, a.err
		}
		select {
		case <-a.done:
			if !errors.Is(a.err, context.Canceled) && !errors.Is(a.err, context.DeadlineExceeded) {
				return a.part.body, a.part.size, a.err
			} // the reader that started the request was cancelled
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
}

// load reads a part, and caches it.
func (c *cache) load(ctx context.Context, name, key string, offset, n int64) (part, error) {
	if packed, ok := c.memory.Get(name); ok {
		c.hits.Add(1)
		return unpackPart(packed), nil
	}
	if c.disk != nil {
		if packed, ok := c.disk.get(name); ok {
			c.remember(name, packed)
			c.hits.Add(1)
			return unpackPart(packed), nil
		}
	}
	c.misses.Add(1)
	body, size, err := c.from.Range(ctx, key, offset, n)
	if err != nil {
		return part{}, err
	}
	packed := binary.LittleEndian.AppendUint64(slices.Clip(body), uint64(size))
	c.remember(name, packed)
	if c.disk != nil {
		c.disk.put(name, packed)
	}
	return unpackPart(packed), nil
}

// remember caches a part in memory, unless it takes more than a quarter of the cache.
func (c *cache) remember(name string, packed []byte) {
	if size := int64(len(packed) + len(name)); size <= c.most/4 {
		c.memory.Put(name, packed, size)
	}
}

// unpackPart decodes a part whose bytes end with the size of its object.
func unpackPart(packed []byte) part {
	n := len(packed) - 8
	return part{packed[:n:n], int64(binary.LittleEndian.Uint64(packed[n:]))}
}
