// Package store is the contract of where traces are kept: what goes in, what comes out, and
// what may be relied on. Package shared keeps it, with objects in a directory of one machine or in a bucket that machines
// share. This package opens nothing and stores nothing.
//
// A trace is bytes to a store, until it is added to the rollups of its pages (package
// rollup). Queries read rollups instead of traces where they can, and rollups are kept longer.
//
// # Promises
//
// [Writer.Append] returns after the traces are durable; [AppendResult.Durability] says what
// they survive. A trace is stored once for each [ID], however often it is delivered within
// an hour. What was stored and cannot be read back is never returned changed, and never left
// out in silence: it is in the [ScanStats].
//
// # Packages below
//
//	shared     the engine: what comes, rolling up, queries, backup, verify
//	objects    the contract of places for objects
//	bucket     a bucket of an S3-compatible object store
//	directory  a directory of this machine
//	commits    what came a moment ago, in Badger
//	block      the file format of objects
//
// Package metamorphic holds tests of the contract, which the engine passes in both homes.
//
// # Files
//
//	store.go      the interfaces: Writer, Reader, Scanner and Store
//	document.go   one object that nodes replace as a whole
//	record.go     a trace on its way in or out, and its limits
//	append.go     what became of traces that were to be stored
//	counts.go     page views without a trace, and Web Vitals, until they are stored
//	tags.go       what the catalogue counts of a trace
//	query.go      what is asked for, and what comes back
//	stats.go      what a query has read, and should have
//	catalog.go    which pages and tags there are
package store
