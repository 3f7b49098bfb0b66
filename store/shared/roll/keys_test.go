package roll

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// A node that runs for a day keeps only the keys of hours that still receive traces in memory.
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
			if len(n.Shards[0].keys) == 0 {
				t.Errorf("after %d hours no keys are in memory", hour+1)
			}
			for k := range n.Shards[0].keys {
				if name := layout.HourOfKey(k); name < layout.HourAfter(layout.HourOf(n.Bucket.Now()), -2) {
					t.Errorf("after %d hours the keys of %s are in memory", hour+1, name)
				}
			}
		}
	})
}
