// Package disk has the filesystem functions that the store needs beyond package os:
// durable atomic writes, a lock on a directory, and checks of the free space.
package disk
