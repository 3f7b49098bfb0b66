package local

import (
	"fmt"
	"slices"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// loadVersion is that of all entries of a partition that a [Loader] makes.
const loadVersion = 1

// hourLoader is a [store.HourLoader] that makes a partition.
type hourLoader struct {
	l     *Loader
	path  string
	out   *part.Importer
	count record.Commit
}

// Add implements [store.HourLoader].
func (h *hourLoader) Add(rec *store.Record) error {
	pages := sortedSet(rec.Pages)
	i := slices.Index(pages, rec.Page)
	if why := rec.Check(h.l.opts.MaxPayload); why != "" || i < 0 {
		return &store.RecordError{ID: rec.ID, Reason: why}
	}
	compressed := h.l.codec.Plain().Compress(nil, rec.Payload)
	if len(compressed) > part.MaxValue {
		return &store.RecordError{ID: rec.ID, Reason: fmt.Sprintf("payload of %d bytes, %d compressed, is too large", len(rec.Payload), len(compressed))}
	}
	if i == 0 {
		h.count.Traces++
	}
	h.count.Entries++
	if err := h.out.Set(record.AppendIDKey(nil, rec.ID), nil, loadVersion); err != nil {
		return err
	}
	key := record.AppendTraceKey(nil, rec.Page, rec.ID)
	value := record.PackValue(nil, key, record.Value{Received: rec.Received, Compressed: compressed, Others: slices.Concat(pages[:i], pages[i+1:])})
	return h.out.Set(key, value, loadVersion)
}

// Count implements [store.HourLoader].
func (h *hourLoader) Count(e store.CatalogEntry) error {
	key := record.AppendCatalogKey(nil, e.Page, e.Tag)
	c := record.Count{Traces: e.Traces, First: e.First.UnixMicro(), Last: e.Last.UnixMicro()}
	return h.out.Set(key, record.AppendCount(nil, key, c), loadVersion)
}

// Untraced implements [store.HourLoader].
func (h *hourLoader) Untraced(page string, rec *rollup.Record, first, last int64) error {
	for _, o := range rec.Outcomes {
		if o.Views <= 0 {
			continue
		}
		key := record.AppendOutcomeKey(nil, page, o.Reason)
		c := record.Count{Traces: uint64(o.Views), First: first, Last: last}
		if err := h.out.Set(key, record.AppendCount(nil, key, c), loadVersion); err != nil {
			return err
		}
	}
	sets := map[store.LabelSet][]rollup.Vital{}
	for i := range rec.Vitals {
		set := store.LabelSetOf(rec.Vitals[i].Labels)
		sets[set] = append(sets[set], rec.Vitals[i])
	}
	for set, vitals := range sets {
		key := record.AppendVitalsKey(nil, page, set)
		if err := h.out.Set(key, record.AppendVitals(nil, key, rollup.EncodeVitals(vitals)), loadVersion); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [store.HourLoader].
func (h *hourLoader) Close(name, state string, first, last int64) error {
	h.count.Received = first
	for number, c := range []record.Commit{h.count, {Received: last}} {
		key := record.AppendCommitKey(nil, uint64(number+1))
		if err := h.out.Set(key, record.AppendCommit(nil, key, c), loadVersion); err != nil {
			return err
		}
	}
	if err := h.out.Close(); err != nil {
		return fmt.Errorf("close partition %s: %w", name, err)
	}
	if err := disk.SyncDir(h.l.dir); err != nil {
		return err
	}
	return h.l.note(name, state)
}

// Cancel implements [store.HourLoader].
func (h *hourLoader) Cancel() { h.out.Cancel() }
