package store

import (
	"context"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/trie"
)

// levels returns which of the rollups of a time a query reads.
func (s *selection) levels() []rollup.Level {
	if s.want.Details {
		return []rollup.Level{s.want.Level, rollup.Details}
	}
	return []rollup.Level{s.want.Level}
}

// readRolled reads rollups of one partition, page by page, since these share a table.
func (s *selection) readRolled(ctx context.Context, p *partition, parts []part) error {
	pages := []string{s.q.Page}
	c := &cursor{p: p}
	s.attempt(c, func(_ *cursor, db *badger.DB) error {
		return view(db, func(txn *badger.Txn) error {
			if s.q.Page == "" {
				pages = pagesOf(txn, kindRollup)
			}
			return nil
		})
	})
	if c.done { // it can not be opened
		for _, x := range parts {
			if err := s.readSources(ctx, s.q.Page, x); err != nil {
				return err
			}
		}
		return nil
	}
	for _, page := range pages {
		if !s.q.takes(page) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.readRolledPage(ctx, p, page, parts); err != nil {
			return err
		}
	}
	s.countParts(parts)
	return nil
}

// readRolledPage hands over the rollups of one page, each as soon as it is read. Where they
// are damaged, what they were made of is read, if it is still there.
func (s *selection) readRolledPage(ctx context.Context, p *partition, page string, parts []part) error {
	var stacks *trie.Trie
	err := s.r.look(p, func(txn *badger.Txn) (err error) {
		stacks, err = s.r.cachedStacks(p, txn, page)
		return err
	})
	if err != nil {
		s.bad(p.name, appendPageKey(nil, kindStacks, page), err)
	}
	for _, x := range parts {
		var got []Rolled
		if err == nil {
			lookErr := s.r.look(p, func(txn *badger.Txn) (err error) {
				got, err = s.rollupsOf(txn, page, &x, stacks)
				return err
			})
			if lookErr != nil {
				s.bad(p.name, rollupKey{page: page, start: x.start}.append(nil), lookErr)
			}
		}
		found := uint64(0)
		for _, y := range got {
			_, n := y.Record.Views()
			found += uint64(n) // details have none
			if err := s.rolled(y); err != nil {
				return err
			}
		}
		s.stats.RolledUp += found
		switch {
		case len(got) == 0 && (x.expected > 0 || err != nil):
			if err := s.readSources(ctx, page, x); err != nil {
				return err
			}
		case s.q.Page != "" && found < x.expected:
			s.stats.Gaps = append(s.stats.Gaps, Gap{x.name(), page, x.expected, found})
		}
	}
	return nil
}

// name names the time of a rollup in a partition.
func (x *part) name() string {
	return x.p.name + " " + timeOfMinutes(x.start).Format("2006-01-02T15:04")
}

// rollupsOf reads the rollups of one page and time: all that are asked for, or none if one
// of them is damaged. It sets how many traces there should be.
func (s *selection) rollupsOf(txn *badger.Txn, page string, x *part, stacks *trie.Trie) (out []Rolled, err error) {
	c, err := readCount(txn, appendCountsKey(nil, x.start, page, Tag{}))
	if err != nil {
		c.traces = 1 // it is not known how many
	}
	x.expected = c.traces
	for _, level := range s.levels() {
		rec, size, err := s.r.cachedRollup(x.p, txn, rollupKey{page, x.start, byte(level)}, stacks)
		if err != nil {
			return nil, err
		}
		if rec != nil {
			s.stats.Bytes += uint64(size)
			out = append(out, Rolled{page, stacks, rec})
		}
	}
	return out, nil
}

// readSources reads what the rollup of x was made of, for one page, or all if page is "".
func (s *selection) readSources(ctx context.Context, page string, x part) error {
	from, unpin := s.r.shelf.sourcesOf(x)
	defer unpin()
	if len(from) == 0 {
		s.stats.Gaps = append(s.stats.Gaps, Gap{x.name(), page, max(x.expected, 1), 0})
		return nil
	}
	all := s.q.Page
	s.q.Page, s.page = page, page
	defer func() { s.q.Page = all }()
	var ofTraces []*partition
	for _, y := range from {
		if y.span == traces {
			ofTraces = append(ofTraces, y.p)
			continue
		}
		read := func() error { return s.readRolledPage(ctx, y.p, page, []part{y}) }
		if page == "" {
			read = func() error { return s.readRolled(ctx, y.p, []part{y}) }
		}
		if err := read(); err != nil {
			return err
		}
	}
	return s.readAll(ctx, ofTraces)
}

// sourcesOf pins what a rollup was made of, as far as it is there: the rollups of a day's
// partitions, or the traces.
func (s *shelf) sourcesOf(x part) (from []part, unpin func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pinned []*partition
	add := func(y part) {
		from = append(from, y)
		y.p.pins++
		pinned = append(pinned, y.p)
	}
	there := map[uint32]bool{}
	if x.span == days {
		eachRolled(s.sums, hours, func(p *partition, r rolled) {
			if slices.Contains(x.has.Sources, r.Start) {
				there[r.Start] = true
				add(part{p: p, span: hours, start: r.Start, has: r})
			}
		})
	}
	for _, p := range s.parts {
		start := minutes(p.start)
		if start == x.start && x.span == hours || slices.Contains(x.has.Sources, start) && !there[start] {
			add(part{p: p, span: traces, start: start})
		}
	}
	return from, func() { s.unpin(pinned) }
}

func (s *selection) countParts(parts []part) {
	for _, x := range parts {
		if x.span == days {
			s.stats.Days++
		} else {
			s.stats.Hours++
		}
		if x.widened {
			s.stats.Widened = append(s.stats.Widened, Widened{time.UnixMicro(x.has.First).UTC(), time.UnixMicro(x.has.Last).UTC()})
		}
		if s.q.Page == "" && x.has.Missing > 0 {
			s.stats.Gaps = append(s.stats.Gaps, Gap{x.name(), "", x.has.Traces, x.has.Traces - x.has.Missing})
		}
	}
}
