package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/store/part"
	"github.com/fieldtrie/fieldtrie/store/record"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// CountVitals counts the Web Vitals of page views of page, each with labels that have a value in
// rollups. They are stored when page views without a trace are, see [Store.CountViews].
func (s *Store) CountVitals(page string, vitals []rollup.Vital) {
	if record.CheckPage(page) != "" || len(vitals) == 0 {
		return
	}
	o := &s.outcomes
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin(s.opts.Now())
	for i := range vitals {
		key := vitalsOf{page, labelSet(vitals[i].Labels)}
		if _, known := o.vitals[key]; known || len(o.vitals) < maxVitalSets {
			o.vitals[key] = rollup.AddVital(o.vitals[key], &vitals[i])
		} else {
			o.dropped += uint64(vitals[i].Views)
		}
	}
}

// vitalsOf names the Web Vitals of the page views of a page with one set of labels.
type vitalsOf struct {
	page string
	set  record.LabelSet
}

// labelSet names labels, which are sorted.
func labelSet(labels trie.Labels) (set record.LabelSet) {
	h := sha256.New()
	for _, l := range labels {
		_, _ = fmt.Fprintf(h, "%d:%s%d:%s", len(l.Key), l.Key, len(l.Value), l.Value) // a hash takes everything
	}
	copy(set[:], h.Sum(nil))
	return set
}

// maxVitalSets bounds what may wait: some kilobytes each at most.
const maxVitalSets = 1 << 13

// maxVitalsTxn keeps a transaction within the smallest memtable.
const maxVitalsTxn = 100

// countVitals adds to what is stored of a page and a set of labels. What is damaged of that is
// begun anew.
func countVitals(b *part.Batch, of vitalsOf, vitals []rollup.Vital) error {
	key := record.AppendVitalsKey(nil, of.page, of.set)
	var sum []rollup.Vital
	_, err := b.Txn().Get(key, func(value []byte) error {
		encoded, err := record.ParseVitals(key, value)
		if err != nil {
			return err
		}
		sum, err = rollup.DecodeVitals(encoded)
		return err
	})
	if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, rollup.ErrMalformed) {
		return err
	}
	for i := range vitals {
		sum = rollup.AddVital(sum, &vitals[i])
	}
	return b.Set(key, record.AppendVitals(nil, key, rollup.EncodeVitals(sum)))
}

// writeVitals stores vitals, and removes from them what it has stored. It runs in the committer.
func (s *Store) writeVitals(w *part.Writer, vitals map[vitalsOf][]rollup.Vital, now time.Time) error {
	for len(vitals) > 0 {
		var in []vitalsOf
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
