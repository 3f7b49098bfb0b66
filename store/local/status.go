package local

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
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
	if err := r.life.Enter(); err != nil {
		return Status{}, err
	}
	defer r.life.Leave()
	st := Status{Damaged: r.found.Damaged.Load(), Missing: r.found.Missing.Load()}
	for _, p := range r.parts.All() {
		ps := statusOf(p.Name, p.Start, &p.Contents, Closed, p.Path())
		switch {
		case p.Fault != nil:
			ps.State, ps.Reason = Faulty, p.Fault.Error()
		case p.Writing:
			ps.State = Writing
		}
		st.Partitions = append(st.Partitions, ps)
	}
	for _, f := range r.sums.Files() {
		st.Partitions = append(st.Partitions, r.statusOfSums(f.Name(), kindOf(f.Span()), f.Start(), f.Sums(), Closed, ""))
	}
	for _, f := range r.sums.Faulty() {
		st.Partitions = append(st.Partitions, r.statusOfSums(f.Name, kindOf(f.Span), f.Start, nil, Faulty, f.Err.Error()))
	}
	for _, a := range r.parts.Asides() {
		ps := statusOf(a.Name, a.Start, &a.Contents, Quarantine, a.Path)
		ps.Reason = a.Reason
		st.Partitions = append(st.Partitions, ps)
	}
	for _, a := range r.sums.Aside() {
		st.Partitions = append(st.Partitions, r.statusOfSums(a.Name, kindOf(a.Span), a.Start, a.Sums, Quarantine, a.Reason))
	}
	for _, p := range st.Partitions {
		st.Bytes += p.Bytes
		st.Lost += p.LostTraces
	}
	return st, nil
}

func statusOf(name string, start time.Time, c *part.Contents, state PartitionState, path string) PartitionStatus {
	s := PartitionStatus{Name: name, Holds: traces.String(), Start: start, State: state, Traces: c.Traces, Commits: c.Commits,
		LostTraces: c.LostTraces, LostCommits: c.LostCommits, Bytes: disk.TreeBytes(path)}
	if !c.Blank() {
		s.First, s.Last = time.UnixMicro(c.First).UTC(), time.UnixMicro(c.Last).UTC()
	}
	return s
}

func (r *Reader) statusOfSums(name string, k kind, start time.Time, list []rollups.Sum, state PartitionState, reason string) PartitionStatus {
	s := PartitionStatus{Name: name, Holds: k.String(), Start: start, State: state, Reason: reason, Commits: uint64(len(list)), Bytes: disk.TreeBytes(r.path(name))}
	for i, x := range list {
		first, last := time.UnixMicro(x.First).UTC(), time.UnixMicro(x.Last).UTC()
		if i == 0 || first.Before(s.First) {
			s.First = first
		}
		if i == 0 || last.After(s.Last) {
			s.Last = last
		}
		s.Traces += x.Traces
	}
	return s
}

func (r *Reader) path(name string) string { return filepath.Join(r.dir, name) }

// Counters are totals since the store was opened, and the length of the queue now.
type Counters struct {
	Stored, Duplicates, Refused, Commits uint64 // Refused is by ErrBusy; all but Commits in traces
	QueuedTraces                         int
	QueuedBytes                          int64
	RolledUp                             uint64        // traces that went into rollups, each once for each of its pages
	Unrolled                             int           // those that are in none yet, counted alike
	RollCPU                              time.Duration // processor time that rolling up took, where it is known
	DroppedCounts                        uint64        // page views without a trace, and Web Vitals of page views, that found no room
}

// Counters returns the store's counters. It is cheap.
func (s *Store) Counters() Counters {
	s.qmu.Lock()
	defer s.qmu.Unlock()
	return Counters{
		RolledUp: s.rolledUp.Load(), Unrolled: s.pending.Waiting(), RollCPU: time.Duration(s.rollCPU.Load()),
		Stored: s.stored.Load(), Duplicates: s.duplicates.Load(), Refused: s.refused.Load(), Commits: s.commits.Load(),
		QueuedTraces: s.queuedTraces, QueuedBytes: s.queuedBytes, DroppedCounts: s.outcomes.lost(),
	}
}

// Space says how much room there is for a data directory.
type Space struct {
	Free     int64 // bytes of the filesystem that are left to this user
	Needed   int64 // bytes that must be free for traces to be accepted, 0 if that is not checked
	Ballast  int64 // bytes of the ballast that are there
	Refusing bool  // traces are refused for want of space
}

// Space returns how much room there is, as it was up to a second ago.
func (s *Store) Space() Space {
	x := Space{Ballast: disk.BallastBytes(s.dir), Needed: max(0, s.space.Writing())}
	x.Free, _ = s.space.Free(time.Second) // 0 where it is not known
	x.Refusing = errors.Is(s.admit(time.Second), store.ErrNoSpace)
	if !s.space.Checked() {
		x.Needed = 0
	}
	return x
}

// admit reports whether there is room for commits, as it was up to maxAge ago.
func (s *Store) admit(maxAge time.Duration) error {
	err := s.space.Admit(maxAge)
	if errors.Is(err, disk.ErrNoSpace) {
		return store.NoSpace(err)
	}
	return err
}
