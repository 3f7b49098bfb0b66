package former

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// recoverPartition makes a partition readable that was not closed: Badger replays its logs, and what is there is compared with
// what COMMITS says was acknowledged. It can be done again and again.
func recoverPartition(dir string) (c contents, err error) {
	if err := preflight(dir, -1); err != nil {
		return c, err
	}
	known, err := readCommits(dir)
	if err != nil {
		return c, err
	}
	size, err := memTableOf(dir)
	if err != nil {
		return c, err
	}
	orphans, err := hideOrphans(dir)
	if err == nil {
		err = sweep(dir)
	}
	if err != nil {
		return c, err
	}
	db, err := openBadger(replayOptions(dir, size))
	if err != nil {
		return c, err
	}
	c, err = takeStock(db, known)
	if err = errors.Join(err, closeBadger(db)); err != nil || c.LostCommits > 0 {
		return c, err
	}
	for _, path := range orphans { // all that was acknowledged is there without them
		err = errors.Join(err, os.Remove(path))
	}
	return c, err
}

// recoveryNeeds returns how many bytes must be free to recover a partition: tables are made of its logs before these go, and are
// larger by an index.
func recoveryNeeds(dir string) (n int64, err error) {
	err = eachLog(dir, func(_ string, fi fs.FileInfo) error {
		n += disk.Bytes(fi) / 4 * 5
		return nil
	})
	return n + 4<<20, err
}

// memTableOf returns the size to open a partition with for writing: at least that with which its logs were made, since Badger
// ends the process when a log does not fit. A log's file is made twice the size of its table.
func memTableOf(dir string) (size int64, err error) {
	size = memTable
	err = eachLog(dir, func(_ string, fi fs.FileInfo) error {
		size = max(size, fi.Size()/2)
		return nil
	})
	return size, err
}

// eachLog calls f with the logs of a partition that its memtables are made of.
func eachLog(dir string, f func(path string, fi fs.FileInfo) error) error {
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	for _, path := range logs {
		fi, serr := os.Stat(path)
		if err = serr; err == nil {
			err = f(path, fi)
		}
		if err != nil {
			break
		}
	}
	return err
}

// orphanSuffix is appended to the name of a table that nothing refers to.
const orphanSuffix = ".orphan"

// hideOrphans renames the tables that the manifest does not name, since Badger deletes them. Most often they are what a crash has
// left of a compaction; but if the manifest has lost its end, they are data, and the only copy.
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

// sweep takes away what a crash can leave half-made or half-deleted, and what Badger then refuses the whole partition for. Logs are
// created empty and sized after that, and emptied before they are removed: in between nothing is in them, or all of it is in a
// table. Keys for encryption are noted in KEYREGISTRY and at the head of each log. Nothing is encrypted, so there is nothing to lose.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasSuffix(e.Name(), ".mem"), strings.HasSuffix(e.Name(), ".vlog"):
			err = sweepLog(path)
		case e.Name() == badger.KeyRegistryFileName:
			err = sweepKeys(path)
		}
		if err != nil {
			return fmt.Errorf("sweep %s: %w", e.Name(), err)
		}
	}
	return nil
}

// sweepLog removes an empty log, and repairs the head of one that is not: the number of a key, u64.
func sweepLog(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if fi.Size() == 0 {
		return os.Remove(path)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	key, none := make([]byte, 8), make([]byte, 8)
	if _, err = f.ReadAt(key, 0); err == nil && !bytes.Equal(key, none) {
		_, err = f.WriteAt(none, 0)
	}
	if errors.Is(err, io.EOF) {
		err = nil // shorter than a head: Badger makes it anew
	}
	return errors.Join(err, f.Close())
}

// sweepKeys removes a damaged list of keys. A good one has 16 random bytes, and a text.
func sweepKeys(path string) error {
	const random, text = 16, "Hello Badger"
	b, err := os.ReadFile(path)
	if err == nil && (len(b) != random+len(text) || string(b[random:]) != text) {
		err = os.Remove(path)
	}
	return err
}

// readCommits returns the commits that the file of a partition knows. Damaged records are left out: then a loss may be larger than
// it is said to be.
func readCommits(dir string) (known map[uint64]commit, err error) {
	known = make(map[uint64]commit)
	b, err := os.ReadFile(filepath.Join(dir, commitsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read commit log: %w", err)
	}
	for ; len(b) >= 8+commitSize; b = b[8+commitSize:] {
		key := binary.BigEndian.AppendUint64([]byte{kindCommit}, binary.BigEndian.Uint64(b))
		if c, ok := parseCommit(key, b[8:8+commitSize]); ok {
			known[c.number] = c
		}
	}
	return known, nil
}

// takeStock counts what is in a partition by its commit records, and what is missing by those of the known commits that left no
// record. A transaction is replayed whole or not at all, so a record stands for all of its commit.
func takeStock(db *badger.DB, known map[uint64]commit) (c contents, err error) {
	c.Tables = -1
	txn := db.NewTransaction(false)
	defer txn.Discard()
	err = guarded(func() error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kindCommit}})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			err := it.Item().Value(func(b []byte) error {
				if n, ok := parseCommit(it.Item().Key(), b); ok {
					c.see(n.received)
					c.Commits, c.Entries = c.Commits+1, c.Entries+uint64(n.entries)
					delete(known, n.number)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, n := range known {
		c.see(n.received)
		c.LostCommits, c.LostTraces = c.LostCommits+1, c.LostTraces+uint64(n.traces)
	}
	return c, err
}
