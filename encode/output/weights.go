package output

import (
	"math"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
)

// OnTop reports whether a node with weight w was on top of a stack, and so has a sample.
func OnTop(w trie.Weight) bool { return w.Self != 0 || w.Samples != 0 }

// Nanoseconds returns µs in nanoseconds, clamped to the range of int64: 292 years.
func Nanoseconds(us int64) int64 {
	const most = math.MaxInt64 / int64(time.Microsecond)
	return min(max(us, -most), most) * int64(time.Microsecond)
}
