// Package deletion says what a request to delete is of, and what is left of a trace.
//
// A request is an object of its own, deletions/ID. It is put before anything is deleted, so that whoever rolls up a shard carries it out
// there, also after a crash. How far that is stands in the manifest of the shard, which changes with what is deleted: it happens once. When
// all shards are done, there is a record of what was deleted, with counts.
//
//	deletion.go  a request, and what it selects
//	objects.go   requests and records in a bucket
//	match.go     which traces a request is of
//	without.go   traces of which a part is deleted
package deletion
