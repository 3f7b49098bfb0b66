// Package disk is what the store needs of a filesystem beyond package os: writes that are
// durable and all or nothing, a lock on a directory, and the knowledge of how much room is
// left, with a reserve for bad times.
package disk
