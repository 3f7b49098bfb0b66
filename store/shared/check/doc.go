// Package check finds out what is wrong with all that a store has, and makes again what can be.
//
//	verify.go     what is wrong with a store
//	hourcheck.go  and with an hour of it
//	repair.go     what can be made again
//	remake.go     rollups that are made again
//	restore.go    manifests that are brought back
//	adopt.go      traces that no manifest names
package check
