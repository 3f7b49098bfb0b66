package store

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/dgraph-io/badger/v4"
)

var errNotExist = fs.ErrNotExist

// write puts a group into one transaction and returns when it is durable. After an
// error it is not known whether it is.
func (w *writer) write(group []*request, now time.Time) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("write to partition %s: badger panicked: %v", w.p.name, r)
		}
	}()
	known, done := w.knownBefore()
	defer done()
	txn := w.db.NewTransaction(true)
	defer txn.Discard()
	isKnown := func(idKey []byte) bool { return w.has(txn, idKey) || known(idKey) }
	b := batch{txn: txn, known: isKnown, catalog: w.catalog, buf: w.buf[:0], now: now, touched: make(map[string]bool), pages: make(map[string]bool)}
	for _, q := range group {
		for i := range q.recs {
			stored, err := b.add(&q.recs[i])
			if err != nil {
				return fmt.Errorf("write to partition %s: %w", w.p.name, err)
			}
			if stored {
				q.result.Stored++
			} else {
				q.result.Duplicates++
			}
		}
	}
	if b.count.traces == 0 {
		return nil // all there already, and durable
	}
	if err := w.putDictionaries(group); err != nil {
		return fmt.Errorf("write to partition %s: %w", w.p.name, err)
	}
	if err := w.finish(&b); err != nil {
		return fmt.Errorf("commit to partition %s: %w", w.p.name, err)
	}
	return nil
}

// finish commits a batch and counts it in.
func (w *writer) finish(b *batch) error {
	number := w.next
	b.count.received = b.now.UnixMicro()
	if err := b.putCatalog(); err != nil {
		return err
	}
	key := appendCommitKey(nil, number)
	if err := b.txn.Set(key, appendCommit(nil, key, b.count)); err != nil {
		return err
	}
	w.fresh.coming(int(b.count.entries))
	if err := b.txn.Commit(); err != nil {
		w.fresh.gone(int(b.count.entries))
		return err
	}
	w.next++
	w.buf = b.buf
	if len(w.catalog) > maxCatalog {
		clear(w.catalog)
	}
	w.r.shelf.mu.Lock()
	w.p.add(number, b.count)
	w.r.shelf.mu.Unlock()
	w.fresh.note(b.pages, int(b.count.traces), b.now)
	return w.commits.append(number, key, b.count)
}

// knownBefore returns a lookup in the partition before the one that is written to.
// If it cannot be read, its traces are taken as unknown: a repeat is then stored
// again, which is better than refusing what is new.
func (w *writer) knownBefore() (known func(idKey []byte) bool, done func()) {
	unknown := func([]byte) bool { return false }
	if w.prev == nil {
		return unknown, func() {}
	}
	db, release, err := w.r.shelf.lease(w.prev)
	if err != nil {
		if errors.Is(err, ErrDamaged) || errors.Is(err, errGone) {
			w.prev = nil // it will not get better
		}
		w.r.opts.Logger.Warn("no look for duplicates in the partition before", logErr, err)
		return unknown, func() {}
	}
	txn := db.NewTransaction(false)
	return func(idKey []byte) bool { return w.has(txn, idKey) }, func() { txn.Discard(); release() }
}

// has reports whether there is a key. One that can not be looked for, since a block is
// damaged, is taken as unknown: the next start would meet the same block again.
func (w *writer) has(txn *badger.Txn, key []byte) (found bool) {
	err := guarded(func() error {
		_, err := txn.Get(key)
		found = err == nil
		return err
	})
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		w.r.damaged.Add(1)
		w.r.opts.Logger.Warn("look for duplicates", logErr, err)
	}
	return found
}

// batch is a transaction in the making. Badger holds on to keys and values until
// the commit, so they are carved out of one buffer that is used again after it.
type batch struct {
	txn     *badger.Txn
	known   func(idKey []byte) bool // also of what this transaction has set
	catalog map[string]count
	touched map[string]bool // keys of catalog to be written
	pages   map[string]bool // with new traces
	count   commit
	now     time.Time
	buf     []byte
}

// carve returns what f appends to the buffer. When the buffer moves, what was
// carved before stays where it is.
func (b *batch) carve(f func([]byte) []byte) []byte {
	start := len(b.buf)
	b.buf = f(b.buf)
	return b.buf[start:len(b.buf):len(b.buf)]
}

// add puts a trace into the transaction, unless it is stored already, in this
// transaction or before. It reports which.
func (b *batch) add(r *prepared) (stored bool, err error) {
	idKey := b.carve(func(d []byte) []byte { return appendIDKey(d, r.id) })
	if b.known(idKey) {
		return false, nil
	}
	if err := b.txn.Set(idKey, nil); err != nil {
		return false, err
	}
	for i, page := range r.pages {
		key := b.carve(func(d []byte) []byte { return AppendTraceKey(d, page, r.id) })
		v := Value{Received: b.now, Compressed: r.compressed, Others: without(r.pages, i)}
		value := b.carve(func(d []byte) []byte { return PackValue(d, key, v) })
		if err := b.txn.Set(key, value); err != nil {
			return false, err
		}
		b.pages[page] = true
		if err := b.countIn(page, r.tags); err != nil {
			return false, err
		}
	}
	b.count.traces++
	b.count.entries += uint32(len(r.pages))
	return true, nil
}

// without returns s without its i-th element.
func without(s []string, i int) []string {
	if len(s) == 1 {
		return nil
	}
	out := make([]string, 0, len(s)-1)
	out = append(out, s[:i]...)
	return append(out, s[i+1:]...)
}

// countIn counts a trace in the catalogue, once for each distinct tag.
func (b *batch) countIn(page string, tags []Tag) error {
	if err := b.countOne(page, Tag{}); err != nil {
		return err
	}
tags:
	for i, t := range tags {
		for _, before := range tags[:i] {
			if t == before {
				continue tags
			}
		}
		if err := b.countOne(page, t); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) countOne(page string, t Tag) error {
	key := b.carve(func(d []byte) []byte { return appendCatalogKey(d, page, t) })
	c, ok := b.catalog[string(key)]
	if !ok {
		var err error
		c, err = readCount(b.txn, key)
		if errors.Is(err, ErrDamaged) {
			c, err = count{}, nil // start over; scans will notice that it does not add up
		}
		if err != nil {
			return err
		}
	}
	now := b.now.UnixMicro()
	if c.traces == 0 {
		c.first, c.last = now, now
	}
	c.traces++
	c.first, c.last = min(c.first, now), max(c.last, now)
	b.catalog[string(key)] = c
	b.touched[string(key)] = true
	return nil
}

// putCatalog puts the changed catalogue entries into the transaction. They are few
// beside the traces, and rewriting them keeps reading the catalogue to one pass.
func (b *batch) putCatalog() error {
	for k := range b.touched {
		key := []byte(k)
		value := b.carve(func(d []byte) []byte { return appendCount(d, key, b.catalog[k]) })
		if err := b.txn.Set(key, value); err != nil {
			return err
		}
	}
	return nil
}
