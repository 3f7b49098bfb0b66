package store

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// PartitionState says what can be done with a partition.
type PartitionState string

// The states of a partition.
const (
	Writing    PartitionState = "writing"    // open for writing
	Closed     PartitionState = "closed"     // read-only, sealed or not written to since the start
	Faulty     PartitionState = "faulty"     // cannot be opened
	Quarantine PartitionState = "quarantine" // set aside as NAME.corrupt
)

// PartitionStatus describes one partition.
type PartitionStatus struct {
	Name        string
	Holds       string    // "traces", or rollups of "hours" or "days"
	Start       time.Time // of the time it was made for
	State       PartitionState
	Reason      string // why it is faulty or in quarantine
	Traces      uint64
	Commits     uint64
	First, Last time.Time // receive times, zero if there is none
	Bytes       int64     // on disk
	LostTraces  uint64    // acknowledged, and gone after a crash
	LostCommits uint64
}

// Loss says what is missing from a partition after a crash, "" if nothing is.
func (p PartitionStatus) Loss() string {
	if p.LostCommits == 0 {
		return ""
	}
	return fmt.Sprintf("partition %s: expected at least %d traces in %d commits, found %d in %d: %d lost",
		p.Name, p.Traces+p.LostTraces, p.Commits+p.LostCommits, p.Traces, p.Commits, p.LostTraces)
}

// Status describes a data directory.
type Status struct {
	Partitions []PartitionStatus // oldest first, then those in quarantine
	Bytes      int64             // of all partitions, on disk
	Lost       uint64            // traces known to be lost in crashes
	Damaged    uint64            // damaged values met by scans since the start
	Missing    uint64            // gaps met by scans since the start, in traces
}

// Status describes the data directory as it is now. It looks at every file.
func (r *Reader) Status() (Status, error) {
	if err := r.enter(); err != nil {
		return Status{}, err
	}
	defer r.leave()
	st := Status{Damaged: r.damaged.Load(), Missing: r.missing.Load()}
	var paths []string
	sh := r.shelf
	sh.mu.Lock()
	for _, p := range slices.Concat(sh.parts, sh.sums) {
		ps := p.contents.status(p.name, p.start, Closed)
		ps.Holds = p.span.String()
		switch {
		case p.fault != nil:
			ps.State, ps.Reason = Faulty, p.fault.Error()
		case p.writer:
			ps.State = Writing
		}
		st.Partitions = append(st.Partitions, ps)
		paths = append(paths, p.path)
	}
	for i := range sh.aside {
		a := &sh.aside[i]
		ps := a.contents.status(a.name, a.start, Quarantine)
		ps.Reason, ps.Holds = a.reason, a.span.String()
		st.Partitions = append(st.Partitions, ps)
		paths = append(paths, a.path)
	}
	sh.mu.Unlock()
	for i, path := range paths {
		p := &st.Partitions[i]
		p.Bytes = treeBytes(path)
		st.Bytes += p.Bytes
		st.Lost += p.LostTraces
	}
	return st, nil
}

func (c *contents) status(name string, start time.Time, state PartitionState) PartitionStatus {
	s := PartitionStatus{Name: name, Start: start, State: state, Traces: c.Traces, Commits: c.Commits,
		LostTraces: c.LostTraces, LostCommits: c.LostCommits}
	if !c.blank() {
		s.First, s.Last = time.UnixMicro(c.First).UTC(), time.UnixMicro(c.Last).UTC()
	}
	return s
}

// treeBytes returns what a directory occupies. Files that vanish meanwhile do not count.
func treeBytes(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if fi, err := e.Info(); err == nil {
			n += diskBytes(fi)
		}
		return nil
	})
	return n
}

// Counters are totals since the store was opened, and the length of the queue now.
type Counters struct {
	Stored, Duplicates, Refused, Commits uint64 // Refused is by ErrBusy; all but Commits in traces
	QueuedTraces                         int
	QueuedBytes                          int64
	RolledUp                             uint64        // traces that went into rollups, each once for each of its pages
	Unrolled                             int           // those that came since and are in none yet, counted alike
	RollCPU                              time.Duration // processor time that rolling up took, where it is known
}

// Counters returns the store's counters. It is cheap.
func (s *Store) Counters() Counters {
	s.qmu.Lock()
	defer s.qmu.Unlock()
	return Counters{
		RolledUp: s.rolledUp.Load(), Unrolled: s.fresh.unrolled(), RollCPU: time.Duration(s.rollCPU.Load()),
		Stored: s.stored.Load(), Duplicates: s.duplicates.Load(), Refused: s.refused.Load(), Commits: s.commits.Load(),
		QueuedTraces: s.queuedTraces, QueuedBytes: s.queuedBytes,
	}
}
