package shared

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// An unreadable segment does not block others. After several rounds it is quarantined unchanged,
// and that is reported.
func TestBadSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond, Shards: 2})
		garbage := bytes.Repeat([]byte("x"), 60)
		bad := layout.Segment{Hour: layout.HourOf(n.Now()), Instance: "0123456789ab", Seq: 1}
		if _, err := n.b.Put(t.Context(), bad.Key(), garbage, objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		appendTo(t, n, 1, 2)
		got := map[byte]int{}
		// The node may leave the shard of /a to the other node for some rounds.
		for round := 0; round < 3 && len(got) < 2; round++ {
			settleNode(t.Context(), n, 1)
			got = countOf(t, n)
		}
		if len(got) != 2 {
			t.Errorf("the other segments are not rolled up: %v", got)
		}
		if v := verified(t, n); len(v.Findings) != 1 || v.Findings[0].Object != bad.Key() {
			t.Errorf("verify: %+v", v.Findings)
		}
		settleNode(t.Context(), n, 3+6) // it counts as a segment of another node, which has a share of the shards
		appendTo(t, n, 3)
		settleNode(t.Context(), n, 1)
		if keys := keysUnder(t, n, layout.Segments); len(keys) > 0 {
			t.Errorf("the segment was not moved: %v", keys)
		}
		if got, err := n.b.Get(t.Context(), bad.QuarantineKey(), 100, ""); err != nil ||
			!bytes.Equal(got.Body, garbage) {
			t.Errorf("quarantined: %v", err)
		}
		v := verified(t, n)
		if err := n.Unready(); err != nil || n.Counters().QuarantinedSegments != 1 || len(v.Findings) != 1 ||
			v.Findings[0].Object != bad.QuarantineKey() {
			t.Errorf("%v, %d, %+v", err, n.Counters().QuarantinedSegments, v.Findings)
		}
		time.Sleep(2 * time.Hour)
		settleNode(t.Context(), n, 3)
		if m, _, err := n.b.Manifest(t.Context(), layout.ShardOf("/a", 2), 0); err != nil || !m.Hours[bad.Hour].Sealed {
			t.Errorf("its hour is not closed: %v", err)
		}
	})
}

// If a segment is damaged in part, the shards that can read their part roll it up. Once it is
// restored, the other shards roll it up.
func TestSegmentBadInPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond, Shards: 2})
		pages := map[int]string{}
		for _, p := range testPages {
			pages[layout.ShardOf(p, 2)] = p
		}
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 1)
		b := &layout.Batch{}
		for i, p := range pages {
			rec := testRecord(byte(10+i), p)
			rec.Payload = bytes.Repeat(rec.Payload, 50)
			b.Rows = append(b.Rows, layout.RowsOf(&rec, 0)...)
		}
		k, body := segmentWith(t, n, "0123456789ab", 1, b)
		broken := bytes.Clone(body)
		broken[3] ^= 1 // in the first block
		if _, err := n.b.Put(t.Context(), k, broken, objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		settleNode(t.Context(), n, 3+6) // as above
		if got := countOf(t, n); got[1] != 1 || got[10]+got[11] != 1 || len(keysUnder(t, n, layout.Quarantine)) != 1 {
			t.Errorf("got %v", got)
		}
		if _, err := n.b.Put(t.Context(), k, body, objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		settleNode(t.Context(), n, 7)
		if got := countOf(t, n); got[10] != 1 || got[11] != 1 {
			t.Errorf("after restoring the segment: %v", got)
		}
	})
}
