// Package objects is the contract of places where objects are kept: a bucket in a store that speaks the protocol of
// Amazon S3, or a directory of this machine.
//
//	objects.go  Store: put under a condition, get, get a range, list, delete, probe
//	clock.go    Clock: the time of the place, whatever the machines on it say
//
// What makes many machines agree is one promise: of several who put an object under the condition that it is as they
// know it, one succeeds.
package objects
