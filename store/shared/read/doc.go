// Package read answers queries about a bucket.
//
//	reader.go     Select and Scan
//	plan.go       what a query reads
//	fetch.go      what of it is read ahead
//	catalog.go    which pages and tags there are; versions
//	unread.go     what could not be read, for log and metrics
//	cache.go      what queries have read
//	diskcache.go  the same on a disk
package read
