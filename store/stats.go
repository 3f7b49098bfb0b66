package store

import "time"

// ScanStats describe what a query has read, and what it could not read.
type ScanStats struct {
	Partitions int    // hours whose traces were read
	Days       int    // days whose rollups were read
	Hours      int    // hours whose rollups were read
	RolledUp   uint64 // traces that the rollups count; a trace of two pages counts twice
	Traces     uint64 // traces passed to the callback
	Skipped    uint64 // traces that were read, but received at another time
	Bytes      uint64 // stored size of the data that was read

	// Damaged is the number of damaged traces, which are not returned. BadValues are the first of
	// them.
	Damaged   uint64
	BadValues []BadValue

	// Gaps are traces that the catalogue counts but that were not found.
	Gaps []Gap

	// Unreadable are partitions that could not be read completely.
	Unreadable []Unreadable

	// Widened are times that were included as a whole although the query covers only a part,
	// because their traces are deleted.
	Widened []Widened

	// Behind is the age of the result: traces that were received later may be missing. It is at
	// most the lag of the query.
	Behind time.Duration

	// Lost is the number of acknowledged traces, of any page, that were lost in a crash in the
	// partitions of the query.
	Lost uint64
}

// Complete reports whether the query has read all traces that were ever stored.
func (s *ScanStats) Complete() bool {
	return s.Damaged == 0 && len(s.Gaps) == 0 && len(s.Unreadable) == 0 && s.Lost == 0
}

// maxBadValues is the maximum number of BadValues in [ScanStats]; Damaged counts all of them.
const maxBadValues = 100

// AddBad counts damaged values, and records the first ones.
func (s *ScanStats) AddBad(values ...BadValue) {
	s.Damaged += uint64(len(values))
	s.BadValues = append(s.BadValues, values[:min(len(values), maxBadValues-len(s.BadValues))]...)
}

// BadValue is a damaged value.
type BadValue struct {
	Partition string
	Key       []byte
	Err       error
}

// Gap is the number of missing traces of a page in a partition. Page is "" for all pages.
type Gap struct {
	Partition, Page string
	Expected, Found uint64
}

// Unreadable is a partition that could not be read, with the error.
type Unreadable struct {
	Partition string
	Err       error
}

// Widened is a time that was included as a whole.
type Widened struct{ First, Last time.Time }
