package fleet

import (
	"container/list"
	"sync"
)

// lru keeps values up to so many bytes. That which was not asked for for the longest time goes first.
type lru[V any] struct {
	mu        sync.Mutex
	most, all int64
	order     *list.List
	of        map[string]*list.Element
	gone      func(name string, v V) // is told of what goes
}

type kept[V any] struct {
	name string
	v    V
	size int64
}

func newLRU[V any](most int64, gone func(string, V)) *lru[V] {
	return &lru[V]{most: most, order: list.New(), of: map[string]*list.Element{}, gone: gone}
}

func (l *lru[V]) get(name string) (v V, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of[name]
	if e == nil {
		return v, false
	}
	l.order.MoveToFront(e)
	return e.Value.(kept[V]).v, true
}

// put keeps a value, unless it would push out most of the others.
func (l *lru[V]) put(name string, v V, size int64) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if size > l.most/4 {
		return false
	}
	if e := l.of[name]; e != nil {
		l.all -= e.Value.(kept[V]).size
		l.order.Remove(e)
	}
	l.of[name] = l.order.PushFront(kept[V]{name, v, size})
	for l.all += size; l.all > l.most; {
		l.dropLocked(l.order.Back())
	}
	return true
}

func (l *lru[V]) dropLocked(e *list.Element) {
	x := l.order.Remove(e).(kept[V])
	delete(l.of, x.name)
	l.all -= x.size
	l.gone(x.name, x.v)
}

func (l *lru[V]) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.of[name]; e != nil {
		l.dropLocked(e)
	}
}

// size returns the bytes of all values.
func (l *lru[V]) size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}
