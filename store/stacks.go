package store

import (
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/trie"
)

// stackTable is the stack table of one page in one partition. It only grows; each piece
// that is stored has what came to it since the one before.
type stackTable struct {
	*trie.Trie
	stored rollup.Size // how much of it is stored
	pieces uint32
}

// readStacks returns the stack table of page.
func (r *Reader) readStacks(txn *badger.Txn, page string) (*stackTable, error) {
	t := &stackTable{Trie: trie.New()}
	for {
		value, err := r.pack.unpack(txn, appendStacksKey(nil, page, t.pieces))
		if err == nil && value == nil {
			break
		}
		if err == nil {
			err = rollup.DecodeStacks(t.Trie, value)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: stack table of %q: %w", ErrDamaged, page, err)
		}
		t.pieces++
	}
	t.stored = rollup.SizeOf(t.Trie)
	return t, nil
}

// grown returns what stores what t has got since it was stored.
func (t *stackTable) grown(pack *packer, page string) ([]pair, error) {
	now := rollup.SizeOf(t.Trie)
	if now == t.stored {
		return nil, nil
	}
	out, err := pack.pack(appendStacksKey(nil, page, t.pieces), rollup.EncodeStacks(t.Trie, t.stored))
	t.stored = now
	t.pieces++
	return out, err
}

// mark says how far the traces of a page are rolled up.
type mark struct {
	version uint64 // Badger's, of the newest trace in the rollups
	next    uint32 // number of the next rollup of the page
}

const markSize = 4 + 8 + 4

func (m mark) pair(page string) pair {
	key := appendMarkKey(nil, page)
	v := binary.BigEndian.AppendUint64(make([]byte, 4, markSize), m.version)
	return pair{key, sumInto(binary.BigEndian.AppendUint32(v, m.next), 0, key)}
}

// readMark returns the mark of page, zero if there is none.
func readMark(txn *badger.Txn, page string) (m mark, err error) {
	key := appendMarkKey(nil, page)
	err = getValue(txn, key, func(b []byte) error {
		if len(b) != markSize || !sumOK(key, b) {
			return fmt.Errorf("%w mark of %q", ErrDamaged, page)
		}
		m = mark{binary.BigEndian.Uint64(b[4:]), binary.BigEndian.Uint32(b[12:])}
		return nil
	})
	return m, err
}

// rollupKeys returns the keys of the rollups of page that m says are there, and how many
// parts each has. What else there is was being written when something ended it.
func rollupKeys(txn *badger.Txn, page string, m mark) (keys []rollupKey, parts []int) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: appendPageKey(nil, kindRollup, page)})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		k, _, err := parseRollupKey(it.Item().Key())
		if err != nil || k.start >= m.next {
			continue
		}
		if n := len(keys); n == 0 || keys[n-1] != k {
			keys, parts = append(keys, k), append(parts, 0)
		}
		parts[len(parts)-1]++
	}
	return keys, parts
}

// readRollup returns the rollup under k, of which there must be one.
func (r *Reader) readRollup(txn *badger.Txn, k rollupKey, stacks *trie.Trie) (*rollup.Record, error) {
	rec, _, err := r.findRollup(txn, k, stacks)
	if err == nil && rec == nil {
		err = fmt.Errorf("%w: rollup %d of %q is missing", ErrDamaged, k.start, k.page)
	}
	return rec, err
}

// findRollup returns the rollup under k, nil if there is none, and its size in bytes.
func (r *Reader) findRollup(txn *badger.Txn, k rollupKey, stacks *trie.Trie) (*rollup.Record, int, error) {
	value, err := r.pack.unpack(txn, k.append(nil))
	if err != nil || value == nil {
		return nil, 0, err
	}
	rec, err := rollup.Decode(value, stacks)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return rec, len(value), nil
}

// pagesOf returns the pages that there are keys of a kind for, sorted.
func pagesOf(txn *badger.Txn, kind byte) (pages []string) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}})
	defer it.Close()
	for it.Rewind(); it.Valid(); {
		page, _, err := pageOfKey(it.Item().Key())
		if err != nil {
			it.Next()
			continue
		}
		pages = append(pages, page)
		it.Seek(afterPage(kind, page))
	}
	return pages
}
