// Package disk provides file system functions that the store needs in addition to package os:
// durable atomic writes, a lock on a directory, and checks of the free space.
package disk
