// Package shared keeps traces of any number of machines in one bucket. The machines know nothing of each
// other: what they agree on is what manifests in the bucket say.
//
// # Promises
//
// [Node.Append] returns when the traces are in the bucket: they survive the loss of every machine, and are as
// durable as the bucket. A trace that is sent twice, to whatever machines, counts once if it is received in the
// same hour or the one before. Sums equal the traces that they were made of, exactly.
//
// # Objects
//
//	FORMAT                                 the version of this layout, and the number of shards
//	seg/HOUR/BOOT-SEQ                      a segment: what a machine received in a moment
//	bad/HOUR/BOOT-SEQ                      a segment that can not be read, of which nothing else is known
//	shard/NNN/MANIFEST                     what the pages of a shard consist of
//	shard/NNN/OLD-N                        what it was a while ago, for when it is lost
//	raw/NNN/HOUR/ID.run                    traces of an hour, by page, view and chunk; none twice
//	hours/NNN/HOUR/ID.sums                 what a run adds to the sums of its hour, or all of them
//	days/NNN/DAY/ID.sums                   the sums of a day
//	symbols/                               what package tables has in a folder
//
// All but manifests are put once and never changed. A manifest is replaced under the condition that it is as
// it was when its writer read it. What no manifest names does not count, so that a machine may stop at any
// point: what it left is deleted a day later, or when its hour is older than retention.
//
// # Who does what
//
// Every machine writes segments of what it receives. One machine rolls a shard up, most of the time: it reads the
// segments that the manifest does not have, drops what was there before, writes a run and what it adds to the sums, and
// replaces the manifest. If two do that, one of them succeeds, and the other one has worked in vain. So
// nobody has to know who is alive.
//
// # Files
//
//	fleet.go     a machine, and a reader
//	format.go    the format of a bucket
//	options.go   how a bucket is used, and the times of the protocol
//	append.go    what comes in, until it is a segment in the bucket
//	spool.go     segments that the store does not take now
//	count.go     page views without a trace, and Web Vitals
//	segment.go   segments
//	row.go       a trace under one of its pages
//	manifest.go  manifests
//	extra.go     what later releases add to them
//	health.go    what a machine has done, and how it is
//	failing.go   what goes wrong in a round, said once
//	listing.go   which segments there are
//	aside.go     segments that can not be read
//	lead.go      which machine rolls what up, and when
//	roller.go    rolling up
//	run.go       runs, and who knows what is in them
//	series.go    what is too large for one object
//	forward.go   objects that are read from front to back
//	merge.go     rows of several runs, in order
//	sums.go      sums
//	fold.go      many runs and sums become one
//	hours.go     hours and days that are over, retention, and what is left behind
//	import.go    a directory becomes part of a bucket: what is moved when
//	addition.go  what an import adds to an hour or a day
//	intake.go    what it reads of the directory
//	grown.go     hours that have more when they are imported again
//	export.go    a bucket becomes a directory again
//	verify.go    what is wrong with a bucket
//	hourcheck.go and with an hour of it
//	repair.go    what can be made again
//	old.go       manifests that are kept, and come back
//	adopt.go     traces that no manifest names
//	plan.go      what a question reads
//	reader.go    Select and Scan
//	fetch.go     what of it is read ahead
//	symbols.go   where symbols are
//	cache.go     what questions have read
//	diskcache.go the same on a disk
//	catalog.go   which pages and tags there are; versions
package shared
