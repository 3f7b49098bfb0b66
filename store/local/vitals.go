package local

import (
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// maxVitalsTxn keeps a transaction within the smallest memtable.
const maxVitalsTxn = 100

// countVitals adds to what is stored of a page and a set of labels. What is damaged of that is
// begun anew.
func countVitals(b *part.Batch, of store.VitalsOf, vitals []rollup.Vital) error {
	key := record.AppendVitalsKey(nil, of.Page, of.Labels)
	var sum []rollup.Vital
	_, err := b.Txn().Get(key, func(value []byte) error {
		encoded, err := record.ParseVitals(key, value)
		if err != nil {
			return err
		}
		sum, err = rollup.DecodeVitals(encoded)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrDamaged) && !errors.Is(err, rollup.ErrMalformed) {
		return err
	}
	for i := range vitals {
		sum = rollup.AddVital(sum, &vitals[i])
	}
	return b.Set(key, record.AppendVitals(nil, key, rollup.EncodeVitals(sum)))
}

// writeVitals stores vitals, and removes from them what it has stored. It runs in the committer.
func (s *Store) writeVitals(w *part.Writer, vitals map[store.VitalsOf][]rollup.Vital, now time.Time) error {
	for len(vitals) > 0 {
		var in []store.VitalsOf
		err := w.Commit(func(b *part.Batch) (bool, error) {
			b.Count.Received = now.UnixMicro()
			for of, v := range vitals {
				if len(in) == maxVitalsTxn {
					break
				}
				if err := countVitals(b, of, v); err != nil {
					return false, err
				}
				in = append(in, of)
			}
			return true, nil
		})
		if err != nil {
			err = fmt.Errorf("store web vitals: %w", err)
			s.fail(err)
			return err
		}
		for _, of := range in {
			delete(vitals, of)
		}
	}
	return nil
}
