package roll

import (
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// Progress is what an instance has rolled up since its start, and how its shards are.
type Progress struct {
	RolledUp, Duplicates, Unreadable uint64 // rows that it rolled up, dropped, and could not read
	LostRaces                        uint64 // for manifests
	QuarantinedSegments              uint64 // that it quarantined
	LostSegments                     uint64 // that were acknowledged and are not there
	Quarantined                      int    // runs and rollups that cannot be read, of all shards

	Shards  int             // that it rolls up
	Lags    []time.Duration // how old the oldest segment is that each shard has to roll up
	Waiting []int           // how many segments each has to roll up
	Open    []time.Duration // for how long the oldest hour of each has been over and is not closed
	Lost    int             // shards whose manifest is lost
}

// Progress returns how far rolling up is, as far as that is known.
func (n *Roller) Progress() Progress {
	p := Progress{RolledUp: n.did.rolled.Load(), Duplicates: n.did.duplicates.Load(), Unreadable: n.did.unreadable.Load(), LostRaces: n.did.lost.Load(),
		QuarantinedSegments: n.did.quarantined.Load(), LostSegments: n.did.gone.Load(), Quarantined: len(n.Quarantined()), Shards: n.led()}
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

// waiting returns how many segments wait for a shard, and how old the oldest of them is.
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

// open returns for how long the oldest hour that is not closed has been over.
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
