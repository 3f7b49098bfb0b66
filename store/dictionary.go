package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"
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
	form := d.appendValue(make([]byte, 4))
	for n := range byte(dictionaryCopies) {
		key := appendDictionaryKey(nil, d.id, n)
		if err := txn.Set(key, sumInto(bytes.Clone(form), 0, key)); err != nil {
			return err
		}
	}
	return nil
}

// appendValue appends the stored form without its checksum: length of the page
// uvarint │ page │ zstd(content).
func (d *dictionary) appendValue(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(d.page)))
	dst = append(dst, d.page...)
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(2*dictionarySize))
	if err != nil {
		panic(fmt.Sprintf("make compressor: %v", err)) // the options contradict each other
	}
	return enc.EncodeAll(d.content, dst)
}

// parseDictionary is the reverse of appendValue. The form of earlier releases is the
// content alone; the id, which is made of the content, tells which it is.
func parseDictionary(id uint32, b []byte) (*dictionary, error) {
	if d := newDictionary("", b); d.id == id {
		d.content = bytes.Clone(b)
		return d, nil
	}
	length, size := binary.Uvarint(b)
	if size <= 0 || length > MaxPage || uint64(len(b)-size) < length {
		return nil, fmt.Errorf("%w: dictionary %d: page length", ErrDamaged, id)
	}
	page, packed := string(b[size:size+int(length)]), b[size+int(length):]
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*dictionarySize))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	defer dec.Close()
	content, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: dictionary %d: %w", ErrDamaged, id, err)
	}
	d := newDictionary(page, content)
	if d.id != id {
		return nil, fmt.Errorf("%w: dictionary %d has the content of %d", ErrDamaged, id, d.id)
	}
	return d, nil
}

// getDictionary returns the first good copy.
func getDictionary(txn *badger.Txn, id uint32) (*dictionary, error) {
	for n := range byte(dictionaryCopies) {
		key := appendDictionaryKey(nil, id, n)
		item, err := txn.Get(key)
		if errors.Is(err, badger.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var d *dictionary
		err = item.Value(func(b []byte) (err error) {
			if len(b) > 4 && sumOK(key, b) {
				d, err = parseDictionary(id, b[4:])
			}
			return err
		})
		if err == nil && d != nil {
			return d, nil
		}
	}
	return nil, fmt.Errorf("%w: dictionary %d is missing", ErrDamaged, id)
}

// dictionaryIDs returns the ids of the dictionaries of a partition, newest first.
func dictionaryIDs(txn *badger.Txn) (ids []uint32) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kindDictionary}})
	defer it.Close()
	version := make(map[uint32]uint64)
	for it.Rewind(); it.Valid(); it.Next() {
		if key := it.Item().Key(); len(key) == 6 {
			id := binary.BigEndian.Uint32(key[1:])
			version[id] = max(version[id], it.Item().Version())
		}
	}
	return slices.SortedFunc(maps.Keys(version), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(version[b], version[a]), cmp.Compare(a, b))
	})
}

// chooseDictionary begins a partition that has been opened for writing: with the
// dictionaries in use, or after a start with those that are stored.
func (w *writer) chooseDictionary() {
	s := &w.r.samples
	first := s.turn()
	w.dictionaries = make(map[uint32]bool)
	stored := w.storedDictionaries(w.db)
	for _, d := range stored {
		w.dictionaries[d.id] = true
	}
	if !first {
		return
	}
	if len(stored) == 0 && w.prev != nil {
		if db, release, err := w.r.shelf.lease(w.prev); err == nil {
			stored = w.storedDictionaries(db)
			release()
		}
	}
	s.restore(stored)
}

// storedDictionaries returns the good dictionaries of a partition, newest first.
func (w *writer) storedDictionaries(db *badger.DB) (stored []*dictionary) {
	err := view(db, func(txn *badger.Txn) error {
		for _, id := range dictionaryIDs(txn) {
			if d, err := getDictionary(txn, id); err == nil {
				stored = append(stored, d)
			}
		}
		return nil
	})
	if err != nil {
		w.r.opts.Logger.Warn("read dictionaries", logErr, err)
	}
	return stored
}

// putDictionaries stores what a group was compressed with, as far as the partition
// does not have it. Each has a transaction of its own, before that of the group:
// nothing is stored that cannot be read, and there is room for any number of them.
func (w *writer) putDictionaries(group []*request) error {
	for _, q := range group {
		for i := range q.recs {
			d := q.recs[i].dictionary
			if d.id == 0 || w.dictionaries[d.id] {
				continue
			}
			if err := w.db.Update(d.put); err != nil {
				return err
			}
			w.dictionaries[d.id] = true
		}
	}
	return nil
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
	if lerr := s.learn(c, id); lerr != nil {
		if c.noDictionary == nil {
			c.noDictionary = make(map[uint32]bool)
		}
		c.noDictionary[id] = true // do not look again for each trace
		return lerr
	}
	s.payload, err = s.r.codec.Decompress(s.payload[:0], compressed)
	return err
}

// learn makes a dictionary of c's partition known. It reads with the transaction in hand if
// there is one: a second lease would wait for whoever waits for the first to end.
func (s *scan) learn(c *cursor, id uint32) error {
	get := func(txn *badger.Txn) error {
		d, err := getDictionary(txn, id)
		if err == nil {
			_, err = s.r.codec.learn(d)
		}
		return err
	}
	if c.txn != nil {
		return guarded(func() error { return get(c.txn) })
	}
	return s.r.look(c.p, get)
}

// try is what it takes to find out whether a dictionary is worth its space.
type try struct {
	m       *material
	traces  int
	samples [][]byte
	used    *dictionary // so far
}

// dictionary returns a dictionary of the samples, and after how many traces it has
// saved what it takes.
func (t *try) dictionary() (d *dictionary, worth int) {
	const never = 1<<31 - 1
	from, tests := t.samples[:len(t.samples)-triedTraces], t.samples[len(t.samples)-triedTraces:]
	size := pageDictionarySize
	if t.m.page == "" {
		size = dictionarySize
	}
	d = newDictionary(t.m.page, distinct(from, size))
	saved := 0
	for _, p := range tests {
		saved += len(t.used.compress(nil, p)) - len(d.compress(nil, p))
	}
	if d.id == 0 || saved <= 0 {
		return d, never
	}
	return d, dictionaryCopies * len(d.appendValue(nil)) * len(tests) / saved
}

// distinct returns up to size bytes of the last of the samples, without those that
// differ little from a later one. They keep their order, since zstd reaches the end of
// a dictionary best.
func distinct(samples [][]byte, size int) []byte {
	const word, alike = 8, 8 // bytes; alike are two of which less than one word in 8 differs
	seen := make(map[uint64]bool)
	var taken [][]byte
	room := size
	for _, p := range slices.Backward(samples) {
		fresh := 0
		for i := 0; i+word <= len(p); i++ {
			if w := binary.LittleEndian.Uint64(p[i:]); !seen[w] {
				seen[w] = true
				fresh++
			}
		}
		if fresh*alike < len(p) {
			continue
		}
		taken = append(taken, p)
		if room -= len(p); room <= 0 {
			break
		}
	}
	slices.Reverse(taken)
	content := bytes.Join(taken, nil)
	return content[max(0, len(content)-size):]
}
