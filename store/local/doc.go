// Package local is the engine of a data directory: it keeps traces on disk until retention
// deletes them, and their sums for longer. Package store says what may be relied on.
//
// A trace is bytes to it, until [Store.Roll] adds it to the rollups of its pages (package
// rollup). [Reader.Select] reads rollups instead of traces where it can.
//
// # Promises
//
// [Store.Append] returns after the traces survive kill -9 and, on Linux with an honest disk,
// power loss. A trace is stored once for each [store.ID], however often it is delivered, if the
// deliveries fall into the newest partition and the one before it. What was stored and
// cannot be read back is counted and reported by [Reader.Scan] and [Reader.Status]. It is
// never returned changed, and never left out in silence.
//
// # Layout
//
// A data directory holds one Badger directory for each aligned hour (or [Options.Partition])
// in which something was received, one file with the sums of the hours of a day, and one
// with the sums of the days of a month:
//
//	DIR/FORMAT                the version of this layout
//	DIR/LOCK                  locked by whoever has the directory open
//	DIR/BALLAST               space set aside, released when a start finds too little
//	DIR/20261121T08/          a closed partition of traces, opened read-only on demand
//	DIR/20261121T09/          the one before the newest: commits look for repeats in it
//	DIR/20261121T10/          the newest partition, the only one that gets traces
//	DIR/20261121T11/          the next one, made shortly before its time
//	DIR/20261121T11.ahead     says that it is not in use yet
//	DIR/20261121T10/COMMITS   one small record for each commit, beside Badger
//	DIR/20261121T08/CLEAN     what is known of a partition that was closed
//	DIR/20261121T07.corrupt/  a partition that could not be opened
//	DIR/20261121.hours.sums   sums of the partitions of a day
//	DIR/202611.days.sums      sums of the days of a month
//	DIR/symbols/              symbols of builds, see package tables: nothing here looks at them
//
// docs/storage.md has keys, values and reasons, and docs/sums.md the files of sums.
//
// # Packages below
//
// Each imports those further down alone:
//
//	read       answers to queries
//	snapshot   backup and restore
//	head       running sums of the pages of the newest partition
//	rollups    files of sums of closed hours and days
//	part       the life of partitions of traces; the only package that knows Badger
//	record     keys, values, checksums and compression: values into bytes and back
//
// # Files
//
// Opening and closing:
//
//	store.go      Reader and Store: open, recover, close
//	options.go    how a directory is opened
//	format.go     FORMAT: the version of a directory
//
// What goes in:
//
//	append.go     the queue
//	commit.go     the committer: the only goroutine that writes; maintenance
//	write.go      what a transaction of traces holds
//	outcomes.go   page views without a trace
//	vitals.go     how page views were for visitors
//	watch.go      what goes on, and whether it is stuck
//
// What comes out:
//
//	status.go     the state of a directory, counters, room
//	backup.go     a copy while the store goes on
//	load.go       a directory is made of what another store has
//	loadhour.go   and a partition of it
//
// What is summed up and deleted, and when:
//
//	roll.go       Roll, and the newest partition
//	rollsums.go   files of sums of closed partitions
//	rolldays.go   files of sums of days
//	clock.go      whether the time is believed for deleting
//	retention.go  what to delete: pure functions, and doing it
package local
