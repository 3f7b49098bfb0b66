// Package lru has a cache of values up to a total number of bytes.
package lru

import (
	"container/list"
	"sync"
)

// Cache is a cache of values by name, up to a total number of bytes. It evicts the least recently
// used value first. It is safe for concurrent use.
type Cache[V any] struct {
	gone func(name string, v V)

	mu        sync.Mutex
	most, all int64
	order     *list.List
	of        map[string]*list.Element
}

type entry[V any] struct {
	name string
	v    V
	size int64
}

// New returns a cache of up to most bytes. gone, unless nil, is called for values that are evicted
// or dropped. It must not call the cache.
func New[V any](most int64, gone func(name string, v V)) *Cache[V] {
	if gone == nil {
		gone = func(string, V) {}
	}
	return &Cache[V]{gone: gone, most: most, order: list.New(), of: map[string]*list.Element{}}
}

// Get returns the value of a name.
func (c *Cache[V]) Get(name string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.of[name]
	if e == nil {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(entry[V]).v, true
}

// Put caches a value of size bytes and replaces the value of the same name. It reports whether it
// did: a value larger than the cache is not stored, but still removes the old one.
func (c *Cache[V]) Put(name string, v V, size int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.of[name]; e != nil {
		c.all -= e.Value.(entry[V]).size
		c.order.Remove(e)
		delete(c.of, name)
	}
	if size > c.most {
		return false
	}
	c.of[name] = c.order.PushFront(entry[V]{name, v, size})
	for c.all += size; c.all > c.most; {
		c.drop(c.order.Back())
	}
	return true
}

func (c *Cache[V]) drop(e *list.Element) {
	x := c.order.Remove(e).(entry[V])
	delete(c.of, x.name)
	c.all -= x.size
	c.gone(x.name, x.v)
}

// Drop forgets a name.
func (c *Cache[V]) Drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.of[name]; e != nil {
		c.drop(e)
	}
}

// Names returns all names, most recently used first.
func (c *Cache[V]) Names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]string, 0, len(c.of))
	for e := c.order.Front(); e != nil; e = e.Next() {
		out = append(out, e.Value.(entry[V]).name)
	}
	return out
}

// Size returns the bytes of all values.
func (c *Cache[V]) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}
