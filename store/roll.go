package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/rollup"
)

// fresh is what was committed and is not rolled up yet, as far as the committer knows.
type fresh struct {
	mu     sync.Mutex
	pages  map[string]bool
	traces int
	since  time.Time // when the oldest of it came, zero if there is none
	all    bool      // there may be more: look at all pages

	waiting int // keys of traces that are in no rollup yet; what there was before Open is not known
}

// coming says that so many keys of traces are about to be committed: one who rolls up may
// see them before note is called.
func (f *fresh) coming(keys int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting += keys
}

// note takes down what was committed.
func (f *fresh) note(pages map[string]bool, traces int, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pages == nil {
		f.pages = make(map[string]bool)
	}
	for p := range pages {
		f.pages[p] = true
	}
	f.traces += traces
	if f.since.IsZero() {
		f.since = now
	}
}

// take empties f if it holds enough to be worth the while.
func (f *fresh) take(now time.Time, most int, longest time.Duration) (pages []string, all, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.since.IsZero() || f.traces < most && now.Sub(f.since).Abs() < longest {
		return nil, false, false
	}
	for p := range f.pages {
		pages = append(pages, p)
	}
	slices.Sort(pages)
	all = f.all
	f.pages, f.traces, f.since, f.all = nil, 0, time.Time{}, false
	return pages, all, true
}

// more says that pages have more than was taken: there is no waiting for it.
func (f *fresh) more(pages []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pages == nil {
		f.pages = make(map[string]bool)
	}
	for _, p := range pages {
		f.pages[p] = true
	}
	f.since = time.Unix(1, 0) // long ago
}

// gone says that so many keys of traces went into rollups, or were not committed after all.
// They may be older than what is counted: then the count is too low until it comes to
// nothing once.
func (f *fresh) gone(keys int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = max(0, f.waiting-keys)
}

// unrolled returns how many keys of traces are in no rollup yet.
func (f *fresh) unrolled() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting
}

// everything says that a partition that may have something is being written to from now on.
func (f *fresh) everything(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pages, f.traces, f.since, f.all = nil, 0, now, true
}

// roller rolls up the partition that is written to. It belongs to [Store.Roll].
type roller struct {
	mu    sync.Mutex    // held by Roll
	stint time.Duration // a call of Roll goes on with one thing for so long, then the others get their turn
	p     *partition
	pages map[string]*pageRoll
	nodes int    // of all pages
	upTo  uint64 // Badger's version that p is rolled up to

	notBefore map[uint32]time.Time // days that could not be rolled up
	commits   uint64               // that there had been when it worked last
}

// pageRoll is what the rollups of a page refer to and go on from.
type pageRoll struct {
	stacks *stackTable
	mark   mark
	keys   []rollupKey
	parts  []int // of the rollups under keys
}

// rollFor is the stint of a roller.
const rollFor = time.Second

// maxRollerNodes bounds the memory of a roller. Beyond it, stack tables are read again.
const maxRollerNodes = 2 << 20

// foldAfter is how many rollups of a page are added up to one.
const foldAfter = 8

var errMoved = errors.New("the partition is not written to any more")

// Roll adds what was committed to the rollups, if there is enough of it or it has waited
// for long enough, see [Options]; then it adds up partitions and days that are over. Call
// it every second or so, beside everything else. It does nothing that a crash in the middle
// could spoil, and what it did not come to it does the next time.
func (s *Store) Roll(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	s.roller.mu.Lock()
	defer s.roller.mu.Unlock()
	runtime.LockOSThread() // to know the time it takes
	defer runtime.UnlockOSThread()
	begin := threadCPU()
	defer func() { s.rollCPU.Add(int64(threadCPU() - begin)) }()
	if err := s.Err(); err != nil {
		return err
	}
	return errors.Join(s.storeOutcomes(ctx, s.opts.RollEvery), s.rollFresh(ctx), s.rollClosed(ctx), s.rollDays(ctx))
}

// rollFresh rolls up what the partition that is written to has got.
func (s *Store) rollFresh(ctx context.Context) error {
	for begin := time.Now(); ; {
		pages, all, ok := s.fresh.take(s.opts.Now(), s.opts.RollTraces, s.opts.RollEvery)
		if !ok {
			return nil
		}
		p := s.shelf.written()
		if p == nil {
			return nil // it was closed, and is rolled up with those
		}
		err := s.rollPages(ctx, p, pages, all)
		if errors.Is(err, errMoved) {
			return nil
		}
		if err != nil {
			s.roller.pages, s.roller.upTo = nil, 0 // they may be ahead of what is stored
			s.fresh.everything(s.opts.Now())
			return fmt.Errorf("roll up partition %s: %w", p.name, err)
		}
		if time.Since(begin) >= s.roller.stint {
			return nil
		}
	}
}

func (s *Store) rollPages(ctx context.Context, p *partition, pages []string, all bool) error {
	r := &s.roller
	if r.p != p {
		r.p, r.pages, r.upTo = p, nil, 0
	}
	if r.pages == nil || r.nodes > maxRollerNodes {
		r.pages, r.nodes = make(map[string]*pageRoll), 0
	}
	var snapshot uint64
	behind := false
	err := s.look(p, func(txn *badger.Txn) error {
		snapshot = txn.ReadTs()
		if most := r.upTo + s.commitsOf(p, s.opts.RollTraces); snapshot > most { // memory is for so many at once
			snapshot, behind = most, true
		}
		if all {
			pages = pagesOf(txn, kindTrace)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if behind {
		defer s.fresh.more(pages)
	}
	r.upTo = snapshot
	for _, page := range pages {
		w, err := s.rollPage(ctx, p, page, snapshot)
		if errors.Is(err, ErrDamaged) {
			delete(r.pages, page)
			s.opts.Logger.Warn("page is not rolled up before the partition is over", logPartition, p.name, "page", page, logErr, err)
			continue // then its traces are read anew
		}
		if err == nil {
			err = s.putRolled(ctx, p, w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commitsOf returns how many commits to p have about so many traces.
func (s *Store) commitsOf(p *partition, traces int) uint64 {
	s.shelf.mu.Lock()
	defer s.shelf.mu.Unlock()
	return max(64, uint64(traces)*p.Commits/max(p.Traces, 1))
}

// pageWrite is what is to be written for a page: rows, in any number of transactions, which
// nobody reads before seal is written, in one.
type pageWrite struct{ rows, seal []pair }

// look runs f in a transaction on the partition p.
func (r *Reader) look(p *partition, f func(*badger.Txn) error) error {
	db, release, err := r.shelf.lease(p)
	if err != nil {
		return err
	}
	defer release()
	return view(db, f)
}

// rollPage returns what is to be written for a page: its new rollup, which takes the place
// of the others if there are many.
func (s *Store) rollPage(ctx context.Context, p *partition, page string, snapshot uint64) (w pageWrite, err error) {
	x, err := s.pageRoll(p, page)
	if err != nil {
		return w, err
	}
	before := len(x.stacks.Nodes)
	b := rollup.NewBuilder(page, x.stacks.Trie, s.opts.Rollups)
	t := s.tailOf(p, page, snapshot, x.mark.version)
	if err := t.addTo(ctx, b); err != nil {
		return w, err
	}
	if len(t.stats.Unreadable) > 0 {
		return w, t.stats.Unreadable[0].Err
	}
	s.countRolled(t)
	s.roller.nodes += len(x.stacks.Nodes) - before
	if t.news == 0 {
		return w, nil
	}
	if len(x.keys) >= foldAfter*len(freshLevels()) {
		if w.seal, err = s.fold(p, x, b); err != nil {
			return w, err
		}
	}
	if w.rows, err = x.stacks.grown(s.pack, page); err != nil {
		return w, err
	}
	for _, level := range freshLevels() {
		begin := time.Now()
		key := rollupKey{page, x.mark.next, byte(level)}
		packed, err := s.pack.pack(key.append(nil), b.Encode(level, false))
		if err != nil {
			return w, err
		}
		s.pace(time.Since(begin))
		w.rows = append(w.rows, packed...)
		x.keys, x.parts = append(x.keys, key), append(x.parts, len(packed))
	}
	x.mark = mark{snapshot, x.mark.next + 1}
	w.seal = append(w.seal, x.mark.pair(page))
	return w, nil
}

// tailOf returns what there is to be rolled up of a page.
func (s *Store) tailOf(p *partition, page string, snapshot, since uint64) *tail {
	return &tail{scan: &scan{r: s.Reader, q: Query{EachPage: true}, page: page}, c: pageCursor(p, page, snapshot), since: since, pace: s.pace}
}

// countRolled counts what of t went into a rollup.
func (s *Store) countRolled(t *tail) {
	s.damaged.Add(t.stats.Damaged)
	s.rolledUp.Add(t.news)
	s.fresh.gone(int(t.news))
}

// freshLevels are the rollups that a partition of traces has of a page: all that is known.
func freshLevels() []rollup.Level { return []rollup.Level{rollup.Wide, rollup.Details} }

// pace makes rolling up wait as long as it worked while there are commits, which come first:
// it gets half a processor then. Nobody waits for it.
func (s *Store) pace(worked time.Duration) {
	if n := s.commits.Load(); n != s.roller.commits {
		s.roller.commits = n
		time.Sleep(min(worked, time.Second/10))
	}
}

func pageCursor(p *partition, page string, snapshot uint64) *cursor {
	prefix := appendPagePrefix(nil, page)
	return &cursor{p: p, prefix: prefix, next: prefix, snapshot: snapshot}
}

// fold adds the rollups that there are to b, and returns what deletes them.
func (s *Store) fold(p *partition, x *pageRoll, b *rollup.Builder) (pairs []pair, err error) {
	err = s.look(p, func(txn *badger.Txn) error {
		for i, k := range x.keys {
			rec, err := s.readRollup(txn, k, x.stacks.Trie)
			if err != nil {
				return err
			}
			b.AddRecord(rec, x.stacks.Trie)
			pairs = append(pairs, removed(k.append(nil), x.parts[i])...)
		}
		return nil
	})
	x.keys, x.parts = nil, nil
	return pairs, err
}

func (s *Store) pageRoll(p *partition, page string) (*pageRoll, error) {
	r := &s.roller
	if x := r.pages[page]; x != nil {
		return x, nil
	}
	x := &pageRoll{}
	err := s.look(p, func(txn *badger.Txn) (err error) {
		if x.stacks, err = s.readStacks(txn, page); err != nil {
			return err
		}
		if x.mark, err = readMark(txn, page); err == nil {
			x.keys, x.parts = rollupKeys(txn, page, x.mark)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	r.nodes += len(x.stacks.Nodes)
	r.pages[page] = x
	return x, nil
}

// putRolled has the committer write what belongs to a page, if p is still the partition
// that is written to. Commits go on between the transactions that it takes.
func (s *Store) putRolled(ctx context.Context, p *partition, w pageWrite) error {
	for len(w.rows) > 0 {
		n, cost := 0, int64(0)
		for n < len(w.rows) && (n == 0 || cost+int64(w.rows[n].cost()) < s.opts.maxCost()/2) {
			cost += int64(w.rows[n].cost())
			n++
		}
		if err := s.putPairs(ctx, p, w.rows[:n]); err != nil {
			return err
		}
		w.rows = w.rows[n:]
	}
	if len(w.seal) == 0 {
		return nil
	}
	return s.putPairs(ctx, p, w.seal)
}

func (s *Store) putPairs(ctx context.Context, p *partition, pairs []pair) error {
	result := make(chan error, 1)
	write := func() { result <- s.writeRolled(p, pairs) }
	select {
	case s.ctl <- write:
		return <-result
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writeRolled runs in the committer.
func (s *Store) writeRolled(p *partition, pairs []pair) error {
	if s.writer.p != p {
		return errMoved
	}
	if err := s.checkSpace(); err != nil {
		return err
	}
	err := setAll(s.writer.db, pairs)
	if err != nil {
		err = fmt.Errorf("write rollups to partition %s: %w", p.name, err)
	}
	if errors.Is(err, errCommit) {
		s.fail(err)
	}
	return err
}

// written returns the partition that is written to, nil if none is.
func (s *shelf) written() *partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		if p.writer {
			return p
		}
	}
	return nil
}
