package tables

import (
	"container/list"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// cache keeps decoded tables. That which was not asked for for the longest time goes first.
type cache struct {
	most, size int // bytes
	order      *list.List
	of         map[string]*list.Element // by hash
}

type cached struct {
	hash  string
	table *symbols.Table
	size  int
}

func newCache(most int) cache {
	return cache{most: most, order: list.New(), of: map[string]*list.Element{}}
}

func (c *cache) get(hash string) *symbols.Table {
	e := c.of[hash]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(cached).table
}

func (c *cache) put(hash string, t *symbols.Table) {
	c.drop(hash)
	x := cached{hash, t, sizeOf(t)}
	if x.size > c.most {
		return
	}
	c.of[hash] = c.order.PushFront(x)
	for c.size += x.size; c.size > c.most; {
		c.drop(c.order.Back().Value.(cached).hash)
	}
}

func (c *cache) drop(hash string) {
	if e := c.of[hash]; e != nil {
		c.size -= e.Value.(cached).size
		c.order.Remove(e)
		delete(c.of, hash)
	}
}

func (c *cache) clear() { *c = newCache(c.most) }

// sizeOf returns about how many bytes a table takes.
func sizeOf(t *symbols.Table) int {
	const function, source = 88 + 8, 56 // a row and its place, a row of sources
	n := len(t.Functions)*function + len(t.Sources)*source
	for i := range t.Functions {
		n += len(t.Functions[i].Name) / 2 // texts are shared
	}
	return n
}
