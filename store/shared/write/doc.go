// Package write stores what comes in: traces, page views without a trace, and Web Vitals become segments of a bucket.
//
//	append.go  traces, until they are in a segment in the bucket
//	count.go   page views without a trace, and Web Vitals
//	spool.go   segments that the store does not take now
//	stored.go  segments that were acknowledged and are not rolled up yet
package write
