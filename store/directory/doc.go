// Package directory stores objects in a local directory. It implements [objects.Store]. Each object
// is a file whose path is the key, except short-lived objects under [objects.Fresh], which package
// commits keeps in Badger. Once a daemon has rolled up all traces, the directory has the same files
// as a bucket, and any tool that copies files can move the data from one to the other.
//
//	directory.go  Directory: its lock, its time of last use, its free space
//	put.go        put and delete
//	get.go        get, and get a range
//	list.go       keys in the order of a bucket
//	location.go   file:///DIR
//
// An object is written to a temporary file, which is renamed once it is durable. A lock ensures
// that only one process writes at a time. Other processes may read meanwhile, because all but a few
// objects are written only once.
package directory
