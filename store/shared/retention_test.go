package shared

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// The only node of a bucket is killed and restarted, and the site has no visitors any more. Traces
// must still expire, although an instance that is gone owns the shard.
func TestRetentionWithoutOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		o := Options{Flush: time.Millisecond, Shards: 1, Retention: 3 * time.Hour}
		n := openNode(t, s, o)
		if _, err := n.Append(t.Context(), []store.Record{testRecord(1, "/a"), testRecord(2, "/a")}); err != nil {
			t.Fatal(err)
		}
		settleNode(t.Context(), n, 2)
		before := countUnder(t, n, "raw/")
		// The process is killed, so it does not release its shards. The next one has another
		// instance id.
		n = openNode(t, s, o)
		for range 48 {
			time.Sleep(time.Hour)
			settleNode(t.Context(), n, 2)
		}
		if after := countUnder(t, n, "raw/"); after > 0 {
			t.Errorf("two days later %d of %d runs are left, with a retention of %v", after, before, o.Retention)
		}
	})
}
