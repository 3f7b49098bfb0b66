// Package write stores incoming traces, page views without a trace, and Web Vitals as segments of a
// bucket.
//
//	append.go  storing traces
//	count.go   page views without a trace, and Web Vitals
//	spool.go   segments that the store does not accept at the moment
//	stored.go  acknowledged segments that are not rolled up yet
package write
