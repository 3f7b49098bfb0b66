// Package move is what an operator does with all of a bucket: a directory becomes part of it, or is made of it, and it is
// checked and repaired.
//
//	import.go     a directory becomes part of a bucket: what is moved when
//	addition.go   what an import adds to an hour or a day
//	intake.go     what it reads of the directory
//	grown.go      hours that have more when they are imported again
//	export.go     a bucket becomes a directory
//	verify.go     what is wrong with a bucket
//	hourcheck.go  and with an hour of it
//	repair.go     what can be made again
//	remake.go     rollups that are made again
//	restore.go    manifests that are brought back
//	adopt.go      traces that no manifest names
package move
