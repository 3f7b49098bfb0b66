package store

import (
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2"

	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/trie"
)

// recordCache keeps rollups that were read, and stack tables, since dashboards ask for the
// same hours again and again: taking the bytes apart costs more than adding up what is in
// them. Both are values that nobody changes.
type recordCache struct {
	of *ristretto.Cache[string, cachedRecord]
}

// cachedRecord is a record or a stack table.
type cachedRecord struct {
	rec    *rollup.Record // nil if there is none
	size   int            // of it as stored, in bytes
	stacks *trie.Trie
}

// maxCached bounds a recordCache, in bytes of what is stored; in memory it is some times
// that.
const maxCached = 24 << 20

func newRecordCache() (*recordCache, error) {
	of, err := ristretto.NewCache(&ristretto.Config[string, cachedRecord]{NumCounters: 1 << 16, MaxCost: maxCached, BufferItems: 64})
	if err != nil {
		return nil, fmt.Errorf("make cache: %w", err)
	}
	return &recordCache{of}, nil
}

// keyOf returns the key of what a partition holds under key, as long as nothing is written
// to the partition.
func (c *recordCache) keyOf(p *partition, txn *badger.Txn, key []byte) string {
	k := append([]byte(p.path), 0)
	k = binary.BigEndian.AppendUint64(k, txn.ReadTs())
	return string(append(k, key...))
}

// stacks returns the stack table of a page in a partition of rollups.
func (r *Reader) cachedStacks(p *partition, txn *badger.Txn, page string) (*trie.Trie, error) {
	key := r.records.keyOf(p, txn, appendPageKey(nil, kindStacks, page))
	if got, ok := r.records.of.Get(key); ok {
		return got.stacks, nil
	}
	t, err := r.readStacks(txn, page)
	if err != nil {
		return nil, err
	}
	size := t.stored
	r.records.of.Set(key, cachedRecord{stacks: t.Trie}, int64(16*size.Strings+16*size.Frames+8*size.Nodes))
	return t.Trie, nil
}

// cachedRollup is findRollup with a cache. The stack table must be that of cachedStacks.
func (r *Reader) cachedRollup(p *partition, txn *badger.Txn, k rollupKey, stacks *trie.Trie) (*rollup.Record, int, error) {
	key := r.records.keyOf(p, txn, k.append(nil))
	if got, ok := r.records.of.Get(key); ok {
		return got.rec, got.size, nil
	}
	rec, size, err := r.findRollup(txn, k, stacks)
	if err == nil {
		r.records.of.Set(key, cachedRecord{rec: rec, size: size}, int64(size)+64)
	}
	return rec, size, err
}
