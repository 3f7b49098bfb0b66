// Package metamorphic tests the store as a whole, from outside: random operations, one after
// the other and many at a time, whose answers are compared with those of a plain model in
// memory.
//
// It holds tests alone. Each run prints its seed. To repeat one, or to run for longer:
//
//	go test ./store/metamorphic -run /alone -metamorphic.seed 7
//	METAMORPHIC_FOR=10m go test ./store/metamorphic -timeout 0
//
// Runs of one goroutine repeat exactly. Runs of many repeat their operations, and not the
// order in which these meet.
package metamorphic
