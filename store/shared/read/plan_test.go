package read

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// Planning never panics for a manifest that can be decoded.
func FuzzPlan(f *testing.F) {
	b, err := layout.Create(f.Context(), fakebucket.New(1).Client().Bucket(time.Now), layout.Options{Shards: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"hours":{"20261123T10":{"runs":[{"id":"x","rows":1,"size":2}],"traces":1}}}`))
	f.Add([]byte(`{"days":{"20261123":{"sources":["20261123T10"]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := &layout.Manifest{}
		if json.Unmarshal(text, m) != nil {
			return
		}
		body, err := m.Encode(b.Codec, 0)
		if err != nil {
			return
		}
		if m, err = b.DecodeManifest(0, body); err != nil {
			return
		}
		for _, noRollups := range []bool{false, true} {
			for _, p := range planOf(m, 0, time.Time{}, time.Time{}, noRollups) {
				_ = p.within(time.Time{}, time.Now())
			}
		}
	})
}

// An hour or a day of several shards counts once.
func TestCount(t *testing.T) {
	x := &reading{}
	for shard := range 3 {
		for _, p := range []piece{{name: "20261125T10"}, {name: "20261125T11"}, {name: "20261125T11", isTraces: true},
			{name: "20261124", isDay: true}} {
			p.shard = shard
			x.count(&fetched{piece: p})
		}
	}
	if x.stats.Hours != 2 || x.stats.Partitions != 1 || x.stats.Days != 1 {
		t.Errorf("got %+v", x.stats)
	}
}
