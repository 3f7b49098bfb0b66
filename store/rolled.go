package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// span says what a partition is for.
type span uint8

const (
	traces span = iota // traces of Options.Partition
	hours              // rollups of the partitions of traces of one day
	days               // rollups of the days of one month
)

var spanSuffix = map[span]string{hours: ".hours", days: ".days"} // read-only

// String returns what a partition of s holds.
func (s span) String() string { return [...]string{"traces", "hours", "days"}[s] }

// width returns the longest time that a partition of s is made for.
func (s span) width(partition time.Duration) time.Duration {
	switch s {
	case hours:
		return 24 * time.Hour
	case days:
		return 31 * 24 * time.Hour
	}
	return partition
}

// startOf returns the start of the partition of s that has what began at t, in UTC.
func (s span) startOf(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	if s == days {
		d = 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// endOf returns when the time of the partition of s that starts at t is over.
func (s span) endOf(t time.Time, partition time.Duration) time.Time {
	if s == days {
		return t.AddDate(0, 1, 0)
	}
	return t.Add(s.width(partition))
}

// name returns the directory of the partition of s that starts at t.
func (s span) name(t time.Time) string {
	switch s {
	case hours:
		return t.Format("20060102") + spanSuffix[s]
	case days:
		return t.Format("200601") + spanSuffix[s]
	}
	return partitionName(t)
}

// parseSpan returns what a directory is for, and the start of its time.
func parseSpan(name string) (span, time.Time, bool) {
	for s, suffix := range spanSuffix {
		text, ok := strings.CutSuffix(name, suffix)
		if !ok {
			continue
		}
		layout := "20060102"
		if s == days {
			layout = "200601"
		}
		t, err := time.Parse(layout, text)
		return s, t, err == nil
	}
	t, ok := parseName(name)
	return traces, t, ok
}

// rolled says what a rollup partition has of one partition of traces, or of one day.
type rolled struct {
	Start   uint32   `json:"start"`             // when its time begins, in minutes since the epoch
	Sources []uint32 `json:"sources,omitempty"` // of a day: the starts of the partitions of traces
	First   int64    `json:"first_us"`          // receive time of the oldest trace, µs since the epoch
	Last    int64    `json:"last_us"`
	Traces  uint64   `json:"traces"`            // trace keys: a trace of two pages has two
	Missing uint64   `json:"missing,omitempty"` // counted, and not found when it was rolled up
}

// minutes returns t in minutes since the epoch.
func minutes(t time.Time) uint32 { return uint32(t.Unix() / 60) }

func timeOfMinutes(m uint32) time.Time { return time.Unix(int64(m)*60, 0).UTC() }

// within reports whether all that was received is in [since, until).
func (r *rolled) within(since, until time.Time) bool {
	return (since.IsZero() || !time.UnixMicro(r.First).Before(since)) &&
		(until.IsZero() || time.UnixMicro(r.Last).Before(until))
}

// overlaps reports whether some of what was received can be in [since, until).
func (r *rolled) overlaps(since, until time.Time) bool {
	return (since.IsZero() || !time.UnixMicro(r.Last).Before(since)) &&
		(until.IsZero() || time.UnixMicro(r.First).Before(until))
}

// put adds r to the list, in place of what is there for the same time.
func (c *contents) put(r rolled) {
	i, found := slices.BinarySearchFunc(c.Rolled, r.Start, func(x rolled, start uint32) int { return int(int64(x.Start) - int64(start)) })
	c.Rolled = slices.Clone(c.Rolled) // readers may have the old one
	if found {
		c.Rolled[i] = r
	} else {
		c.Rolled = slices.Insert(c.Rolled, i, r)
	}
	c.Traces, c.First, c.Last = 0, r.First, r.Last
	for _, x := range c.Rolled {
		c.Traces += x.Traces
		c.First, c.Last = min(c.First, x.First), max(c.Last, x.Last)
	}
	c.Commits = uint64(len(c.Rolled)) // so that it is not blank
	c.countGone()
}

// rollupMemTable keeps partitions of rollups light: little is written to them.
const rollupMemTable = 16 << 20

// recoverRollups makes a partition of rollups that was not closed cleanly readable. What
// it was being given is given to it again, if its mark is not there.
func recoverRollups(dir string, _ int64, log *slog.Logger) (c contents, err error) {
	if err := preflight(dir, -1); err != nil {
		return contents{}, err
	}
	orphans, err := hideOrphans(dir)
	if err != nil {
		return contents{}, err
	}
	db, err := openBadger(recoveryOptions(dir, rollupMemTable, log))
	if err != nil {
		return contents{}, err
	}
	err = view(db, func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kindRolled}})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().Key()
			err := it.Item().Value(func(v []byte) error {
				var r rolled
				if len(v) < 4 || !sumOK(key, v) || json.Unmarshal(v[4:], &r) != nil {
					return nil // it is made again
				}
				c.put(r)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if cerr := closeBadger(db); err == nil {
		err = cerr
	}
	if err != nil {
		return contents{}, err
	}
	c.missing(readOpened(dir))
	if len(c.Gone) == 0 {
		if err := removeAll(orphans); err != nil {
			return contents{}, err
		}
	}
	return writeClean(dir, c)
}

// rollupWriter writes to a partition of rollups. Rollups come seldom, so it is open for
// writing only for as long as that takes; readers go on meanwhile.
type rollupWriter struct {
	r    *Reader
	p    *partition
	db   *badger.DB
	txn  []pair // to be written together
	cost int
	had  contents
}

// openRollups opens the partition of rollups for what began at start.
func (r *Reader) openRollups(sp span, start time.Time) (*rollupWriter, error) {
	sh := r.shelf
	p, err := sh.rollupPartition(sp, sp.startOf(start))
	if err != nil {
		return nil, err
	}
	if errors.Is(p.fault, ErrDamaged) { // it is made again, as far as there are traces
		sh.claim(p)
		sh.settle(p, nil, false)
		sh.giveUp(p, p.fault)
		if p, err = sh.rollupPartition(sp, sp.startOf(start)); err != nil {
			return nil, err
		}
	}
	if p.fault != nil {
		return nil, p.fault
	}
	sh.claim(p)
	if p.db != nil {
		if err := closeBadger(p.db); err != nil {
			r.opts.Logger.Warn("close partition", logPartition, p.name, logErr, err)
		}
	}
	tables := -1
	if !p.blank() {
		tables = p.Tables
	}
	err = preflight(p.path, tables)
	if err == nil {
		err = markOpened(p.path)
	}
	var db *badger.DB
	if err == nil {
		db, err = openBadger(badgerOptions(p.path, rollupMemTable, false, r.opts.Logger))
	}
	sh.settle(p, db, db != nil)
	if err != nil {
		err = fmt.Errorf("open partition %s for writing: %w", p.name, err)
		if errors.Is(err, ErrDamaged) {
			sh.giveUp(p, err)
		}
		return nil, err
	}
	return &rollupWriter{r: r, p: p, db: db, had: p.contents}, nil
}

// rollupPartition returns the partition of rollups that starts at start, which it makes
// if it is not there.
func (s *shelf) rollupPartition(sp span, start time.Time) (*partition, error) {
	name := sp.name(start)
	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := slices.BinarySearchFunc(s.sums, name, func(p *partition, name string) int { return strings.Compare(p.name, name) })
	if found {
		return s.sums[at], nil
	}
	p := &partition{name: name, start: start, span: sp, path: filepath.Join(s.dir, name)}
	if err := makeDir(p.path); err != nil {
		return nil, fmt.Errorf("create partition: %w", err)
	}
	s.sums = slices.Insert(s.sums, at, p)
	return p, nil
}

// maxRollupTxn is how much is written in one transaction; Badger takes 15 % of a memtable.
const maxRollupTxn = rollupMemTable / 10

// write writes pairs, some time before commit returns.
func (w *rollupWriter) write(pairs []pair) error {
	for _, p := range pairs {
		if w.cost+p.cost() > maxRollupTxn {
			if err := w.flush(); err != nil {
				return err
			}
		}
		w.txn = append(w.txn, p)
		w.cost += p.cost()
	}
	return nil
}

func (w *rollupWriter) flush() error {
	if len(w.txn) == 0 {
		return nil
	}
	err := setAll(w.db, w.txn)
	w.txn, w.cost = w.txn[:0], 0
	if err != nil {
		return fmt.Errorf("write to partition %s: %w", w.p.name, err)
	}
	return nil
}

// errCommit is wrapped by an error after which it is not known what is on disk.
var errCommit = errors.New("commit")

// setAll writes pairs in one transaction. After an error that does not wrap errCommit
// nothing was written.
func setAll(db *badger.DB, pairs []pair) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: badger panicked: %v", errCommit, r)
		}
	}()
	txn := db.NewTransaction(true)
	defer txn.Discard()
	for _, p := range pairs {
		if p.value == nil {
			err = txn.Delete(p.key)
		} else {
			err = txn.Set(p.key, p.value)
		}
		if err != nil {
			return err
		}
	}
	if err := txn.Commit(); err != nil {
		return fmt.Errorf("%w: %w", errCommit, err)
	}
	return nil
}

// begin makes ready to write what began at start. If there is a rollup of that already,
// it is not there from now on, so that nobody reads a mixture.
func (w *rollupWriter) begin(start uint32) error {
	if !slices.ContainsFunc(w.had.Rolled, func(r rolled) bool { return r.Start == start }) {
		return nil
	}
	if err := w.write([]pair{{key: appendRolledKey(nil, start)}}); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.had.Rolled = slices.DeleteFunc(slices.Clone(w.had.Rolled), func(r rolled) bool { return r.Start == start })
	w.r.shelf.mu.Lock()
	w.p.Rolled = w.had.Rolled
	w.r.shelf.mu.Unlock()
	return nil
}

// commit says that all of one stretch of time is written. From now on queries use it.
func (w *rollupWriter) commit(r rolled) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	key := appendRolledKey(nil, r.Start)
	if err := w.write([]pair{{key, sumInto(append(make([]byte, 4), b...), 0, key)}}); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.had.put(r)
	return nil
}

// stacks returns the stack table of a page, as it is with what was written.
func (w *rollupWriter) stacks(page string) (t *stackTable, err error) {
	if err := w.flush(); err != nil {
		return nil, err
	}
	err = view(w.db, func(txn *badger.Txn) (err error) {
		t, err = w.r.readStacks(txn, page)
		return err
	})
	if errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w: %w", errOwnDamage, err)
	}
	return t, err
}

// errOwnDamage is wrapped by an error about what the partition that is being written to has.
var errOwnDamage = errors.New("partition of rollups")

// end closes the partition. One that turned out to be damaged is set aside.
func (w *rollupWriter) end(reason error) error {
	err := w.close()
	if errors.Is(reason, errOwnDamage) {
		w.r.shelf.giveUp(w.p, reason)
	}
	return err
}

// close closes the partition cleanly. What was committed is used by queries from then on.
func (w *rollupWriter) close() error {
	sh := w.r.shelf
	sh.claim(w.p)
	err := closeBadger(w.db)
	if err == nil {
		var c contents
		if c, err = writeClean(w.p.path, w.had); err == nil {
			sh.mu.Lock()
			w.p.contents = c
			sh.mu.Unlock()
		}
	}
	sh.settle(w.p, nil, false)
	if err != nil {
		return fmt.Errorf("close partition %s: %w", w.p.name, err)
	}
	return nil
}
