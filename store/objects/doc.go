// Package objects defines the interface of places for objects: a bucket in an object store with the
// protocol of Amazon S3, or a local directory.
//
//	objects.go  Store: put under a condition, get, get a range, list, delete, probe
//	clock.go    Clock: the time of the place, independent of the clocks of its machines
//
// Nodes coordinate through one guarantee: if several of them put an object on condition that it is
// unchanged, exactly one succeeds.
package objects
