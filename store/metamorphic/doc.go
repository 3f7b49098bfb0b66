// Package metamorphic tests a store as a whole, from outside: random operations, one after the
// other and many at a time, whose answers are compared with those of a plain model in memory.
// Both homes of a store pass it: a directory of objects, killed and with a full disk, and a bucket that one
// to three nodes share, whose object store refuses requests, tears bodies, and answers late or not
// at all.
//
// It holds tests alone. Each run prints its seed. To repeat one, or to run for longer:
//
//	go test ./store/metamorphic -run /directory/alone -metamorphic.seed 7
//	METAMORPHIC_FOR=10m go test ./store/metamorphic -run /bucket -timeout 0
//
// Runs of one goroutine repeat exactly on a directory. Runs of many repeat their operations, and
// not the order in which these meet; nor do the nodes of a bucket, which work side by side.
package metamorphic
