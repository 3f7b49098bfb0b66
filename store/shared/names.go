package shared

import "crypto/rand"

// Keys of objects of a shard.
func manifestKey(shard int) string { return "shard/" + shardName(shard) + "/MANIFEST" }
func runKey(shard int, hour string, id string) string {
	return "raw/" + shardName(shard) + "/" + hour + "/" + id + ".run"
}
func sumsKey(shard int, hour string, id string) string {
	return "hours/" + shardName(shard) + "/" + hour + "/" + id + ".sums"
}
func daySumsKey(shard int, day string, id string) string {
	return "days/" + shardName(shard) + "/" + day + "/" + id + ".sums"
}

// newID names an object that is put once.
func newID() string { return rand.Text() }
