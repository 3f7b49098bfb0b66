// Package store keeps traces on disk until retention deletes them.
//
// It is the only part of the program that knows Badger. It stores bytes: what a
// payload means is the business of the layer above it.
//
// # Layout
//
// A data directory holds one Badger directory for each aligned hour (or
// [Options.Partition]) in which something was received:
//
//	DIR/FORMAT                the version of this layout
//	DIR/LOCK                  locked by whoever has the directory open
//	DIR/20261121T09/          a sealed partition, opened read-only on demand
//	DIR/20261121T10/          the newest partition, the only one written to
//	DIR/20261121T10/COMMITS   one small record for each commit, beside Badger
//	DIR/20261121T10/CLEAN     present while the partition is cleanly closed
//	DIR/20261121T08.corrupt/  a partition that could not be opened
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
//	r │ …                                       rollups (reserved)
//	s │ …                                       symbol tables (reserved)
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
