// Package metamorphic tests a store from outside: it performs random operations, sequentially and
// concurrently, and compares the results with a simple model in memory. The tests cover both kinds
// of stores: a directory of objects, which is killed and has a full disk, and a bucket shared by
// one to three nodes, whose object store rejects requests, truncates bodies, and responds late or
// never.
//
// It contains only tests. Each run prints its seed. To repeat a run, or to run for longer:
//
//	go test ./store/metamorphic -run /directory/alone -metamorphic.seed 7
//	METAMORPHIC_FOR=10m go test ./store/metamorphic -run /bucket -timeout 0
//
// On a directory, runs of one goroutine repeat exactly. Runs of several goroutines repeat their
// operations, but not the order of these. The nodes of a bucket run concurrently, so their order
// does not repeat either.
package metamorphic
