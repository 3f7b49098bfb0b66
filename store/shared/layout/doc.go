// Package layout reads and writes the objects of a bucket, and knows the newest manifests and which segments there are.
//
// # Objects
//
//	FORMAT                                 the version of this layout, and the number of shards
//	RESTORING                              there until all of a backup is: then there is no FORMAT yet
//	seg/HOUR/INSTANCE-SEQ                  a segment: what a node received in a moment
//	quarantine/HOUR/INSTANCE-SEQ                  a segment that cannot be read
//	shard/NNN/MANIFEST                     what the pages of a shard consist of
//	shard/NNN/OLD-N                        what it was a while ago, for when it is lost
//	raw/NNN/HOUR/ID.run                    traces of an hour, by page, view and chunk; none twice
//	hours/NNN/HOUR/ID.sums                 what a run adds to the rollups of its hour, or all of them
//	days/NNN/DAY/ID.sums                   the rollups of a day
//	changes/STATE                          what is known of changes
//	changes/BAD-SUM                        what it was when it could not be read
//	deletions/open/ID, deletions/done/ID   requests to delete, and records of those that were carried out
//	deletions/open/dry/ID                  dry runs, for ten minutes after they are done
//	symbols/                               tables of symbols and uploads of builds, see package tables
//	BACKUP                                 when the last complete backup was begun
//
// An instance is one life of a node. All but manifests are put once and never changed. A manifest is replaced under the condition
// that it is as it was when its writer read it. What no manifest names does not count, so that a node may stop at any
// point: what it left is deleted a day later, or when its hour is older than retention.
//
// # Files
//
//	bucket.go     a bucket, and the manifests that are known of it
//	put.go        how objects are put and deleted
//	format.go     the format of a bucket
//	names.go      keys of objects of a shard
//	whole.go      any object, as a backup copies it
//	times.go      names of hours and days
//	changes.go    what is known of changes
//	deletions.go  requests to delete
//	manifest.go   manifests
//	extra.go      what later releases add to manifests
//	lost.go       manifests that are lost
//	old.go        copies of manifests
//	row.go        a trace under one of its pages
//	segment.go    segments
//	listing.go    which segments there are
//	run.go        runs
//	packed.go     runs of closed hours, whose traces share their tables
//	keys.go       which traces are in a run
//	rollups.go    rollups of pages
//	object.go     objects of which parts are read
//	forward.go    objects that are read from front to back
//	merge.go      rows of several runs, in order
//	pages.go      what objects have of pages
//	traces.go     rollups that are made of traces
package layout
