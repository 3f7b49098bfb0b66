// Package roll turns segments into runs and rollups. It decides which instance rolls up which
// shard, compacts runs and rollups, closes hours and days, and deletes data that has expired and
// objects that no manifest names.
//
//	lead.go               which instance rolls up a shard, and when
//	shard.go              a shard and its manifest
//	add.go                adding new traces to their hour
//	series.go             splitting runs and rollups into objects of bounded size
//	compact.go            merging runs and rollups
//	pack.go               rewriting the runs of closed hours with shared tables
//	hours.go              closing hours and days, retention, and sweeps
//	deletions.go          open requests to delete, and records of completed ones
//	budget.go             deleting the oldest data when the disk is over its limit
//	keep.go               copies of manifests
//	quarantinesegment.go  segments that cannot be read
//	quarantine.go         runs and rollups that cannot be read
//	remake.go             rebuilding rollups from traces
//	failing.go            logging equal failures of a round once
//	progress.go           counters, and the state of the shards
package roll
