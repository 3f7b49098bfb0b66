package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// recoverPartition makes a partition that was not closed cleanly readable again:
// Badger replays its write-ahead logs, what is there is compared with what COMMITS
// says was acknowledged, and the partition is closed cleanly. The caller must have
// the data directory for itself.
func recoverPartition(dir string, memTable int64, log *slog.Logger) (contents, error) {
	if err := preflight(dir, -1); err != nil {
		return contents{}, err
	}
	memTable, err := memTableFor(dir, memTable)
	if err != nil {
		return contents{}, err
	}
	known, damaged, err := readCommits(dir)
	if err != nil {
		return contents{}, err
	}
	orphans, err := hideOrphans(dir)
	if err != nil {
		return contents{}, err
	}
	// Compacting would double the time that a start takes after a crash.
	db, err := openBadger(badgerOptions(dir, memTable, false, log).WithCompactL0OnClose(false))
	if err != nil {
		return contents{}, err
	}
	c, err := takeStock(db, known)
	if cerr := closeBadger(db); err == nil {
		err = cerr
	}
	if err != nil {
		return contents{}, err
	}
	if damaged > 0 {
		log.Warn("commit log is damaged, a loss may be larger than reported", "dir", dir, "records", damaged)
	}
	if c.LostCommits == 0 {
		for _, path := range orphans {
			if err := os.Remove(path); err != nil {
				return contents{}, err
			}
		}
	}
	return writeClean(dir, c)
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
		if named[id] {
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
func takeStock(db *badger.DB, known map[uint64]commit) (c contents, err error) {
	found := make(map[uint64]bool, len(known))
	err = view(db, func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kindCommit}})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().Key()
			number, err := parseCommitKey(key)
			if err != nil {
				continue // its commit counts as lost
			}
			err = it.Item().Value(func(b []byte) error {
				n, err := parseCommit(key, b)
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
func view(db *badger.DB, f func(*badger.Txn) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: badger panicked: %v", ErrDamaged, r)
		}
	}()
	return db.View(f)
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

// noSnapshot is the snapshot of a partition that nothing is written to.
const noSnapshot = math.MaxUint64

// pageTotal returns how many traces the catalogue says page has.
func pageTotal(txn *badger.Txn, page string) (uint64, error) {
	c, err := readCount(txn, appendCatalogKey(nil, page, Tag{}))
	return c.traces, err
}

// readCount returns the catalogue entry under key, zero if there is none.
func readCount(txn *badger.Txn, key []byte) (c count, err error) {
	err = getValue(txn, key, func(b []byte) error {
		c, err = parseCount(key, b)
		return err
	})
	return c, err
}

// getValue calls f with the value under key, if there is one.
func getValue(txn *badger.Txn, key []byte, f func([]byte) error) error {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return item.Value(f)
}
