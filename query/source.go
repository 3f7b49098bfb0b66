package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Source is where answers come from.
type Source interface {
	// Profile merges what sel asks for. progress may be nil; it is called now and
	// then with the number of traces read so far.
	Profile(ctx context.Context, sel Selection, progress func(traces uint64)) (Result, error)
	// Catalog says what is stored, sorted by page, kind and name.
	Catalog(ctx context.Context, since, until time.Time) (Catalog, error)
}

// Result is a merged profile and what was read for it.
type Result struct {
	Profile *trie.Profile
	Stats   Stats
}

// Stats say what an answer rests on.
type Stats struct {
	Partitions int    `json:"partitions"`
	Traces     uint64 `json:"traces"` // read; those merged are in the profile's coverage
	Bytes      uint64 `json:"bytes"`  // stored size of what was read
	// Warnings name what should have been read and could not be: damaged values,
	// partitions that can not be opened, traces lost in a crash. None: all was read.
	Warnings []string `json:"warnings,omitempty"`
}

// Entry says how many traces have a property.
type Entry struct {
	Page   string    `json:"page"`
	Kind   string    `json:"kind"` // "page", "feature", "release", "environment"
	Name   string    `json:"name"` // the feature, release or environment; the page itself for pages
	Traces uint64    `json:"traces"`
	First  time.Time `json:"first"` // receive time
	Last   time.Time `json:"last"`
}

// Catalog is what is stored in some time.
type Catalog struct {
	Entries  []Entry  `json:"entries"`
	Warnings []string `json:"warnings,omitempty"`
}

// Pages returns the pages of c, those with the most traces first.
func (c Catalog) Pages() []Entry {
	var pages []Entry
	for _, e := range c.Entries {
		if e.Kind == "page" {
			pages = append(pages, e)
		}
	}
	slices.SortStableFunc(pages, func(a, b Entry) int {
		switch {
		case a.Traces > b.Traces:
			return -1
		case a.Traces < b.Traces:
			return 1
		}
		return 0
	})
	return pages
}

// Local reads a data directory itself.
type Local struct{ Reader *store.Reader }

// progressEvery is how many traces are read between two calls of progress.
const progressEvery = 256

// Profile implements [Source].
func (l Local) Profile(ctx context.Context, sel Selection, progress func(uint64)) (Result, error) {
	var decoder encode.BinaryDecoder
	m := trie.NewMerger()
	read, bad := uint64(0), 0
	var badErr error
	stats, err := l.Reader.Scan(ctx, store.Query{Page: sel.Page, Since: sel.Since, Until: sel.Until}, func(rec store.Record) error {
		if read++; progress != nil && read%progressEvery == 0 {
			progress(read)
		}
		doc, err := decoder.Decode(rec.Payload, encode.FileLimits())
		if err == nil && doc.Trace == nil {
			err = errors.New("it is a profile")
		}
		if err != nil {
			bad++
			badErr = fmt.Errorf("trace %s: %w", rec.ID, err)
			return nil
		}
		t := doc.Trace
		if !sel.matches(&t.Context) {
			return nil
		}
		m.AddTrace(t, func(s trie.Slice) int {
			if !sel.takes(s) {
				return -1
			}
			return m.Group(sel.labels(s, &t.Context))
		})
		return nil
	})
	if err != nil {
		return Result{}, fmt.Errorf("scan: %w", err)
	}
	out := Result{m.Profile(), Stats{Partitions: stats.Partitions, Traces: read, Bytes: stats.Bytes, Warnings: warnings(stats)}}
	if bad > 0 {
		out.Stats.Warnings = append(out.Stats.Warnings, fmt.Sprintf("%d stored traces can not be decoded, the last: %v", bad, badErr))
	}
	return out, nil
}

// warnings puts what a scan could not read into words.
func warnings(s store.ScanStats) []string {
	var w []string
	if s.Damaged > 0 {
		w = append(w, fmt.Sprintf("%d stored traces are damaged and left out", s.Damaged))
	}
	for _, g := range s.Gaps {
		w = append(w, fmt.Sprintf("partition %s: %d traces of %q are missing", g.Partition, g.Expected-g.Found, g.Page))
	}
	for _, u := range s.Unreadable {
		w = append(w, fmt.Sprintf("partition %s can not be read: %v", u.Partition, u.Err))
	}
	if s.Lost > 0 {
		w = append(w, fmt.Sprintf("%d acknowledged traces were lost in a crash", s.Lost))
	}
	return w
}

// Catalog implements [Source].
func (l Local) Catalog(ctx context.Context, since, until time.Time) (Catalog, error) {
	entries, stats, err := l.Reader.Catalog(ctx, since, until)
	if err != nil {
		return Catalog{}, fmt.Errorf("read catalogue: %w", err)
	}
	out := Catalog{Entries: []Entry{}, Warnings: warnings(stats)}
	for _, e := range entries {
		x := Entry{Page: e.Page, Kind: e.Tag.Key, Name: e.Tag.Value, Traces: e.Traces, First: e.First.UTC(), Last: e.Last.UTC()}
		if e.Tag == (store.Tag{}) {
			x.Kind, x.Name = "page", e.Page
		}
		out.Entries = append(out.Entries, x)
	}
	return out, nil
}
