// Package deletion defines requests to delete traces, and which traces and parts of traces they
// select.
//
// A request is an object, deletions/open/ID. It is written before anything is deleted, so that the
// node that rolls up a shard applies it there, even after a crash. The progress in a shard is part
// of its manifest, which is replaced together with the data, so the deletion is applied exactly
// once. When all shards are done, a record with the counts replaces the request.
//
//	deletion.go  a request, and its selection
//	objects.go   requests and records in a bucket
//	match.go     matching traces
//	without.go   removing a page from a trace
package deletion
