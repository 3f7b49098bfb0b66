package store

import "time"

// ScanStats say what a query has read, and what it should have read and could not.
type ScanStats struct {
	Partitions int    // hours of which traces were read
	Days       int    // of which a rollup was read
	Hours      int    // of which a rollup was read
	RolledUp   uint64 // traces that the rollups stand for; a trace of two pages counts twice
	Traces     uint64 // handed to the callback
	Skipped    uint64 // read, and received at another time than asked for
	Bytes      uint64 // stored size of what was read

	// Damaged is how many stored traces are not what was written; they are left
	// out. BadValues are the first of them.
	Damaged   uint64
	BadValues []BadValue

	// Gaps are traces that the catalogue counts and that were not found.
	Gaps []Gap

	// Unreadable are the partitions that could not be read, or not to their end.
	Unreadable []Unreadable

	// Widened are times that were taken as a whole, since the traces that could tell
	// what of it was asked for are deleted.
	Widened []Widened

	// Behind is how long ago the traces were looked at that are not rolled up yet; 0 is now.
	// It is not more than the query allows.
	Behind time.Duration

	// Lost is how many acknowledged traces the partitions of the queried time are
	// known to have lost in a crash, of any page.
	Lost uint64
}

// Complete reports whether all that was ever stored was read.
func (s *ScanStats) Complete() bool {
	return s.Damaged == 0 && len(s.Gaps) == 0 && len(s.Unreadable) == 0 && s.Lost == 0
}

// maxBadValues is how many are named in [ScanStats]; all are counted.
const maxBadValues = 100

// AddBad counts values that are damaged, and names the first of all.
func (s *ScanStats) AddBad(values ...BadValue) {
	s.Damaged += uint64(len(values))
	s.BadValues = append(s.BadValues, values[:min(len(values), maxBadValues-len(s.BadValues))]...)
}

// BadValue names a stored value that is damaged.
type BadValue struct {
	Partition string
	Key       []byte
	Err       error
}

// Gap says how many traces of a page, of all pages if it is "", are missing from
// a partition.
type Gap struct {
	Partition, Page string
	Expected, Found uint64
}

// Unreadable names a partition and says why it cannot be read.
type Unreadable struct {
	Partition string
	Err       error
}

// Widened is a time of which all was taken.
type Widened struct{ First, Last time.Time }
