// Package shared stores the traces of any number of nodes in one bucket, or of one node in a
// directory. Nodes do not communicate with each other. They coordinate through manifests in the
// bucket.
//
// # Guarantees
//
// [Node.Append] returns once the traces are in the bucket. From then on they survive the loss of
// every node, and are as durable as the bucket. A trace that is sent more than once, to any nodes,
// counts once if all copies are received in the same hour or the one before. Rollups equal the sum
// of their traces exactly.
//
// # Data flow
//
// Every node writes the traces that it receives as segments (package write). Usually one node rolls
// up a shard (package roll): it reads the segments that the manifest does not have, drops
// duplicates, writes a run and its contribution to the rollups, and replaces the manifest. If two
// nodes do this concurrently, one of them succeeds, and the other has done its work in vain. So no
// node needs to know which others are alive. Every node answers queries (package read). Package
// layout defines the objects in the bucket. A directory on one machine is such a bucket, with one
// node.
//
// # Files
//
//	node.go       a node, and a reader
//	options.go    configuration
//	place.go      opening a bucket or a directory
//	before.go     the state of a directory before a restore
//	health.go     counters, readiness and warnings of a node
//	symbols.go    files of symbols
//	changes.go    the state of change detection
//	deletions.go  requests to delete
//	backed.go     the time of the last backup
//
//	layout    the objects of a bucket
//	write     turns incoming traces into segments
//	roll      turns segments into runs and rollups
//	erase     applies requests to delete to a shard
//	read      answers queries
//	deletion  requests to delete
//	backup    writes and restores a backup
//	check     verifies and repairs a bucket
package shared
