package former

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

const (
	commitsFile = "COMMITS"
	cleanFile   = "CLEAN"
	reasonFile  = "REASON" // why a partition was set aside
	aheadSuffix = ".ahead"
)

// ParseName returns when the time of the partition in a directory of that name begins.
func ParseName(name string) (time.Time, bool) {
	t, err := time.Parse("20060102T15", name)
	if err != nil {
		if t, err = time.Parse("20060102T1504", name); t.Minute() == 0 {
			return time.Time{}, false
		}
	}
	return t, err == nil
}

// asideName matches what was set aside: NAME.corrupt and NAME.corrupt.2.
var asideName = regexp.MustCompile(`^(.*)\.corrupt(?:\.\d+)?$`)

// contents are what is known about a partition without opening it.
type contents struct {
	Entries     uint64 `json:"entries"` // traces: one of two pages counts twice
	Commits     uint64 `json:"commits"`
	First       int64  `json:"first_us"` // when the first thing was received, µs since the epoch
	Last        int64  `json:"last_us"`
	LostTraces  uint64 `json:"lost_traces"` // acknowledged, and found missing after a crash
	LostCommits uint64 `json:"lost_commits"`
	Tables      int    `json:"tables"` // of Badger when it was closed, -1 if that is not known
}

// blank reports whether nothing was ever stored.
func (c *contents) blank() bool { return c.Commits == 0 && c.LostCommits == 0 }

// see widens the time.
func (c *contents) see(received int64) {
	if c.blank() || received < c.First {
		c.First = received
	}
	if c.blank() || received > c.Last {
		c.Last = received
	}
}

// parseClean reads a file CLEAN: the contents as JSON, with a checksum.
//
//	crc32c 1a2b3c4d {"traces":80,"entries":80,"commits":4,…}
func parseClean(b []byte) (c contents, err error) {
	start := bytes.IndexByte(b, '{')
	text, whole := bytes.CutSuffix(b[max(start, 0):], []byte("\n"))
	if start < 0 || !whole || string(b[:start]) != fmt.Sprintf("crc32c %08x ", crc32.Checksum(text, castagnoli)) {
		return contents{}, errors.New("the checksum is wrong")
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return contents{}, err
	}
	if c.Last < c.First || c.Tables < 0 {
		return contents{}, errors.New("the contents can not be")
	}
	return c, nil
}

// partition is what was received in an hour, or in a part of one.
type partition struct {
	name  string
	start time.Time
	path  string
	contents
	fault error // why it can not be read

	db       *badger.DB // nil while it is not open
	txn      *badger.Txn
	payloads payloads
}

// load finds out what is known of a partition, and recovers one that was not closed. A fault is damage of it alone; an error is about
// the machine.
func (p *partition) load(space *disk.Space) error {
	b, err := os.ReadFile(filepath.Join(p.path, cleanFile))
	if err == nil {
		p.contents, err = parseClean(b)
	}
	if err == nil {
		err = preflight(p.path, p.Tables)
	} else if err = p.roomToRecover(space); err == nil {
		p.contents, err = recoverPartition(p.path)
	}
	if err != nil && (ofMachine(err) || errors.Is(err, disk.ErrNoSpace)) {
		return fmt.Errorf("read partition %s: %w", p.name, err)
	}
	p.fault = err
	return nil
}

// roomToRecover fails if there is not enough room for what Badger makes of the logs: it ends the process when the disk is full.
func (p *partition) roomToRecover(space *disk.Space) error {
	need, err := recoveryNeeds(p.path)
	if err == nil {
		err = space.Room(need, 0)
	}
	return err
}

// isOpen has the partition open, if it can be.
func (p *partition) isOpen() (bool, error) {
	if p.db != nil || p.fault != nil {
		return p.fault == nil, nil
	}
	db, err := openBadger(readOptions(p.path))
	if err != nil && ofMachine(err) {
		return false, fmt.Errorf("open partition %s: %w", p.name, err)
	}
	if p.fault = err; err != nil {
		return false, nil
	}
	p.db, p.txn = db, db.NewTransaction(false)
	return true, nil
}

func (p *partition) close() error {
	if p.db == nil {
		return nil
	}
	p.payloads.close()
	p.txn.Discard()
	err := closeBadger(p.db)
	p.db, p.txn = nil, nil
	return err
}

// each calls f with each key that begins with prefix, and its value, of which f keeps nothing. A panic of Badger becomes an error. Values
// are read one by one: Badger would fetch them in goroutines of its own, in which a panic ends the process.
func (p *partition) each(prefix []byte, f func(key, value []byte)) error {
	return guarded(func() error {
		it := p.txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().Key()
			err := it.Item().Value(func(b []byte) error {
				f(key, b)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// pages adds the pages to out that there are keys of a kind for.
func (p *partition) pages(kind byte, out map[string]bool) error {
	return guarded(func() error {
		it := p.txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}})
		defer it.Close()
		for it.Rewind(); it.Valid(); {
			page, _, err := pageOfKey(it.Item().Key())
			if err != nil {
				it.Next() // it is counted, and not found
				continue
			}
			out[page] = true
			it.Seek(afterPage(kind, page))
		}
		return nil
	})
}

// readReason returns why a partition, or a file, was set aside.
func readReason(path string) string {
	for _, file := range []string{filepath.Join(path, reasonFile), path + ".reason"} {
		if b, err := os.ReadFile(file); err == nil {
			return strings.TrimSpace(string(b[:min(len(b), 4<<10)]))
		}
	}
	return "nothing says why"
}
