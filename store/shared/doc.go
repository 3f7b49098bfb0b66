// Package shared keeps traces of any number of nodes in one bucket, or of one node in a directory. The nodes know nothing of each
// other: what they agree on is what manifests in the bucket say.
//
// # Promises
//
// [Node.Append] returns when the traces are in the bucket: they survive the loss of every node, and are as
// durable as the bucket. A trace that is sent twice, to whatever nodes, counts once if it is received in the
// same hour or the one before. Rollups equal the traces that they were made of, exactly.
//
// # Who does what
//
// Every node writes segments of what it receives (package write). One node rolls a shard up, most of the time (package roll): it
// reads the segments that the manifest does not have, drops what was there before, writes a run and what it adds to the rollups, and
// replaces the manifest. If two do that, one of them succeeds, and the other one has worked in vain. So
// nobody has to know who is alive. Every node answers queries (package read). What lies in the bucket is in package layout.
// A directory of one machine is such a bucket, with one node.
//
// # Files
//
//	node.go       a node, and a reader
//	options.go    how a bucket is used
//	place.go      where objects are: a bucket, or a directory
//	before.go     a directory before a restore, which it returns to if that fails
//	health.go     what a node has done, and how it is
//	symbols.go    where symbols are
//	changes.go    what is known of changes
//	deletions.go  what is deleted on request
//	backed.go     when the last backup was
//
//	layout    the objects of a bucket, and what is known of them
//	write     what comes in becomes segments
//	roll      segments become runs and rollups
//	erase     requests to delete are carried out in a shard
//	read      queries
//	deletion  what a request to delete is of
//	backup    all of it as one stream, and back
//	check     what is wrong with all of it, and what can be made again
package shared
