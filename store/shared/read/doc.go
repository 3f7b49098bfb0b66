// Package read answers queries from a bucket.
//
//	reader.go     Select and Scan
//	plan.go       which objects a query reads
//	fetch.go      reading ahead
//	catalog.go    pages and tags, and versions of the data
//	unread.go     logging and counting unreadable data
//	cache.go      a cache of parts of objects in memory
//	diskcache.go  a cache of parts of objects on disk
package read
