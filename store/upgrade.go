package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/part"
	"github.com/fieldtrie/fieldtrie/store/record"
	"github.com/fieldtrie/fieldtrie/store/sums"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// upgrade brings a directory of an older format to the present one. It can be interrupted
// and begun again at any point: the format is written last, and an old directory is deleted
// when what takes its place is on disk.
//
// Format 2 had rollups of hours and days in Badger directories, NAME.hours and NAME.days. They
// become files of sums. Those of hours of which the traces are there are made again from the
// traces, since format 2 counted some page views twice at some stacks.
func (r *Reader) upgrade(f format) error {
	r.remadeBefore = f.Upgraded
	if f.Format == FormatVersion {
		return nil
	}
	r.opts.Logger.Info("data directory is upgraded, older releases do not open it any more", "dir", r.dir, "from", f.Format, "to", FormatVersion)
	if err := r.parts.SealAll(); err != nil {
		return fmt.Errorf("upgrade data directory: %w", err)
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return fmt.Errorf("upgrade data directory: %w", err)
	}
	// Days come last: whether a day is made again depends on its hours.
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int {
		return strings.Compare(filepath.Ext(b.Name()), filepath.Ext(a.Name()))
	})
	for _, e := range entries {
		name := e.Name()
		if of, ok := part.ParseAsideName(name); ok && e.IsDir() {
			err = r.upgradeAside(name, of)
		} else if span, start, ok := oldRollups(name); ok && e.IsDir() {
			err = r.upgradeRollups(name, span, start)
		}
		if err != nil {
			return fmt.Errorf("upgrade %s: %w", name, err)
		}
	}
	f = format{Format: FormatVersion, Upgraded: upgradedAt(r.parts.All(), r.opts)}
	if err := writeFormat(r.dir, f); err != nil {
		return fmt.Errorf("upgrade data directory: %w", err)
	}
	r.remadeBefore = f.Upgraded
	return nil
}

// upgradedAt returns a time after which all partitions begin that are made from now on.
func upgradedAt(parts []part.Info, o Options) time.Time {
	if len(parts) == 0 {
		return time.Time{}
	}
	return parts[len(parts)-1].Start.Add(time.Second)
}

// oldRollups returns what a directory of format 2 has rollups of.
func oldRollups(name string) (sums.Span, time.Time, bool) {
	for _, x := range []struct {
		suffix, layout string
		span           sums.Span
	}{{".hours", "20060102", sums.Hours}, {".days", "200601", sums.Days}} {
		if text, ok := strings.CutSuffix(name, x.suffix); ok {
			t, err := time.Parse(x.layout, text)
			return x.span, t, err == nil
		}
	}
	return 0, time.Time{}, false
}

// oldSum is what format 2 noted of an hour or day.
type oldSum struct {
	Start   uint32   `json:"start"`
	Sources []uint32 `json:"sources"`
	First   int64    `json:"first_us"`
	Last    int64    `json:"last_us"`
	Traces  uint64   `json:"traces"`
	Missing uint64   `json:"missing"`
}

func (o oldSum) sum() sums.Sum { return sums.Sum(o) }

// oldContents is what a directory of rollups noted of itself in CLEAN, or, if it was being
// written, in OPENED: what it has, and what of it was lost.
type oldContents struct {
	Rolled, Gone []oldSum
}

func readOldContents(dir string) (all []sums.Sum) {
	for _, name := range []string{"CLEAN", "OPENED"} {
		var c oldContents
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && json.Unmarshal(b, &c) == nil {
			for _, x := range slices.Concat(c.Rolled, c.Gone) {
				all = append(all, x.sum())
			}
		}
	}
	slices.SortFunc(all, func(a, b sums.Sum) int { return int(int64(a.Start) - int64(b.Start)) })
	return slices.CompactFunc(all, func(a, b sums.Sum) bool { return a.Start == b.Start })
}

// upgradeAside notes what a directory of rollups had that was set aside, so that queries go on
// to tell what is missing. The directory stays.
func (r *Reader) upgradeAside(name, of string) error {
	span, start, ok := oldRollups(of)
	if !ok {
		return nil
	}
	b, _ := os.ReadFile(filepath.Join(r.dir, name, "REASON"))
	return r.noteLost(span, start, name, strings.TrimSpace(string(b)), readOldContents(filepath.Join(r.dir, name)))
}

// noteLost makes it known that sums are lost which the directory from had, unless an upgrade
// that was interrupted has done that.
func (r *Reader) noteLost(span sums.Span, start time.Time, from, reason string, lost []sums.Sum) error {
	see := "see " + from + ": "
	if slices.ContainsFunc(r.sums.Aside(), func(a sums.Aside) bool { return strings.HasPrefix(a.Reason, see) }) {
		return nil
	}
	return r.sums.NoteAside(r.asideName(span.Name(start)), see+reason, lost)
}

// asideName returns the first free name to set name aside by.
func (r *Reader) asideName(name string) string {
	return part.AsideName(name, func(name string) bool {
		_, err := os.Lstat(r.path(name))
		return err == nil
	})
}

// upgradeRollups makes a file of sums of a directory of rollups, and deletes the directory.
func (r *Reader) upgradeRollups(name string, span sums.Span, start time.Time) error {
	dir := filepath.Join(r.dir, name)
	had := readOldContents(dir)
	var done []sums.Sum
	err := part.ReadDirectory(dir, r.opts.MemTableSize, r.opts.Logger, func(txn *part.Txn) error {
		for _, x := range oldSums(txn) {
			if r.remakes(span, x) {
				done = append(done, x)
				continue
			}
			err := r.upgradeSum(txn, span, x)
			if errors.Is(err, ErrDamaged) {
				r.opts.Logger.Error("rollups are damaged", "directory", name, "start", x, logErr, err)
				continue
			}
			if err != nil {
				return err
			}
			done = append(done, x)
		}
		return nil
	})
	damaged := errors.Is(err, ErrDamaged)
	if err != nil && !damaged {
		return err
	}
	lost := slices.DeleteFunc(had, func(x sums.Sum) bool {
		return slices.ContainsFunc(done, func(y sums.Sum) bool { return x.Start == y.Start })
	})
	if len(lost) == 0 && !damaged {
		return disk.Erase(dir)
	}
	aside := r.asideName(name)
	if err := r.noteLost(span, start, aside, fmt.Sprintf("damaged when it was upgraded: %v", err), lost); err != nil {
		return err
	}
	return os.Rename(dir, filepath.Join(r.dir, aside))
}

// remakes reports whether a sum is made again because all of what it was made of is there.
func (r *Reader) remakes(span sums.Span, x sums.Sum) bool {
	there := make(map[uint32]bool)
	for _, p := range r.parts.All() {
		there[minutes(p.Start)] = p.Fault == nil
	}
	sources := x.Sources
	if span == sums.Hours {
		sources = []uint32{x.Start}
	}
	return !slices.ContainsFunc(sources, func(start uint32) bool { return !there[start] })
}

// oldSums returns what a directory of rollups has, by start.
func oldSums(txn *part.Txn) (list []sums.Sum) {
	it := txn.Iterate([]byte{record.KindRolled}, 0)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Key()
		_ = it.Value(func(v []byte) error {
			var x oldSum
			if len(v) >= 4 && record.SumOK(key, v) && json.Unmarshal(v[4:], &x) == nil {
				list = append(list, x.sum())
			}
			return nil // what is damaged counts as lost
		})
	}
	return list
}

// upgradeSum writes what a directory of rollups has of one hour or day.
func (r *Reader) upgradeSum(txn *part.Txn, span sums.Span, x sums.Sum) error {
	w, err := r.sums.Edit(span, x.Start, x.Sources...)
	if err != nil {
		return err
	}
	defer w.Abort()
	counted := make(map[string]uint64)
	if err := eachOldCount(txn, x.Start, func(page string, t Tag, c record.Count) {
		w.Count(page, t, c)
		if t == (Tag{}) {
			counted[page] = c.Traces
		}
	}); err != nil {
		return err
	}
	for _, page := range txn.Pages(record.KindRollup) {
		stacks, _, err := w.Stacks(page)
		if err != nil {
			return err
		}
		b := rollup.NewBuilder(page, stacks, r.opts.Rollups)
		if err := r.addOld(txn, b, page, x.Start); err != nil {
			return err
		}
		if err := putPage(w, b, page, counted[page]); err != nil {
			return err
		}
	}
	_, err = w.Commit(x)
	return err
}

// addOld adds the rollups of a page and time to b.
func (r *Reader) addOld(txn *part.Txn, b *rollup.Builder, page string, start uint32) error {
	table := trie.New()
	for piece := uint32(0); ; piece++ {
		value, err := r.packer.Unpack(record.AppendStacksKey(nil, page, piece), txn.Get)
		if err == nil && value == nil {
			break
		}
		if err == nil {
			err = rollup.DecodeStacks(table, value)
		}
		if err != nil {
			return fmt.Errorf("%w: stack table of %q: %w", ErrDamaged, page, err)
		}
	}
	for _, level := range []rollup.Level{rollup.Wide, rollup.Details} {
		k := record.RollupKey{Page: page, Start: start, Level: byte(level)}
		value, err := r.packer.Unpack(k.Append(nil), txn.Get)
		if err != nil || value == nil {
			return err
		}
		rec, err := rollup.Decode(value, table)
		if err != nil {
			return fmt.Errorf("%w: rollup of %q: %w", ErrDamaged, page, err)
		}
		b.AddRecord(rec, table)
	}
	return nil
}

// eachOldCount calls f with the catalogue that a directory of rollups has of one time.
func eachOldCount(txn *part.Txn, start uint32, f func(page string, t Tag, c record.Count)) error {
	prefix := binary.BigEndian.AppendUint32([]byte{record.KindCounts}, start)
	return eachCountUnder(txn, prefix, record.ParseCountsKey, f)
}
