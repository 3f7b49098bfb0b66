package roll

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// A node that runs for a day keeps the keys of the hours that are under way, and of no others.
func TestKeysInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestRoller(t, fakebucket.New(1).Client().Bucket(time.Now))
		payload := testPayload(t, "/a")
		sent := 0
		for hour := range 24 {
			for minute := range 60 {
				b := &layout.Batch{}
				for range 10 {
					sent++
					x := layout.Row{Page: "/a", Received: n.Bucket.Now().UnixMicro(), Payload: payload}
					binary.BigEndian.PutUint64(x.ID.View[:], uint64(sent)*0x9E3779B97F4A7C15)
					b.Rows = append(b.Rows, x)
				}
				putSegment(t, n.Bucket, uint64(1+60*hour+minute), b)
				n.Round(t.Context(), Work{Close: true})
				time.Sleep(time.Minute)
			}
			keys := 0
			for _, x := range n.Shards[0].keys {
				keys += x.Count()
			}
			if keys == 0 || keys > 3*600 {
				t.Errorf("after %d hours the keys of %d traces are in memory, want those of three hours at most", hour+1, keys)
			}
		}
	})
}
