package metamorphic

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// instance is a trace in a partition. A trace that is repeated late is stored again.
type instance struct {
	*trace
	partition string
	received  time.Time
}

// place identifies an instance.
type place struct {
	id        store.ID
	partition string
}

// call is a call of Append.
type call struct {
	traces        []*trace
	before, after time.Time // times of the store's clock
	stored        int
	acked         bool // otherwise the outcome is unknown
}

// sums are totals by page.
type sums map[string]totals

func (s sums) add(t *trace) {
	for page, more := range t.totals {
		sum := s[page]
		sum.add(more)
		s[page] = sum
	}
}

// moment is what was acknowledged at a real time.
type moment struct {
	at time.Time
	sums
}

// span is a minimum and a maximum.
type span struct{ least, most int64 }

// model determines the correct results of a store.
type model struct {
	clock *clock
	traits

	mu        sync.Mutex
	instances map[place]*instance
	of        map[store.ID][]*instance
	calls     []*call // calls whose partitions are not known yet
	known     map[store.ID]bool
	acked     []moment
	begun     sums
	outcomes  map[outcome]span
}

func newModel(t traits, c *clock) *model {
	m := &model{clock: c, traits: t, instances: map[place]*instance{}, of: map[store.ID][]*instance{},
		known: map[store.ID]bool{}, begun: sums{}, outcomes: map[outcome]span{}}
	m.acked = []moment{{sums: sums{}}}
	return m
}

// begin records the start of a call of Append.
func (m *model) begin(traces []*trace) *call {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &call{traces: traces, before: m.clock.Now()}
	m.calls = append(m.calls, c)
	for _, t := range traces {
		m.begun.add(t)
	}
	return c
}

// ack records the result of a call.
func (m *model) ack(c *call, res store.AppendResult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.acked, c.stored, c.after = true, res.Stored, m.clock.Now()
	now := maps.Clone(m.acked[len(m.acked)-1].sums)
	for _, t := range c.traces {
		if !m.known[t.ID] {
			m.known[t.ID] = true
			now.add(t)
		}
	}
	m.acked = append(m.acked, moment{time.Now(), now})
}

// ackedAt returns what was acknowledged at a time.
func (m *model) ackedAt(at time.Time) sums {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := len(m.acked) - 1
	for i > 0 && m.acked[i].at.After(at) {
		i--
	}
	return m.acked[i].sums
}

// begunBy returns what was begun so far.
func (m *model) begunBy() sums {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.begun)
}

// knownNow returns the traces that were acknowledged so far.
func (m *model) knownNow() []store.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.known))
}

// count records page views without a trace.
func (m *model) count(o outcome, views int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.outcomes[o]
	m.outcomes[o] = span{s.least, s.most + views}
}

// storedOutcomes records that all counts are stored.
func (m *model) storedOutcomes() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for o, s := range m.outcomes {
		m.outcomes[o] = span{s.most, s.most}
	}
}

// forgetOutcomes records that counts that were not seen are lost.
func (m *model) forgetOutcomes() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for o, s := range m.outcomes {
		m.outcomes[o] = span{s.least, s.least}
	}
}

// horizon returns the time since which traces are kept. It does not move back with the clock,
// because deleted traces stay deleted.
func (m *model) horizon() time.Time {
	if m.retention == 0 {
		return time.Time{}
	}
	return m.clock.highest().Add(m.slack - m.retention)
}

// learn finds out in which partition the traces of the last calls are, and checks that each exists
// once. No other operation may be running.
func (m *model) learn(ctx context.Context, r reader) error {
	if len(m.calls) == 0 {
		return nil
	}
	since, stored, sure := m.calls[0].before, 0, true
	pending := map[store.ID][]*call{}
	for _, c := range m.calls {
		if c.before.Before(since) {
			since = c.before
		}
		stored += c.stored
		if !c.acked {
			c.after, sure = m.clock.Now(), false
		}
		for _, t := range c.traces {
			pending[t.ID] = append(pending[t.ID], c)
		}
	}
	found := 0
	stats, err := r.Scan(ctx, store.Query{Since: since.Add(-m.slack)}, func(rec store.Record) error {
		if x := m.instances[place{rec.ID, rec.Partition}]; x != nil {
			return x.check(rec)
		}
		found++
		return m.place(rec, pending[rec.ID])
	})
	if err != nil || !stats.Complete() {
		return fmt.Errorf("scan of recent traces: %+v, %w", stats, err)
	}
	if sure && found > stored { // some duplicates are detected late, and were reported as new
		return fmt.Errorf("new traces in the store: got %d, want %d", found, stored)
	}
	for _, c := range m.calls {
		for _, t := range c.traces {
			if c.acked && len(m.of[t.ID]) == 0 {
				return fmt.Errorf("acknowledged trace %s is missing", t.ID)
			}
		}
	}
	m.calls = nil
	m.settle()
	return nil
}

// place records the partition of a new trace.
func (m *model) place(rec store.Record, calls []*call) error {
	for _, c := range calls {
		if rec.Received.Before(c.before.Add(-m.slack)) || rec.Received.After(c.after.Add(m.slack)) {
			continue
		}
		i := slices.IndexFunc(c.traces, func(t *trace) bool { return t.ID == rec.ID })
		x := &instance{c.traces[i], strings.Clone(rec.Partition), rec.Received}
		for _, other := range m.of[rec.ID] {
			// a clock may go back
			if m.near(x.partition, other.partition) && x.received.Sub(other.received).Abs() <= time.Hour {
				return fmt.Errorf("trace %s is in partition %s and in %s", rec.ID, other.partition, x.partition)
			}
		}
		m.instances[place{rec.ID, x.partition}] = x
		m.of[rec.ID] = append(m.of[rec.ID], x)
		return x.check(rec)
	}
	return fmt.Errorf("trace %s in partition %s, received at %v, was never sent, or not then", rec.ID, rec.Partition,
		rec.Received)
}

// near reports whether two partitions are adjacent.
func (m *model) near(a, b string) bool { return startOf(a).Sub(startOf(b)).Abs() <= time.Hour }

// startOf parses the name of an hour or day, such as 20261129T15 or 20261129, in UTC.
func startOf(partition string) time.Time {
	layout := "20060102T1504"
	t, err := time.Parse(layout[:len(partition)], partition)
	if err != nil {
		panic(err) // the name of a partition is always valid
	}
	return t
}

// check compares a stored trace with the trace that was sent.
func (x *instance) check(rec store.Record) error {
	pages := slices.Sorted(slices.Values(x.Pages))
	if !bytes.Equal(rec.Payload, x.Payload) || !slices.Equal(rec.Pages, pages) || !rec.Received.Equal(x.received) {
		return fmt.Errorf("trace %s: got %d bytes of %q at %v, want %d of %q at %v",
			rec.ID, len(rec.Payload), rec.Pages, rec.Received, len(x.Payload), pages, x.received)
	}
	return nil
}

// settle updates the sums with the instances.
func (m *model) settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := sums{}
	for _, x := range m.instances {
		all.add(x.trace)
		m.known[x.ID] = true
	}
	before := m.acked[len(m.acked)-1]
	m.acked = []moment{{sums: m.acked[0].sums}, before, {time.Now(), all}}
	m.begun = maps.Clone(all)
}

// in returns the instances that were received in [since, until), sorted by partition and id.
func (m *model) in(since, until time.Time) (out []*instance) {
	for _, x := range m.instances {
		if !x.received.Before(since) && (until.IsZero() || x.received.Before(until)) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b *instance) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), bytes.Compare(a.ID.View[:], b.ID.View[:]),
			cmp.Compare(a.ID.Chunk, b.ID.Chunk))
	})
	return out
}

// on returns the instances with time on page.
func on(page string, list []*instance) (out []*instance) {
	for _, x := range list {
		if slices.Contains(x.Pages, page) {
			out = append(out, x)
		}
	}
	return out
}

// takes reports whether q includes page.
func (q question) takes(page string) bool {
	return q.Page == page || q.Page == "" && (q.Pages == nil || q.Pages(page))
}

// want returns the correct result of q, and its number of traces, where a trace counts once for
// each of its pages.
func (m *model) want(q question) (of map[string]*trie.Profile, traces uint64) {
	of = map[string]*trie.Profile{}
	all := m.in(q.Since, q.Until)
	for _, page := range pages {
		if !q.takes(page) {
			continue
		}
		if list := on(page, all); len(list) > 0 {
			of[page] = merged(page, q.keys, slices.Values(list))
			traces += uint64(len(list))
		}
	}
	return of, traces
}
