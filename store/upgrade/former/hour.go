package former

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Hour is what was received in an hour: traces in partitions, or rollups where these are gone or can not be read.
type Hour struct {
	Name string // such as 20261121T08

	// These are known once it is open.
	HasTraces   bool   // all that there is of it has its traces
	Traces      uint64 // that were counted; one of two pages counts twice
	First, Last int64  // when something was received, µs since the epoch; 0 if there is nothing

	parts  []*partition // by time
	sums   []summed
	traced []*partition // those of which the traces are read
	rolled []summed     // of the others
	counts catalog      // of these
}

// Adder is what rollups are added to.
type Adder interface {
	AddOutcome(outcome string, views int64)
	AddVital(v *rollup.Vital)
	AddRecord(rec *rollup.Record, stacks *trie.Trie)
}

// Open opens an hour. It returns what of it can not be read.
func (h *Hour) Open() (left []Left, err error) {
	h.counts, h.traced, h.rolled, h.Traces, h.First, h.Last = catalog{}, nil, nil, 0, 0, 0
	traced := map[uint32]bool{}
	for _, p := range h.parts {
		ok, err := p.isOpen()
		if err != nil {
			return nil, err
		}
		if !ok {
			left = append(left, Left{p.name, p.fault.Error()})
			continue
		}
		traced[uint32(p.start.Unix()/60)] = true
		h.traced = append(h.traced, p)
		h.see(p.Entries, p.First, p.contents.Last)
	}
	for _, s := range h.sums {
		if traced[s.start] {
			continue
		}
		h.rolled = append(h.rolled, s)
		h.see(s.traces, s.first, s.last)
		err := h.counts.read(s)
		if err != nil && !isDamage(err) {
			return left, err
		}
		if err != nil {
			left = append(left, Left{h.Name, fmt.Sprintf("%s: %v", s.file.name, err)})
		}
	}
	h.HasTraces = len(h.traced) > 0 && len(h.rolled) == 0
	return left, nil
}

// see adds traces that were received in some time.
func (h *Hour) see(traces uint64, first, last int64) {
	h.Traces += traces
	if h.First == 0 || first < h.First {
		h.First = first
	}
	h.Last = max(h.Last, last)
}

// Close gives up what Open has opened.
func (h *Hour) Close() (err error) {
	for _, p := range h.parts {
		err = errors.Join(err, p.close())
	}
	h.counts = nil
	return err
}

// Pages returns the pages that there may be something of, sorted.
func (h *Hour) Pages() ([]string, error) {
	pages := map[string]bool{}
	for _, p := range h.traced {
		for _, kind := range []byte{kindTrace, kindOutcome, kindVitals} {
			if err := p.pages(kind, pages); err != nil {
				return slices.Sorted(maps.Keys(pages)), fmt.Errorf("pages of %s: %w", p.name, err)
			}
		}
	}
	for _, s := range h.rolled {
		for _, r := range s.file.runs {
			pages[r.page] = true
		}
	}
	return slices.Sorted(maps.Keys(pages)), nil
}

// Counts returns how many traces of a page carry which tag; the zero tag is all traces. Errors that wrap [store.ErrDamaged] come with what
// can be read.
func (h *Hour) Counts(page string) (map[store.Tag]Count, error) {
	out := maps.Clone(h.counts[page])
	if out == nil {
		out = map[store.Tag]Count{}
	}
	var damage error
	for _, p := range h.traced {
		prefix := pageKey(kindCatalog, page)
		err := p.each(prefix, func(key, b []byte) {
			t, err := parseTag(key[len(prefix):])
			c, cerr := parseCount(key, b)
			if err != nil || cerr != nil {
				damage = fmt.Errorf("%w: a count of %q in %s", store.ErrDamaged, page, p.name)
			} else if c.Traces > 0 {
				out[t] = out[t].plus(c)
			}
		})
		if err != nil && !isDamage(err) {
			return nil, fmt.Errorf("read the catalogue of %s: %w", p.name, err)
		}
		damage = errors.Join(damage, err)
	}
	return out, damage
}

// AddTo adds what there is of a page beside traces that [Hour.EachTrace] reads: page views without a trace, and Web Vitals; or all rollups.
// Errors that wrap [store.ErrDamaged] are about a part of it, and the rest is added.
func (h *Hour) AddTo(page string, to Adder) (damage error) {
	for _, p := range h.traced {
		err := p.addUntraced(page, to)
		if err != nil && !isDamage(err) {
			return fmt.Errorf("read partition %s: %w", p.name, err)
		}
		damage = errors.Join(damage, err)
	}
	for _, s := range h.rolled {
		err := s.file.addTo(page, s.start, to)
		if err != nil && !isDamage(err) {
			return fmt.Errorf("read %s: %w", s.file.name, err)
		}
		if err != nil {
			damage = errors.Join(damage, fmt.Errorf("sums of %q in %s: %w", page, s.file.name, err))
		}
	}
	return damage
}

// addUntraced adds page views without a trace, and Web Vitals.
func (p *partition) addUntraced(page string, to Adder) (damage error) {
	damaged := func(what string) {
		damage = errors.Join(damage, fmt.Errorf("%w: %s of %q in %s", store.ErrDamaged, what, page, p.name))
	}
	prefix := pageKey(kindOutcome, page)
	err := p.each(prefix, func(key, b []byte) {
		if c, err := parseCount(key, b); err != nil {
			damaged("page views without a trace")
		} else {
			to.AddOutcome(string(key[len(prefix):]), int64(c.Traces))
		}
	})
	verr := p.each(pageKey(kindVitals, page), func(key, b []byte) {
		vitals, err := parseVitals(key, b)
		if err != nil {
			damaged("web vitals")
		}
		for i := range vitals {
			to.AddVital(&vitals[i])
		}
	})
	return errors.Join(damage, err, verr)
}

// parseVitals reads the Web Vitals of page views with a set of labels. An error wraps [store.ErrDamaged].
func parseVitals(key, b []byte) ([]rollup.Vital, error) {
	if len(b) < 4 || !sumOK(key, b) {
		return nil, fmt.Errorf("%w web vitals", store.ErrDamaged)
	}
	out, err := rollup.DecodeVitals(b[4:])
	if err != nil {
		return nil, fmt.Errorf("%w web vitals: %w", store.ErrDamaged, err)
	}
	return out, nil
}
