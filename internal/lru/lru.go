// Package lru keeps values up to so many bytes.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps values by name, as long as all take no more than a number of bytes. That which was not asked for for the
// longest time goes first. Its methods may be called at once.
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

// New returns a cache for so many bytes. gone, unless it is nil, is told of what goes to make room or is dropped, and must
// not call the cache.
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

// Put keeps a value of so many bytes in the place of what had its name. It reports whether it did: one that is larger than
// all may be is not kept, and neither is what had its name.
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

// Names returns what there is, that which was asked for last first.
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
