// Package directory keeps objects in a directory of this machine, as [objects.Store] says: a file for each, of the name that
// its key is, but for those that are there for a short time, under [objects.Fresh], which package commits keeps in Badger. So a
// directory whose daemon has rolled up all holds the same files as a bucket, and any tool that copies files moves one into the other.
//
//	directory.go  Directory: its lock, its time of last use, its room
//	put.go        put and delete
//	get.go        get, and get a range
//	list.go       keys in the order of a bucket
//	location.go   file:///DIR
//
// Objects are put by a file that is renamed when it is on the disk. One process at a time writes, which a lock sees to;
// others may read meanwhile, since objects but for a few are put once.
package directory
