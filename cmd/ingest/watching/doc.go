// Package watching has a daemon find changes after each hour, and tell of them.
//
//	watching.go  Watcher: evaluates, and serves what is known
//	cause.go     why a change may be
//	metrics.go   how that goes, as metrics
//	telling.go   sends what is due to the channels
//	message.go   what is told of a change
package watching
