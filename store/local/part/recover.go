package part

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// recoverPartition makes a partition that was not closed cleanly readable again:
// Badger replays its write-ahead logs, what is there is compared with what COMMITS
// says was acknowledged, and the partition is closed cleanly. The caller must have
// the data directory for itself.
func recoverPartition(dir string, memTable int64, log *slog.Logger) (Contents, error) {
	if err := preflight(dir, -1); err != nil {
		return Contents{}, err
	}
	memTable, err := memTableFor(dir, memTable)
	if err != nil {
		return Contents{}, err
	}
	known, damaged, err := readCommits(dir)
	if err != nil {
		return Contents{}, err
	}
	orphans, err := hideOrphans(dir)
	if err != nil {
		return Contents{}, err
	}
	db, err := openBadger(recoveryOptions(dir, memTable, log))
	if err != nil {
		return Contents{}, err
	}
	c, err := takeStock(db, known)
	if cerr := closeBadger(db); err == nil {
		err = cerr
	}
	if err != nil {
		return Contents{}, err
	}
	if damaged > 0 {
		log.Warn("commit log is damaged, a loss may be larger than reported", "dir", dir, "records", damaged)
	}
	if c.LostCommits == 0 {
		if err := removeAll(orphans); err != nil {
			return Contents{}, err
		}
	}
	return writeClean(dir, c)
}

func removeAll(files []string) error {
	for _, path := range files {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// recoveryOptions returns how a partition is opened to replay its logs. It is not
// compacted: that would double the time that a start takes after a crash, and need room
// for a second copy of what is there, when there may be little.
func recoveryOptions(dir string, memTable int64, log *slog.Logger) badger.Options {
	return badgerOptions(dir, memTable, false, log).
		WithCompactL0OnClose(false).
		WithNumCompactors(0).
		WithNumLevelZeroTablesStall(math.MaxInt32) // nobody would end the stall
}

// recoverySlack is for what Badger makes anew whenever it opens a partition, above all
// the first 1 MiB of DISCARD.
const recoverySlack = 4 << 20

// recoveryNeeds returns how many bytes must be free for the recovery of the partition in
// dir: tables are made of its logs before these go, and are larger by an index.
func recoveryNeeds(dir string) (n int64, err error) {
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		return 0, err
	}
	for _, l := range logs {
		fi, err := os.Stat(l)
		if errors.Is(err, fs.ErrNotExist) { // Badger has just written it to a table
			continue
		}
		if err != nil {
			return 0, err
		}
		n += disk.Bytes(fi)
	}
	return n + n/4 + recoverySlack, nil
}

// orphanSuffix is appended to the name of a table that nothing refers to.
const orphanSuffix = ".orphan"

// hideOrphans renames the tables that the manifest does not name, since Badger
// deletes them. Most often they are what a crash has left of a compaction; but if
// the manifest has lost its end, they are data, and the only copy.
func hideOrphans(dir string) (hidden []string, err error) {
	named, err := manifestTables(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	there, err := tableFiles(dir)
	if err != nil {
		return nil, err
	}
	for id := range there {
		if _, ok := named[id]; ok {
			continue
		}
		path := table.NewFilename(id, dir)
		if err := os.Rename(path, path+orphanSuffix); err != nil {
			return nil, err
		}
		hidden = append(hidden, path+orphanSuffix)
	}
	return hidden, nil
}

// takeStock counts what is in a partition by its commit records, and what is
// missing by those of the known commits that left no record. A transaction is
// replayed whole or not at all, so a record stands for all of its commit.
func takeStock(db *badger.DB, known map[uint64]record.Commit) (c Contents, err error) {
	found := make(map[uint64]bool, len(known))
	err = view(db, func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{record.KindCommit}})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().Key()
			number, err := record.ParseCommitKey(key)
			if err != nil {
				continue // its commit counts as lost
			}
			err = it.Item().Value(func(b []byte) error {
				n, err := record.ParseCommit(key, b)
				if err == nil {
					c.add(number, n)
					found[number] = true
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	for number, n := range known {
		if !found[number] {
			c.addLost(number, n)
		}
	}
	return c, err
}

// view runs f in a read-only transaction. A panic of Badger over damaged blocks
// becomes an error.
func view(db *badger.DB, f func(*badger.Txn) error) error {
	txn := db.NewTransaction(false)
	defer txn.Discard()
	return guarded(func() error { return f(txn) })
}

// guarded runs f, which reads. A panic of Badger becomes an error.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: badger panicked: %v", store.ErrDamaged, r)
		}
	}()
	return f()
}

// closeBadger closes db. A panic becomes an error, as in view.
func closeBadger(db *badger.DB) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("badger panicked: %v", r)
		}
	}()
	return db.Close()
}
