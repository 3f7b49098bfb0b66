package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/internal/fresh"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Stats describes the data behind a response.
type Stats struct {
	Days       int    `json:"days,omitempty"`      // read as rollups of days
	Hours      int    `json:"hours,omitempty"`     // read as rollups of partitions
	RolledUp   uint64 `json:"rolled_up,omitempty"` // traces that the rollups stand for
	Partitions int    `json:"partitions"`          // whose traces were read
	Traces     uint64 `json:"traces"`              // read; those merged are in the profile's coverage
	// Profiles is the number of merged profiles from recordings. The profile's coverage counts each
	// as a trace and a page view, although it is neither.
	Profiles uint64 `json:"profiles,omitempty"`
	Bytes    uint64 `json:"bytes"` // stored size of the data that was read
	// Folded is the number of page views whose labels rollups did not keep separately. They are
	// counted under (other), so a response about these labels may lack them.
	Folded int64     `json:"folded_views,omitempty"`
	Age    fresh.Age `json:"-"` // how old it is, see [selection.Selection.Lag]
	// Names is the share of the time with readable names; nil without symbols, or if the query
	// wants the names that browsers reported.
	Names *naming.Coverage `json:"names,omitempty"`
	// Warnings list data that could not be read: damaged values, partitions that cannot be opened,
	// traces lost in a crash. It is empty if everything was read.
	Warnings []string `json:"warnings,omitempty"`
}

// Read describes the data that was read, or returns "" if only traces were read.
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

// add adds the stats of another response to the same query.
func (s *Stats) add(o Stats) {
	s.Days, s.Hours, s.RolledUp = s.Days+o.Days, s.Hours+o.Hours, s.RolledUp+o.RolledUp
	s.Partitions, s.Traces, s.Profiles, s.Bytes = s.Partitions+o.Partitions, s.Traces+o.Traces, s.Profiles+o.Profiles,
		s.Bytes+o.Bytes
	s.Folded += o.Folded
	s.Age = s.Age.With(o.Age)
	for _, w := range o.Warnings {
		if len(s.Warnings) < maxWarnings && !slices.Contains(s.Warnings, w) {
			s.Warnings = append(s.Warnings, w)
		}
	}
}

// reading is the common part of all ways to read a store for a Selection.
type reading struct {
	sel     selection.Selection
	decoder encode.BinaryDecoder
	read    uint64
	folded  int64 // page views with too many values of the labels in the query
	bad     int
	badErr  error
}

// decode returns the trace of a record, or nil if it cannot be decoded. It is valid until the next
// call.
func (r *reading) decode(rec store.Record) *trie.Trace {
	if rec.Trace != nil {
		return rec.Trace
	}
	doc, err := r.decoder.Decode(rec.Payload, encode.FileLimits())
	if err != nil || doc.Trace == nil {
		r.bad++
		r.badErr = fmt.Errorf("trace %s: %w", rec.ID, cmp.Or(err, errors.New("it is a profile")))
		return nil
	}
	return doc.Trace
}

// countFolded counts the page views of a rollup that may be missing in the response.
func (r *reading) countFolded(rec *rollup.Record) { r.folded += rec.Folded(r.sel.LabelKeys()) }

func (r *reading) stats(s store.ScanStats) Stats {
	w := warnings(s)
	if r.bad > 0 {
		w = append(w, fmt.Sprintf("%d stored traces cannot be decoded, the last: %v", r.bad, r.badErr))
	}
	if r.folded > 0 {
		w = append(w, fmt.Sprintf(
			"%d page views had more labels than rollups keep separately, and are counted under (other)", r.folded))
	}
	return Stats{Folded: r.folded, Partitions: s.Partitions, Days: s.Days, Hours: s.Hours, RolledUp: s.RolledUp,
		Traces: s.Traces, Bytes: s.Bytes, Age: fresh.Age{Behind: s.Behind}, Warnings: w}
}

// recording reads a store as records: rollups as they are, and traces outside of rollups as new
// records, one per page and partition.
type recording struct {
	reading
	step time.Duration // if above 0, records of traces are also split by time of receipt
	flat bool          // records of traces have no stacks and functions
	// split returns the group of a trace; a record has traces of one group. Nil is one group.
	split func(*trie.Trace) string
	take  func(at time.Time, r store.Rolled) error

	key      string // partition and page of the traces
	view     string // page view
	builders map[recordKey]*building
}

// recordKey identifies the record of a trace within a page and partition.
type recordKey struct {
	at    time.Time // start of the step, zero without steps
	split string
}

// building is a record that is being built from traces.
type building struct {
	*rollup.Builder
	page  string
	first time.Time // receive time of the first trace
	begun bool      // has the current page view
}

// eachRecord calls take for all records in the time range and of the pages of sel. It ignores the
// other conditions of sel. Labels that rollups do not keep are lost.
func (l Local) eachRecord(ctx context.Context, sel selection.Selection, want store.Wanted,
	take func(store.Rolled) error) (Stats, error) {
	r := &recording{reading: reading{sel: sel}, take: func(_ time.Time, x store.Rolled) error { return take(x) }}
	return l.readRecords(ctx, want, r)
}

func (l Local) readRecords(ctx context.Context, want store.Wanted, r *recording) (Stats, error) {
	r.builders = map[recordKey]*building{}
	if err := selection.CheckTimes(r.sel.Since, r.sel.Until); err != nil {
		return Stats{}, err
	}
	stats, err := l.selectFrom(ctx, r.sel, want, r.trace, func(x store.Rolled) error {
		r.countFolded(x.Record)
		if err := l.Memory.Check(); err != nil {
			return err
		}
		// Yield to requests with traces: otherwise each of their steps waits for a time slice of 10
		// ms.
		runtime.Gosched()
		return r.take(time.Time{}, x)
	})
	if err == nil {
		err = r.flush()
	}
	if err != nil {
		return Stats{}, err
	}
	return r.stats(stats), nil
}

// fewTraces reports whether the traces in the time range and of the pages of sel still exist and
// are at most most traces, so that they can be read one by one.
func (l Local) fewTraces(ctx context.Context, sel selection.Selection, most uint64) (bool, error) {
	if !l.Reader.HasTraces(sel.Since, sel.Until) {
		return false, nil
	}
	catalog, err := l.recentCatalog(ctx, sel)
	if err != nil {
		return false, err
	}
	traces := uint64(0)
	for _, e := range catalog.Pages() {
		if sel.TakesPage(e.Page) {
			traces += e.Traces
		}
	}
	return traces <= most, nil
}

// recentCatalog returns the catalogue of the time range of sel.
func (l Local) recentCatalog(ctx context.Context, sel selection.Selection) (Catalog, error) {
	sel, _ = recently(sel)
	catalog, _, err := cached(ctx, l, fmt.Sprint("catalog ", sel.Since, sel.Until), sel.Lag,
		func(ctx context.Context) (Catalog, error) { return l.Catalog(ctx, sel.Since, sel.Until, sel.Lag) })
	return catalog, err
}

// selectFrom reads the data selected by sel from the store.
func (l Local) selectFrom(ctx context.Context, sel selection.Selection, want store.Wanted,
	trace func(store.Record) error, rolled func(store.Rolled) error) (store.ScanStats, error) {
	want.Lag = sel.Lag
	return l.Reader.Select(ctx, sel.Query(), want, trace, rolled)
}

// trace adds a trace that is not in a rollup.
func (r *recording) trace(rec store.Record) error {
	if key := rec.Partition + "\x00" + rec.Page; key != r.key {
		if err := r.flush(); err != nil {
			return err
		}
		r.key, r.view = key, ""
	}
	if view := string(rec.ID.View[:]); view != r.view {
		r.endView()
		r.view = view
	}
	t := r.decode(rec)
	if t == nil {
		return nil
	}
	var key recordKey
	if r.step > 0 {
		key.at = rec.Received.Truncate(r.step)
	}
	if r.split != nil {
		key.split = r.split(t)
	}
	b := r.builders[key]
	if b == nil {
		b = &building{Builder: r.builder(rec.Page), page: rec.Page, first: rec.Received}
		r.builders[key] = b
	}
	if !b.begun {
		b.Begin(1)
		b.begun = true
	}
	b.Add(t)
	return nil
}

func (r *recording) builder(page string) *rollup.Builder {
	if r.flat {
		return rollup.NewFlatBuilder(page, rollup.Limits{})
	}
	return rollup.NewWholeBuilder(page, rollup.Limits{})
}

func (r *recording) endView() {
	for _, b := range r.builders {
		if b.begun {
			b.End()
			b.begun = false
		}
	}
}

// flush calls take for the records of one page in one partition.
func (r *recording) flush() error {
	r.endView()
	defer clear(r.builders)
	for key, b := range r.builders {
		rec, err := b.Record()
		if err == nil {
			r.countFolded(rec)
			err = r.take(key.at, store.Rolled{Page: b.page, Stacks: b.Stacks(), Record: rec, First: b.first})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxWarnings is the maximum number of listed warnings. They must fit into a header.
const maxWarnings = 50

// warnings describes the data that a scan could not read.
func warnings(s store.ScanStats) []string {
	var w []string
	if s.Damaged > 0 {
		w = append(w, fmt.Sprintf("%d stored traces are damaged and skipped", s.Damaged))
	}
	if s.Lost > 0 {
		w = append(w, fmt.Sprintf("%d acknowledged traces were lost in a crash", s.Lost))
	}
	for _, u := range s.Unreadable {
		w = append(w, fmt.Sprintf("partition %s cannot be read: %v", u.Partition, u.Err))
	}
	for _, x := range s.Widened {
		w = append(w, fmt.Sprintf("%s to %s is included completely: its traces have expired, and rollups cannot be cut",
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
		w = append(w[:maxWarnings], fmt.Sprintf("and %d more incomplete partitions", more))
	}
	return w
}
