package local

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// writing is what the committer knows of the partition that it writes to.
type writing struct {
	catalog      map[string]record.Count // what the catalogue holds, as far as it was used
	buf          []byte                  // keys and values of one transaction
	dictionaries map[uint32]bool         // that the partition has, by id
	watched      time.Time               // when space was last looked after
}

// maxCatalog bounds the memory of writing.catalog. Beyond it, entries are read again.
const maxCatalog = 1 << 16

// turn begins a partition: with the dictionaries in use, of which it has some if it was made
// ahead, or after a start with those that it or the one before has.
func (x *writing) turn(s *Store, w *part.Writer) {
	x.catalog = make(map[string]record.Count)
	x.dictionaries = make(map[uint32]bool)
	if first := s.samples.Turn(); !first {
		// This process made the partition. What it has put there need not be looked into.
		s.readDictionaries(w.Partition(), func(_ *part.Txn, id uint32) { x.dictionaries[id] = true })
		return
	}
	stored := s.storedDictionaries(w.Partition())
	for _, d := range stored {
		x.dictionaries[d.ID] = true
	}
	if len(stored) == 0 && w.Before() != nil {
		stored = s.storedDictionaries(w.Before())
	}
	s.samples.Restore(stored)
}

// write puts a group into one transaction and returns when it is durable. After an
// error it is not known whether it is.
func (s *Store) write(w *part.Writer, group []*request, now time.Time) (err error) {
	if err := s.putNewDictionaries(w, group); err != nil {
		return err
	}
	b := batch{catalog: s.writing.catalog, buf: s.writing.buf[:0], now: now, touched: make(map[string]bool), pages: make(map[string]bool)}
	coming := 0
	err = w.Commit(func(in *part.Batch) (bool, error) {
		b.in = in
		for _, q := range group {
			for i := range q.recs {
				stored, err := b.add(&q.recs[i])
				if err != nil {
					return false, err
				}
				if stored {
					q.result.Stored++
				} else {
					q.result.Duplicates++
				}
			}
		}
		if in.Count.Traces == 0 {
			return false, nil // all there already, and durable
		}
		in.Count.Received = now.UnixMicro()
		coming = int(in.Count.Entries)
		s.pending.Coming(coming)
		return true, b.putCatalog()
	})
	if err != nil {
		s.pending.Rolled(coming)
		return err
	}
	s.writing.buf = b.buf
	if len(s.writing.catalog) > maxCatalog {
		clear(s.writing.catalog)
	}
	if coming > 0 {
		s.pending.Note(b.pages, int(b.in.Count.Traces), now)
	}
	return nil
}

// batch is a transaction in the making. Badger holds on to keys and values until
// the commit, so they are carved out of one buffer that is used again after it.
type batch struct {
	in      *part.Batch
	catalog map[string]record.Count
	touched map[string]bool // keys of catalog to be written
	pages   map[string]bool // with new traces
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
	idKey := b.carve(func(d []byte) []byte { return record.AppendIDKey(d, r.id) })
	if b.in.Known(idKey) {
		return false, nil
	}
	if err := b.in.Set(idKey, nil); err != nil {
		return false, err
	}
	for i, page := range r.pages {
		key := b.carve(func(d []byte) []byte { return record.AppendTraceKey(d, page, r.id) })
		v := record.Value{Received: b.now, Compressed: r.compressed, Others: slices.Concat(r.pages[:i], r.pages[i+1:])}
		value := b.carve(func(d []byte) []byte { return record.PackValue(d, key, v) })
		if err := b.in.Set(key, value); err != nil {
			return false, err
		}
		b.pages[page] = true
		if err := b.countIn(page, r.tags); err != nil {
			return false, err
		}
	}
	b.in.Count.Traces++
	b.in.Count.Entries += uint32(len(r.pages))
	return true, nil
}

// countIn counts a trace in the catalogue, once for each distinct tag.
func (b *batch) countIn(page string, tags []store.Tag) error {
	if err := b.countOne(page, store.Tag{}); err != nil {
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

func (b *batch) countOne(page string, t store.Tag) error {
	key := b.carve(func(d []byte) []byte { return record.AppendCatalogKey(d, page, t) })
	c, ok := b.catalog[string(key)]
	if !ok {
		var err error
		if c, err = b.stored(key); err != nil {
			return err
		}
	}
	now := b.now.UnixMicro()
	if c.Traces == 0 {
		c.First, c.Last = now, now
	}
	c.Traces++
	c.First, c.Last = min(c.First, now), max(c.Last, now)
	b.catalog[string(key)] = c
	b.touched[string(key)] = true
	return nil
}

// stored returns the count under key. One that is damaged starts over; scans will notice
// that it does not add up.
func (b *batch) stored(key []byte) (record.Count, error) {
	c, err := b.in.Txn().Count(key)
	if errors.Is(err, store.ErrDamaged) {
		return record.Count{}, nil
	}
	return c, err
}

// putCatalog puts the changed catalogue entries into the transaction. They are few
// beside the traces, and rewriting them keeps reading the catalogue to one pass.
func (b *batch) putCatalog() error {
	for k := range b.touched {
		key := []byte(k)
		value := b.carve(func(d []byte) []byte { return record.AppendCount(d, key, b.catalog[k]) })
		if err := b.in.Set(key, value); err != nil {
			return err
		}
	}
	return nil
}

// storedDictionaries returns the good dictionaries of a partition, newest first.
func (s *Store) storedDictionaries(p *part.Partition) (stored []*record.Dictionary) {
	s.readDictionaries(p, func(txn *part.Txn, id uint32) {
		if d, err := txn.Dictionary(id); err == nil {
			stored = append(stored, d)
		}
	})
	return stored
}

// readDictionaries calls f for each dictionary of a partition, newest first.
func (s *Store) readDictionaries(p *part.Partition, f func(*part.Txn, uint32)) {
	ctx, cancel := newTimeout(dictionariesWait)
	defer cancel()
	err := s.parts.Read(ctx, p, func(txn *part.Txn) error {
		for _, id := range txn.DictionaryIDs() {
			f(txn, id)
		}
		return nil
	})
	if err != nil {
		s.opts.Logger.Warn("read dictionaries", logErr, err)
	}
}

// dictionariesWait bounds how long commits wait for dictionaries that would only save space.
const dictionariesWait = 100 * time.Millisecond

// putNewDictionaries stores what a group was compressed with, as far as the partition does
// not have it, before the group: nothing is stored that cannot be read.
func (s *Store) putNewDictionaries(w *part.Writer, group []*request) error {
	var list []*record.Dictionary
	for _, q := range group {
		for i := range q.recs {
			d := q.recs[i].dictionary
			if d.ID == 0 || s.writing.dictionaries[d.ID] {
				continue
			}
			if _, err := s.codec.Learn(d); err != nil {
				return err
			}
			s.writing.dictionaries[d.ID] = true // or the store stops
			list = append(list, d)
		}
	}
	return s.putDictionaries(list, w.Put)
}

// putDictionaries stores dictionaries, as many at once as fit a transaction: each is synced.
func (s *Store) putDictionaries(list []*record.Dictionary, put func([]record.Pair) error) error {
	var pairs []record.Pair
	cost := 0
	for i, d := range list {
		for _, p := range d.Pairs() {
			pairs = append(pairs, p)
			cost += p.Cost()
		}
		if i < len(list)-1 && cost <= int(s.opts.maxCost()/2) {
			continue
		}
		if err := put(pairs); err != nil {
			return fmt.Errorf("store dictionaries: %w", err)
		}
		pairs, cost = nil, 0
	}
	return nil
}

// putInUse puts what the first commits of a partition would put there into one that is made
// ahead of its time: the dictionaries in use, a few MiB.
func (s *Store) putInUse(put func([]record.Pair) error) error {
	return s.putDictionaries(s.samples.InUse(), put)
}
