// Package roll turns segments into runs and rollups. It decides which instance rolls which shard up, compacts what has become
// many objects, closes hours and days, and deletes what is too old or is named by nobody.
//
//	lead.go        which instance rolls what up, and when
//	shard.go       a shard, and its manifest
//	add.go         what came in is added to its hour
//	series.go      what is too large for one object
//	compact.go     many runs and rollups become one
//	pack.go        traces of closed hours come to share their tables
//	hours.go       hours and days that are over, retention, and what is left behind
//	deletions.go   requests to delete: which are open, and the record of one that is done
//	budget.go      what goes when too much of the disk is taken
//	keep.go        copies of manifests
//	quarantinesegment.go  segments that cannot be read
//	quarantine.go  runs and rollups that cannot be read
//	remake.go      rollups that are made again of traces
//	failing.go     what goes wrong in a round, said once
//	progress.go    what was done, and how the shards are
package roll
