// Package layout reads and writes the objects of a bucket. It caches the newest manifests and the
// newest listing of segments.
//
// # Objects
//
//	FORMAT                                 the version of this layout, and the number of shards
//	RESTORING                              exists until a restore is complete
//	seg/HOUR/INSTANCE-SEQ                  a segment: traces that arrived together
//	quarantine/HOUR/INSTANCE-SEQ           a segment that cannot be read
//	shard/NNN/MANIFEST                     the objects that belong to a shard
//	shard/NNN/OLD-N                        earlier copies of the manifest, for when it is lost
//	raw/NNN/HOUR/ID.run                    traces of an hour, by page, view and chunk; distinct
//	hours/NNN/HOUR/ID.sums                 rollups of an hour, or what a run adds
//	days/NNN/DAY/ID.sums                   the rollups of a day
//	changes/STATE                          the state of change detection
//	changes/BAD-SUM                        a copy of that state that could not be read
//	deletions/open/ID, deletions/done/ID   requests to delete, and records of completed deletions
//	deletions/open/dry/ID                  dry runs, for 10 min after they finish
//	symbols/                               symbol tables and uploads of builds, see package tables
//	BACKUP                                 when the last complete backup began
//
// An instance is one run of a node process. All objects except manifests are written once and never
// changed. A manifest is replaced only if it is still the version that its writer read. Objects
// that no manifest names do not count, so a node may stop at any point: objects that it left behind
// are deleted a day later, or when their hour is older than the retention.
//
// # Files
//
//	bucket.go     a bucket, and the manifests that were read from it
//	put.go        writing and deleting objects
//	format.go     the format of a bucket
//	names.go      keys of objects of a shard
//	whole.go      objects of any kind, as a backup copies them
//	times.go      names of hours and days
//	changes.go    the state of change detection
//	deletions.go  requests to delete
//	manifest.go   manifests
//	extra.go      manifest fields that later releases add
//	lost.go       lost manifests
//	old.go        copies of manifests
//	row.go        a trace under one of its pages
//	segment.go    segments
//	listing.go    listings of segments
//	run.go        runs
//	packed.go     runs of closed hours, whose traces share their tables
//	keys.go       the keys of the traces in a run
//	rollups.go    rollups of pages
//	object.go     reading parts of objects
//	forward.go    reading objects from front to back
//	merge.go      merging the rows of several runs in order
//	pages.go      the rollups of one page in an object
//	traces.go     rollups that are rebuilt from traces
package layout
