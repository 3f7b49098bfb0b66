// Package check finds damage in a bucket, and repairs it as far as possible.
//
//	verify.go     finding damage
//	hourcheck.go  finding damage in an hour
//	repair.go     the steps of a repair
//	remake.go     rebuilding the rollups of a day
//	restore.go    restoring manifests
//	adopt.go      adding traces that no manifest names
package check
