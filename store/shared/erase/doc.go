// Package erase carries out requests to delete in a shard: it writes runs without the traces that a
// request selects, makes the rollups of their pages again, and deletes from days that have outlived
// their hours. Progress is part of the manifest, so that each step happens once, also after a crash.
//
//	erase.go  the steps of a request: hours, days, then orphaned runs
//	hour.go   the objects of an hour or a day without what is deleted
package erase
