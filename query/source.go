package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Source is where answers come from.
type Source interface {
	// Profile merges what sel asks for. progress may be nil; it is called now and
	// then with the number of traces read so far.
	Profile(ctx context.Context, sel Selection, progress func(traces uint64)) (Result, error)
	// Report says how the page views that sel asks for differ. Labels that distributions are
	// not kept for are an error.
	Report(ctx context.Context, sel Selection) (Report, error)
	// Catalog says what is stored, sorted by page; for each page the entry for all of
	// it comes first, then the others by kind and name.
	Catalog(ctx context.Context, since, until time.Time) (Catalog, error)
}

// Result is a merged profile and what was read for it.
type Result struct {
	Profile *trie.Profile
	Stats   Stats
}

// Stats say what an answer rests on.
type Stats struct {
	Days       int    `json:"days,omitempty"`      // read as rollups of days
	Hours      int    `json:"hours,omitempty"`     // read as rollups of partitions
	RolledUp   uint64 `json:"rolled_up,omitempty"` // traces that the rollups stand for
	Partitions int    `json:"partitions"`          // of which traces were read, or looked for
	Traces     uint64 `json:"traces"`              // read; those merged are in the profile's coverage
	// Profiles is how many profiles of recordings were merged. The profile's coverage
	// counts each as a trace of a page view, which it is not.
	Profiles uint64 `json:"profiles,omitempty"`
	Bytes    uint64 `json:"bytes"` // stored size of what was read
	// Warnings name what should have been read and could not be: damaged values,
	// partitions that can not be opened, traces lost in a crash. None: all was read.
	Warnings []string `json:"warnings,omitempty"`
}

// Read says in words what was read of a store; "" if that was traces alone.
func (s Stats) Read() string {
	if s.Days == 0 && s.Hours == 0 && s.RolledUp == 0 {
		return ""
	}
	var parts []string
	add := func(n uint64, one, many string) {
		switch n {
		case 0:
		case 1:
			parts = append(parts, one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(uint64(s.Days), "1 day", "days")
	add(uint64(s.Hours), "1 hour", "hours")
	if s.Days == 0 && s.Hours == 0 {
		parts = append(parts, "sums")
	} else if len(parts) > 0 {
		parts[len(parts)-1] += " summed up"
	}
	add(s.Traces, "1 trace", "traces")
	return strings.Join(parts, ", ")
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
	slices.SortStableFunc(pages, func(a, b Entry) int { return cmp.Compare(b.Traces, a.Traces) })
	return pages
}

// Local reads a data directory itself.
type Local struct{ Reader *store.Reader }

// progressEvery is how many traces are read between two calls of progress.
const progressEvery = 256

// Profile implements [Source].
func (l Local) Profile(ctx context.Context, sel Selection, progress func(uint64)) (Result, error) {
	if err := checkTimes(sel.Since, sel.Until); err != nil {
		return Result{}, err
	}
	m := merging{sel: sel, merger: trie.NewMerger(), progress: progress}
	m.sum = rollup.NewSum(m.group)
	stats, err := l.Reader.Select(ctx, sel.query(), sel.wanted(), m.trace, m.rolled)
	if err != nil {
		return Result{}, fmt.Errorf("select: %w", err)
	}
	m.merger.AddProfile(m.sum.Profile())
	return Result{m.merger.Profile(), m.stats(stats)}, nil
}

// merging answers a Selection.
type merging struct {
	sel      Selection
	merger   *trie.Merger // of traces
	sum      *rollup.Sum  // of rollups
	progress func(uint64)

	page    string // of the rollup that is being added
	decoder encode.BinaryDecoder
	last    string // partition and page of the trace before
	read    uint64
	folded  int64 // page views whose labels were too many
	bad     int
	badErr  error
}

func (m *merging) group(cell trie.Labels) (trie.Labels, bool) {
	return m.sel.cellLabels(m.page, cell), m.sel.takesCell(cell)
}

func (m *merging) rolled(r store.Rolled) error {
	m.page = r.Page
	m.folded += r.Record.Folded()
	m.sum.Add(r.Record, r.Stacks)
	return nil
}

func (m *merging) trace(rec store.Record) error {
	if m.read++; m.progress != nil && m.read%progressEvery == 0 {
		m.progress(m.read)
	}
	doc, err := m.decoder.Decode(rec.Payload, encode.FileLimits())
	if err == nil && doc.Trace == nil {
		err = errors.New("it is a profile")
	}
	if err != nil {
		m.bad++
		m.badErr = fmt.Errorf("trace %s: %w", rec.ID, err)
		return nil
	}
	// A page view counts once for each page and partition, as in rollups.
	if key := rec.Partition + "\x00" + rec.Page; key != m.last {
		m.merger.NextView()
		m.last = key
	}
	m.sel.add(m.merger, doc.Trace, rec.Page)
	return nil
}

// stats says what the answer rests on.
func (m *merging) stats(s store.ScanStats) Stats {
	w := warnings(s)
	if m.bad > 0 {
		w = append(w, fmt.Sprintf("%d stored traces can not be decoded, the last: %v", m.bad, m.badErr))
	}
	if m.folded > 0 && (len(m.sel.Labels) > 0 || m.sel.Feature != "" || m.sel.Grouped) {
		w = append(w, fmt.Sprintf("%d page views had more labels than sums keep apart, and are counted under (other)", m.folded))
	}
	return Stats{Partitions: s.Partitions, Days: s.Days, Hours: s.Hours, RolledUp: s.RolledUp,
		Traces: s.Traces, Bytes: s.Bytes, Warnings: w}
}

// maxWarnings is how many things that are missing are named one by one. They travel in
// a header.
const maxWarnings = 50

// warnings puts what a scan could not read into words.
func warnings(s store.ScanStats) []string {
	var w []string
	if s.Damaged > 0 {
		w = append(w, fmt.Sprintf("%d stored traces are damaged and left out", s.Damaged))
	}
	if s.Lost > 0 {
		w = append(w, fmt.Sprintf("%d acknowledged traces were lost in a crash", s.Lost))
	}
	for _, u := range s.Unreadable {
		w = append(w, fmt.Sprintf("partition %s can not be read: %v", u.Partition, u.Err))
	}
	for _, x := range s.Widened {
		w = append(w, fmt.Sprintf("%s to %s is included as a whole: its traces are deleted, and rollups can not be cut",
			x.First.Format(time.RFC3339), x.Last.Format(time.RFC3339)))
	}
	for _, g := range s.Gaps {
		of := ""
		if g.Page != "" {
			of = fmt.Sprintf(" of page %q", g.Page)
		}
		w = append(w, fmt.Sprintf("partition %s: %d traces%s are missing", g.Partition, g.Expected-g.Found, of))
	}
	if more := len(w) - maxWarnings; more > 0 {
		w = append(w[:maxWarnings], fmt.Sprintf("and %d more partitions that are not complete", more))
	}
	return w
}

// Catalog implements [Source].
func (l Local) Catalog(ctx context.Context, since, until time.Time) (Catalog, error) {
	if err := checkTimes(since, until); err != nil {
		return Catalog{}, err
	}
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
