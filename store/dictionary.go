package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// dictionaryCopies is how often a dictionary is stored: a flipped byte in one copy
// must not cost all traces that were compressed with it.
const dictionaryCopies = 2

func appendDictionaryKey(dst []byte, id uint32, copy byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, kindDictionary), id)
	return append(dst, copy)
}

// put stores the dictionary in the transaction.
func (d *dictionary) put(txn *badger.Txn) error {
	for n := range byte(dictionaryCopies) {
		key := appendDictionaryKey(nil, d.id, n)
		value := sumInto(append(make([]byte, 4, 4+len(d.content)), d.content...), 0, key)
		if err := txn.Set(key, value); err != nil {
			return err
		}
	}
	return nil
}

// getDictionary returns the content of the first good copy.
func getDictionary(txn *badger.Txn, id uint32) (content []byte, err error) {
	for n := range byte(dictionaryCopies) {
		key := appendDictionaryKey(nil, id, n)
		item, err := txn.Get(key)
		if errors.Is(err, badger.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		b, err := item.ValueCopy(nil)
		if err == nil && len(b) > 4 && sumOK(key, b) && dictionaryID(b[4:]) == id {
			return b[4:], nil
		}
	}
	return nil, fmt.Errorf("%w: dictionary %d is missing", ErrDamaged, id)
}

// dictionaryIDs returns the ids of the dictionaries of a partition.
func dictionaryIDs(txn *badger.Txn) (ids []uint32) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kindDictionary}})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().Key()
		if len(key) == 6 && key[5] == 0 {
			ids = append(ids, binary.BigEndian.Uint32(key[1:]))
		}
	}
	return ids
}

// dictionaryAfter is how many traces a partition must have, or have reason to
// expect, for a dictionary to be worth its own space many times over.
const dictionaryAfter = 2000

// chooseDictionary decides what the traces of a partition are compressed with, when
// it has been opened for writing: nothing, unless it or the one before is large.
func (w *writer) chooseDictionary() {
	w.dictionaries = make(map[uint32]bool)
	var mine, before []byte
	mine = w.lookForDictionary(w.db, func(id uint32) { w.dictionaries[id] = true })
	if w.p.Traces < w.large && (w.prev == nil || w.prev.Traces < w.large) {
		w.r.codec.current.Store(w.r.codec.plain)
		return
	}
	recent := w.r.samples.dictionary()
	if mine == nil && recent == nil && w.prev != nil { // as after a start
		if db, release, err := w.r.shelf.lease(w.prev); err == nil {
			before = w.lookForDictionary(db, func(uint32) {})
			release()
		}
	}
	for _, content := range [][]byte{mine, recent, before} {
		if content != nil {
			w.setDictionary(content)
			return
		}
	}
}

// growDictionary is called after a commit. It makes the dictionary of a partition
// that has become large without one.
func (w *writer) growDictionary() {
	if w.p.Traces >= w.large && w.r.codec.current.Load().id == 0 {
		w.setDictionary(w.r.samples.dictionary())
	}
}

// recode compresses a group anew if the hour has turned since it was compressed:
// that costs less than another dictionary. It leaves the group alone if it would
// become too large for a transaction.
func (w *writer) recode(group []*request) error {
	from, to := group[0].dictionary, w.r.codec.current.Load()
	if from.id == 0 || from == to || w.dictionaries[from.id] {
		return nil
	}
	var again [][]byte
	var cost int64
	var payload []byte
	for _, q := range group {
		cost += q.cost
		for i := range q.recs {
			r := &q.recs[i]
			var err error
			if payload, err = from.dec.DecodeAll(r.compressed, payload[:0]); err != nil {
				return err
			}
			c := to.enc.EncodeAll(payload, nil)
			cost += int64(len(r.pages) * (len(c) - len(r.compressed)))
			again = append(again, c)
		}
	}
	if cost > w.r.opts.maxCost() {
		return nil
	}
	for _, q := range group {
		q.dictionary = to
		for i := range q.recs {
			q.recs[i].compressed, again = again[0], again[1:]
		}
	}
	return nil
}

// lookForDictionary returns the content of a dictionary of the partition, nil if it
// has none, and calls has with the ids of all that are good.
func (w *writer) lookForDictionary(db *badger.DB, has func(id uint32)) (content []byte) {
	err := view(db, func(txn *badger.Txn) error {
		for _, id := range dictionaryIDs(txn) {
			if c, err := getDictionary(txn, id); err == nil {
				content = c
				has(id)
			}
		}
		return nil
	})
	if err != nil {
		w.r.opts.Logger.Warn("read dictionaries", logErr, err)
	}
	return content
}

func (w *writer) setDictionary(content []byte) {
	if content == nil {
		return
	}
	if err := w.r.codec.SetDictionary(content); err != nil {
		w.r.opts.Logger.Warn("use dictionary", logErr, err)
	}
}

// putDictionary stores the dictionary that a group was compressed with, if the
// partition does not have it: in the transaction that needs it first. An error ends
// the store, so there is no undoing of it.
func (w *writer) putDictionary(txn *badger.Txn, d *dictionary) error {
	if d.id == 0 || w.dictionaries[d.id] {
		return nil
	}
	w.dictionaries[d.id] = true
	return d.put(txn)
}

// decompress sets s.payload to the payload of a value of c's partition, and gets the
// dictionary from there if it is not known.
func (s *scan) decompress(c *cursor, compressed []byte) error {
	var err error
	s.payload, err = s.r.codec.Decompress(s.payload[:0], compressed)
	if !errors.Is(err, errNoDictionary) {
		return err
	}
	id := dictionaryOf(compressed)
	if c.noDictionary[id] {
		return err
	}
	if lerr := s.learn(c.p, id); lerr != nil {
		if c.noDictionary == nil {
			c.noDictionary = make(map[uint32]bool)
		}
		c.noDictionary[id] = true // do not look again for each trace
		return lerr
	}
	s.payload, err = s.r.codec.Decompress(s.payload[:0], compressed)
	return err
}

func (s *scan) learn(p *partition, id uint32) error {
	db, release, err := s.r.shelf.lease(p)
	if err != nil {
		return err
	}
	defer release()
	return view(db, func(txn *badger.Txn) error {
		content, err := getDictionary(txn, id)
		if err == nil {
			_, err = s.r.codec.learn(content)
		}
		return err
	})
}
