// Package watching has a daemon find changes after each hour, and tell of them. It looks what profiling costs visitors, too.
//
//	watching.go  Watcher: evaluates, and serves what is known
//	cause.go     why a change may be
//	brake.go     fewer page views are profiled where that costs too much
//	metrics.go   how that goes, as metrics
//	telling.go   sends what is due to the channels
//	message.go   what is told of a change
package watching
