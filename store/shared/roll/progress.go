package roll

import (
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Progress describes the work of an instance since its start, and the state of its shards.
type Progress struct {
	RolledUp, Duplicates, Unreadable uint64 // numbers of rows
	LostRaces                        uint64 // races for a manifest that another instance won
	QuarantinedSegments              uint64 // that this instance quarantined
	LostSegments                     uint64 // that were acknowledged but are missing
	Quarantined                      int    // unreadable runs and rollups, of all shards

	Shards  int             // that this instance rolls up
	Lags    []time.Duration // by shard: age of the oldest segment that is not rolled up
	Waiting []int           // by shard: number of segments that are not rolled up
	Open    []time.Duration // by shard: time since the end of the oldest open hour
	Lost    int             // number of shards whose manifest is lost
}

// Progress returns counters of this instance, and the state of all shards as far as their manifests
// are known.
func (n *Roller) Progress() Progress {
	p := Progress{RolledUp: n.did.rolled.Load(), Duplicates: n.did.duplicates.Load(),
		Unreadable: n.did.unreadable.Load(), LostRaces: n.did.lost.Load(),
		QuarantinedSegments: n.did.quarantined.Load(), LostSegments: n.did.gone.Load(),
		Quarantined: len(n.Quarantined()), Shards: n.led()}
	for shard := range n.Bucket.Shards {
		m, lost := n.Bucket.NewestKnown(shard)
		if lost != nil {
			p.Lost++
		}
		lag, waiting := n.waiting(m)
		p.Lags, p.Waiting, p.Open = append(p.Lags, lag), append(p.Waiting, waiting), append(p.Open, n.open(m))
	}
	return p
}

// waiting returns the number of segments that a shard has not rolled up, and the age of the oldest
// of them.
func (n *Roller) waiting(m *layout.Manifest) (lag time.Duration, count int) {
	l := n.Bucket.LastListing()
	if m == nil || l == nil {
		return 0, 0
	}
	now := n.Bucket.Now()
	for _, s := range l.List {
		if !m.Has(s.Segment) {
			count++
			lag = max(lag, now.Sub(s.Modified))
		}
	}
	return lag, count
}

// open returns the time since the end of the oldest open hour.
func (n *Roller) open(m *layout.Manifest) (out time.Duration) {
	if m == nil {
		return 0
	}
	now := n.Bucket.Now()
	for name, h := range m.Hours {
		if start, err := layout.ParseHour(name); err == nil && !h.Sealed {
			out = max(out, now.Sub(start.Add(time.Hour)))
		}
	}
	return out
}
