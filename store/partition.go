package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
)

const (
	cleanFile     = "CLEAN"
	corruptSuffix = ".corrupt"  // set aside because it could not be opened
	trashSuffix   = ".deleting" // on its way out; removed for good by the next start
)

// partitionStart returns the start of the partition that t falls into.
func partitionStart(t time.Time, width time.Duration) time.Time {
	// Truncate counts from the zero time, a midnight in UTC, so any width that
	// divides a day is aligned to it.
	return t.UTC().Truncate(width)
}

// partitionName returns the directory of the partition that starts at t. Names
// sort by time.
func partitionName(t time.Time) string {
	if t.Minute() == 0 {
		return t.Format("20060102T15")
	}
	return t.Format("20060102T1504")
}

// parseName returns the start of the partition in directory name.
func parseName(name string) (time.Time, bool) {
	for _, layout := range []string{"20060102T15", "20060102T1504"} {
		if t, err := time.Parse(layout, name); err == nil && partitionName(t) == name {
			return t, true
		}
	}
	return time.Time{}, false
}

// corruptName matches NAME.corrupt and NAME.corrupt.2.
var corruptName = regexp.MustCompile(`^(.*)\.corrupt(?:\.\d+)?$`)

// parseCorruptName returns the name of the partition set aside as name, and what that says.
func parseCorruptName(name string) (of string, sp span, start time.Time, ok bool) {
	if m := corruptName.FindStringSubmatch(name); m != nil {
		sp, start, ok = parseSpan(m[1])
		return m[1], sp, start, ok
	}
	return "", traces, time.Time{}, false
}

// contents is what is known about a partition without opening it. It is the
// content of the CLEAN file.
type contents struct {
	Traces      uint64 `json:"traces"`
	Entries     uint64 `json:"entries"` // trace keys: a trace of two pages has two
	Commits     uint64 `json:"commits"`
	LastCommit  uint64 `json:"last_commit"` // number of the newest, 0 if there is none
	First       int64  `json:"first_us"`    // receive time of the oldest trace, µs since the epoch
	Last        int64  `json:"last_us"`
	LostTraces  uint64 `json:"lost_traces"` // acknowledged, and found missing after a crash
	LostCommits uint64 `json:"lost_commits"`
	Tables      int    `json:"tables"` // Badger tables when it was closed
	Sealed      bool   `json:"sealed"` // never to be written to again

	Rolled []rolled `json:"rolled,omitempty"` // by start; what a rollup partition holds
	Gone   []rolled `json:"gone,omitempty"`   // what it held, and lost in a crash
}

// add counts one commit in.
func (c *contents) add(number uint64, n commit) {
	c.extend(number, n.received)
	c.Commits++
	c.Traces += uint64(n.traces)
	c.Entries += uint64(n.entries)
}

// addLost counts one commit in that is known of and gone. A query of its time has
// to be told, and its number must not be used again.
func (c *contents) addLost(number uint64, n commit) {
	c.extend(number, n.received)
	c.LostCommits++
	c.LostTraces += uint64(n.traces)
}

func (c *contents) extend(number uint64, received int64) {
	if c.blank() || received < c.First {
		c.First = received
	}
	if c.blank() || received > c.Last {
		c.Last = received
	}
	c.LastCommit = max(c.LastCommit, number)
}

// blank reports whether no commit is known of.
func (c *contents) blank() bool { return c.Commits == 0 && c.LostCommits == 0 }

// overlaps reports whether something received in [since, until) can be in the
// partition, or was lost from it. Zero times are open ends.
func (c *contents) overlaps(since, until time.Time) bool {
	return !c.blank() &&
		(since.IsZero() || !time.UnixMicro(c.Last).Before(since)) &&
		(until.IsZero() || time.UnixMicro(c.First).Before(until))
}

// readClean returns the CLEAN file of the partition in dir; an error means that
// the partition has to be recovered before it is read.
func readClean(dir string) (c contents, err error) {
	b, err := os.ReadFile(filepath.Join(dir, cleanFile))
	if err != nil {
		return contents{}, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return contents{}, fmt.Errorf("read %s: %w", cleanFile, err)
	}
	return c, nil
}

// writeClean marks the partition in dir, which Badger has just closed, as clean. It
// returns c with the number of tables.
func writeClean(dir string, c contents) (contents, error) {
	tables, err := tableFiles(dir)
	if err != nil {
		return contents{}, err
	}
	c.Tables = len(tables)
	b, err := json.Marshal(c)
	if err != nil {
		return contents{}, err
	}
	return c, writeFileSynced(filepath.Join(dir, cleanFile), append(b, '\n'))
}

// removeClean takes the mark away, durably, before anything is written.
func removeClean(dir string) error {
	if err := os.Remove(filepath.Join(dir, cleanFile)); err != nil {
		return err
	}
	return syncDir(dir)
}

// partition is one directory. All fields below path are guarded by shelf.mu.
type partition struct {
	name  string
	start time.Time
	span  span // of rollups; traces for a partition of traces
	path  string

	contents
	fault error // why it cannot be read, nil if it can

	db     *badger.DB // nil while it is not open
	writer bool       // db is open for writing
	leases int        // readers using db right now
	busy   bool       // db is being opened or closed
	used   uint64     // when db was last leased, on the shelf's own clock
	pins   int        // scans that still want to read the partition
	doomed bool       // to be deleted when the last pin is gone

	notBefore time.Time // when rolling it up is tried again
}

// setAside is a partition that was renamed because it could not be opened.
type setAside struct {
	name  string
	of    string // its name before
	start time.Time
	span  span
	path  string
	contents
	reason string
}

const reasonFile = "REASON"

// quarantine renames a partition's directory, so that it is out of the way and
// nothing of it is lost. It returns the new name.
func quarantine(dir, name string, reason error) (string, error) {
	from := filepath.Join(dir, name)
	to := name + corruptSuffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(dir, to)); err != nil {
			break
		}
		to = fmt.Sprintf("%s%s.%d", name, corruptSuffix, n)
	}
	// Best effort: the reason is for whoever looks into the directory.
	_ = os.WriteFile(filepath.Join(from, reasonFile), []byte(reason.Error()+"\n"), 0o644)
	if err := os.Rename(from, filepath.Join(dir, to)); err != nil {
		return "", fmt.Errorf("set partition %s aside: %w", name, err)
	}
	return to, syncDir(dir)
}

// readSetAside returns what is known about a partition that was set aside.
func readSetAside(dir, name, of string, sp span, start time.Time) setAside {
	s := setAside{name: name, of: of, span: sp, start: start, path: filepath.Join(dir, name), reason: "set aside earlier"}
	c, err := readClean(s.path)
	if err != nil {
		c = readOpened(s.path)
	}
	s.contents = c
	if b, err := os.ReadFile(filepath.Join(s.path, reasonFile)); err == nil {
		s.reason = strings.TrimSpace(string(b))
	}
	return s
}
