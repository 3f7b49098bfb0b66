// Package store defines the interface of stores for traces, and their guarantees. Package shared
// implements it, with objects in a directory on one machine or in a bucket that machines share.
// This package contains no storage itself.
//
// A store treats a trace as bytes until it adds the trace to the rollups of its pages (package
// rollup). Queries read rollups instead of traces where they can, and rollups are kept longer.
//
// # Guarantees
//
// [Writer.Append] returns once the traces are durable; [AppendResult.Durability] describes what
// they survive. A trace is stored once for each [ID], even if it is delivered repeatedly within an
// hour. A query never returns damaged data, and reports all stored data that it could not read in
// [ScanStats].
//
// # Subpackages
//
//	shared     the implementation: storing, rolling up, queries, backup, verification
//	objects    the interface of places for objects
//	bucket     a bucket in an S3-compatible object store
//	directory  a local directory
//	commits    recent segments of a directory, in Badger
//	block      the file format of objects
//
// Package metamorphic contains tests of the interface, which both a directory and a bucket pass.
//
// # Files
//
//	store.go      the interfaces: Writer, Reader, Scanner and Store
//	document.go   an object that nodes replace as a whole
//	record.go     a trace that is stored or returned, and its limits
//	append.go     results and errors of storing traces
//	counts.go     page views without a trace, and Web Vitals, before they are stored
//	tags.go       the tags of a trace
//	query.go      queries and their results
//	stats.go      statistics of a query, and what it could not read
//	catalog.go    entries of a catalogue
package store
