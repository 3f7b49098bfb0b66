package part

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// AllVersions is a version that no entry is newer than.
const AllVersions = 1<<64 - 1

// Txn reads a partition as it was at one moment. It must not be kept after the function that
// was given it has returned.
type Txn struct{ txn *badger.Txn }

// Version returns the number that Badger gave the newest commit that t sees. Entries of
// later commits have greater ones.
func (t *Txn) Version() uint64 { return t.txn.ReadTs() }

// Get calls f with the value under key, and reports whether there is one. f must not keep it.
func (t *Txn) Get(key []byte, f func(value []byte) error) (found bool, err error) {
	item, err := t.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, item.Value(f)
}

// Count returns the count under key, zero if there is none.
func (t *Txn) Count(key []byte) (c record.Count, err error) {
	_, err = t.Get(key, func(b []byte) error {
		c, err = record.ParseCount(key, b)
		return err
	})
	return c, err
}

// Dictionary returns the first good copy of a dictionary.
func (t *Txn) Dictionary(id uint32) (d *record.Dictionary, err error) {
	err = record.MissingDictionary(id)
	for n := range byte(record.DictionaryCopies) {
		key := record.AppendDictionaryKey(nil, id, n)
		_, gerr := t.Get(key, func(b []byte) error {
			d, err = record.UnpackDictionary(id, key, b)
			return nil
		})
		if d != nil || gerr != nil {
			return d, gerr
		}
	}
	return nil, err
}

// Iterator goes through the entries under a prefix in the order of their keys.
type Iterator struct{ it *badger.Iterator }

// Iterate returns an iterator over the entries under prefix that are newer than the version
// since. It has to be closed, and begins with a Seek or Rewind. Values are read one by one:
// Badger would fetch them in goroutines of its own, in which a panic over damaged bytes ends
// the process.
func (t *Txn) Iterate(prefix []byte, since uint64) Iterator {
	return Iterator{t.txn.NewIterator(badger.IteratorOptions{Prefix: prefix, SinceTs: since})}
}

// Rewind goes to the first entry.
func (i Iterator) Rewind() { i.it.Rewind() }

// Seek goes to the first entry whose key is not less than key.
func (i Iterator) Seek(key []byte) { i.it.Seek(key) }

// Next goes to the next entry.
func (i Iterator) Next() { i.it.Next() }

// Valid reports whether there is a present entry.
func (i Iterator) Valid() bool { return i.it.Valid() }

// ValidFor reports whether there is a present entry, and its key begins with prefix.
func (i Iterator) ValidFor(prefix []byte) bool { return i.it.ValidForPrefix(prefix) }

// Key returns the key of the present entry, valid until the next move.
func (i Iterator) Key() []byte { return i.it.Item().Key() }

// Version returns the version of the present entry.
func (i Iterator) Version() uint64 { return i.it.Item().Version() }

// Value calls f with the value of the present entry. f must not keep it.
func (i Iterator) Value(f func([]byte) error) error { return i.it.Item().Value(f) }

// Close ends the iteration.
func (i Iterator) Close() { i.it.Close() }

// Pages returns the pages that there are keys of a kind for, sorted.
func (t *Txn) Pages(kind byte) (pages []string) {
	it := t.Iterate([]byte{kind}, 0)
	defer it.Close()
	for it.Rewind(); it.Valid(); {
		page, _, err := record.PageOfKey(it.Key())
		if err != nil {
			it.Next()
			continue
		}
		pages = append(pages, page)
		it.Seek(record.AfterPage(kind, page))
	}
	return pages
}

// AllPages returns the pages that there is something of, sorted.
func (t *Txn) AllPages() []string {
	pages := slices.Concat(t.Pages(record.KindTrace), t.Pages(record.KindOutcome), t.Pages(record.KindVitals))
	slices.Sort(pages)
	return slices.Compact(pages)
}

// EachCount calls f for each entry of the catalogue. A damaged entry is an
// error, because nothing says what it counted.
func (t *Txn) EachCount(f func(page string, tag store.Tag, c record.Count)) error {
	it := t.Iterate([]byte{record.KindCatalog}, 0)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Key()
		page, tag, err := record.ParseCatalogKey(key)
		if err != nil {
			return fmt.Errorf("%w catalogue: %w", store.ErrDamaged, err)
		}
		err = it.Value(func(b []byte) error {
			c, err := record.ParseCount(key, b)
			if err == nil {
				f(page, tag, c)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// DictionaryIDs returns the ids of the dictionaries of the partition, newest first.
func (t *Txn) DictionaryIDs() []uint32 {
	it := t.Iterate([]byte{record.KindDictionary}, 0)
	defer it.Close()
	version := make(map[uint32]uint64)
	for it.Rewind(); it.Valid(); it.Next() {
		if id, ok := record.ParseDictionaryKey(it.Key()); ok {
			version[id] = max(version[id], it.Version())
		}
	}
	return slices.SortedFunc(maps.Keys(version), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(version[b], version[a]), cmp.Compare(a, b))
	})
}
