package layout

import "crypto/rand"

// ManifestKey returns the key of the manifest of a shard, such as shard/007/MANIFEST.
func ManifestKey(shard int) string { return "shard/" + ShardName(shard) + "/MANIFEST" }

// RunsOf returns the prefix of the keys of all runs of a shard.
func RunsOf(shard int) string { return "raw/" + ShardName(shard) + "/" }

// RunKey returns the key of a run, such as raw/007/20261129T15/ID.run.
func RunKey(shard int, hour string, id string) string {
	return RunsOf(shard) + hour + "/" + id + ".run"
}

// HourKey returns the key of rollups of an hour.
func HourKey(shard int, hour string, id string) string {
	return "hours/" + ShardName(shard) + "/" + hour + "/" + id + ".sums"
}

// DayKey returns the key of rollups of a day.
func DayKey(shard int, day string, id string) string {
	return "days/" + ShardName(shard) + "/" + day + "/" + id + ".sums"
}

// NewID returns a new random id for an object.
func NewID() string { return rand.Text() }
