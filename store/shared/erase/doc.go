// Package erase applies requests to delete in a shard. It rewrites runs without the selected
// traces, rebuilds the rollups of their pages, and deletes from days whose hours have expired. The
// progress is part of the manifest, so each step is applied exactly once, even after a crash.
//
//	erase.go  the steps of a request: hours, days, then orphaned runs
//	hour.go   rewriting the objects of an hour or a day without the deleted data
package erase
