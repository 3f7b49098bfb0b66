package head

import (
	"encoding/binary"
	"fmt"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// rows are what a partition has of a page besides its traces: the stack table, as far as it
// is stored, and the rollups.
type rows struct {
	table  *trie.Trie
	stored rollup.Size // how much of table is stored
	pieces uint32      // number of the piece to write next
	mark   mark
	keys   []record.RollupKey // of the rollups
	parts  []int              // of each
}

// levels are the rollups that a partition of traces has of a page: all that is known.
func levels() []rollup.Level { return []rollup.Level{rollup.Wide, rollup.Details} }

// readRows returns the rows of page.
func (o *Options) readRows(txn *part.Txn, page string) (r rows, err error) {
	r.table = trie.New()
	if r.mark, err = readMark(txn, page); err != nil {
		return r, err
	}
	for r.pieces = r.mark.first; ; {
		value, err := o.Packer.Unpack(record.AppendStacksKey(nil, page, r.pieces), txn.Get)
		if err == nil && value == nil {
			break
		}
		if err == nil {
			err = rollup.DecodeStacks(r.table, value)
		}
		if err != nil {
			return r, fmt.Errorf("%w: stack table of %q: %w", store.ErrDamaged, page, err)
		}
		r.pieces++
	}
	r.stored = rollup.SizeOf(r.table)
	r.readKeys(txn, page)
	return r, nil
}

// readKeys finds the rollups that the mark says are there. What else there is was being
// written when something ended it.
func (r *rows) readKeys(txn *part.Txn, page string) {
	it := txn.Iterate(record.AppendPageKey(nil, record.KindRollup, page), 0)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		k, _, err := record.ParseRollupKey(it.Key())
		if err != nil || k.Start >= r.mark.next {
			continue
		}
		if n := len(r.keys); n == 0 || r.keys[n-1] != k {
			r.keys, r.parts = append(r.keys, k), append(r.parts, 0)
		}
		r.parts[len(r.parts)-1]++
	}
}

// eachRollup calls f with the rollups.
func (o *Options) eachRollup(txn *part.Txn, r *rows, f func(*rollup.Record)) error {
	for _, k := range r.keys {
		value, err := o.Packer.Unpack(k.Append(nil), txn.Get)
		if err == nil && value == nil {
			err = fmt.Errorf("%w: rollup %d of %q is missing", store.ErrDamaged, k.Start, k.Page)
		}
		if err != nil {
			return err
		}
		rec, err := rollup.Decode(value, r.table)
		if err != nil {
			return fmt.Errorf("%w: rollup %d of %q: %w", store.ErrDamaged, k.Start, k.Page, err)
		}
		f(rec)
	}
	return nil
}

// mark says how far the traces of a page are rolled up.
type mark struct {
	version uint64 // Badger's, of the newest trace in the rollups
	next    uint32 // number of the next rollup of the page
	first   uint32 // number of the first piece of the stack table
}

// Sizes of a mark. A stack table that was not renewed begins with piece 0, which is not written.
const (
	markSize        = 4 + 8 + 4
	renewedMarkSize = markSize + 4
)

func (m mark) pair(page string) record.Pair {
	key := record.AppendMarkKey(nil, page)
	v := binary.BigEndian.AppendUint64(make([]byte, 4, renewedMarkSize), m.version)
	v = binary.BigEndian.AppendUint32(v, m.next)
	if m.first > 0 {
		v = binary.BigEndian.AppendUint32(v, m.first)
	}
	return record.Pair{Key: key, Value: record.SumInto(v, 0, key)}
}

// readMark returns the mark of page, zero if there is none.
func readMark(txn *part.Txn, page string) (m mark, err error) {
	key := record.AppendMarkKey(nil, page)
	_, err = txn.Get(key, func(b []byte) error {
		if len(b) != markSize && len(b) != renewedMarkSize || !record.SumOK(key, b) {
			return fmt.Errorf("%w mark of %q", store.ErrDamaged, page)
		}
		m = mark{version: binary.BigEndian.Uint64(b[4:]), next: binary.BigEndian.Uint32(b[12:])}
		if len(b) == renewedMarkSize {
			m.first = binary.BigEndian.Uint32(b[16:])
		}
		return nil
	})
	return m, err
}

// MarkedPages returns the pages that have rollups in a partition.
func MarkedPages(txn *part.Txn) (pages []string) {
	it := txn.Iterate([]byte{record.KindMark}, 0)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		pages = append(pages, string(it.Key()[1:]))
	}
	return pages
}

// addOutcomes adds the page views without a trace, and the Web Vitals, that a partition counts for
// page. What is damaged of them is left out.
func addOutcomes(txn *part.Txn, page string, b *rollup.Builder) error {
	prefix := record.AppendPageKey(nil, record.KindOutcome, page)
	err := eachValue(txn, prefix, func(key, v []byte) {
		if c, err := record.ParseCount(key, v); err == nil {
			b.AddOutcome(string(key[len(prefix):]), int64(c.Traces))
		}
	})
	if err != nil {
		return err
	}
	return addVitals(txn, page, b)
}

// addVitals adds the Web Vitals that page views of page reported to a partition.
func addVitals(txn *part.Txn, page string, b *rollup.Builder) error {
	return eachValue(txn, record.AppendPageKey(nil, record.KindVitals, page), func(key, v []byte) {
		encoded, err := record.ParseVitals(key, v)
		if err != nil {
			return
		}
		vitals, _ := rollup.DecodeVitals(encoded) // none if they are damaged
		for i := range vitals {
			b.AddVital(&vitals[i])
		}
	})
}

// Vitals returns the Web Vitals that page views of page reported to a partition as a record, nil if
// there are none.
func Vitals(txn *part.Txn, page string, lim rollup.Limits) (*rollup.Record, error) {
	b := rollup.NewBuilder(page, trie.New(), lim)
	if err := addVitals(txn, page, b); err != nil || b.Empty() {
		return nil, err
	}
	return b.Record()
}

// Untraced returns the page views without a trace, and the Web Vitals, that a partition counts for page as a
// record, nil if there are none.
func Untraced(txn *part.Txn, page string, lim rollup.Limits) (*rollup.Record, error) {
	b := rollup.NewBuilder(page, trie.New(), lim)
	if err := addOutcomes(txn, page, b); err != nil || b.Empty() {
		return nil, err
	}
	return b.Record()
}

// eachValue calls f with each key that begins with prefix, and its value, which f must not keep.
func eachValue(txn *part.Txn, prefix []byte, f func(key, value []byte)) error {
	it := txn.Iterate(prefix, 0)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Key()
		err := it.Value(func(v []byte) error {
			f(key, v)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
