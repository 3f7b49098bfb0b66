// Package faultyfs provides a file system whose operations fail on demand, and a test that makes
// each operation of an activity fail once. It follows the package errorfs of cockroachdb/pebble.
//
//	faultyfs.go  FS: counts operations, and makes some of them fail
//	sweep.go     Sweep: one run of an activity for each operation and each kind of fault
package faultyfs
