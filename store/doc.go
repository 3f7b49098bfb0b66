// Package store keeps traces on disk until retention deletes them, and what they sum up to
// for longer.
//
// It is the only part of the program that knows Badger. A trace is bytes to it, until
// [Store.Roll] adds it to the rollups of its pages (package rollup), which [Reader.Select]
// reads instead of traces where it can.
//
// # Layout
//
// A data directory holds one Badger directory for each aligned hour (or
// [Options.Partition]) in which something was received, one for the rollups of the
// partitions of a day, and one for the rollups of the days of a month:
//
//	DIR/FORMAT                the version of this layout
//	DIR/LOCK                  locked by whoever has the directory open
//	DIR/BALLAST               space set aside, released when a start finds too little
//	DIR/20261121T09/          a sealed partition, opened read-only on demand
//	DIR/20261121T10/          the newest partition, the only one written to
//	DIR/20261121T10/COMMITS   one small record for each commit, beside Badger
//	DIR/20261121T10/CLEAN     present while the partition is cleanly closed
//	DIR/20261121T08.corrupt/  a partition that could not be opened
//	DIR/20261121.hours/       rollups of partitions
//	DIR/202611.days/          rollups of days
//
// A partition goes away by deleting its directory, because Badger does not give
// the space of expired time-ordered keys back.
//
// # Keys
//
// The first byte of a key is its kind:
//
//	t │ page │ 0x00 │ view [16] │ chunk u32     a trace
//	i │ view [16] │ chunk u32                   a trace with this id is here
//	c │ page │ 0x00 │ tag key │ 0x00 │ tag value  catalogue
//	n │ number u64                              a commit
//	d │ id u32 │ copy u8                        compression dictionary
//	o │ page │ 0x00 │ outcome                   page views without a trace
//	r │ page │ 0x00 │ start u32 │ level │ part u16  a rollup
//	s │ page │ 0x00 │ piece u32 │ part u16      stacks that the rollups of a page share
//	w │ page                                    how far a page is rolled up
//	h │ start u32                               what a partition of rollups has
//	k │ start u32 │ page │ …                    its copy of a catalogue
//
// docs/storage.md has the values.
//
// # Files
//
// What goes in: append.go, write.go, commit.go, dictionary.go. What comes out: scan.go,
// select.go, catalog.go. Rollups: roll.go (of the partition that is written to),
// rollclosed.go (of partitions and days that are over), rolled.go (the partitions that hold
// them), tail.go, stacks.go, pack.go. What to read, roll up and delete: plan.go,
// retention.go. Partitions and who uses them: partition.go, shelf.go, recover.go, badger.go.
//
// # Promises
//
// [Store.Append] returns after the traces survive kill -9 and, on Linux with an
// honest disk, power loss. A trace is stored once for each [ID], however often it
// is delivered, if the deliveries fall into the newest partition and the one
// before it. What was stored and cannot be read back is counted and reported by
// [Reader.Scan] and [Reader.Status]; it is never returned changed, and never left
// out in silence.
package store
