// Package watching detects changes after each hour and sends notifications. It also measures the
// cost of profiling for visitors, and reduces profiling above the limits.
//
//	watching.go  Watcher: evaluates each hour, and serves changes
//	cause.go     possible causes of a change
//	brake.go     reduces profiling where it costs too much
//	metrics.go   metrics of changes and notifications
//	telling.go   sends due notifications to the channels
//	message.go   messages about changes
package watching
