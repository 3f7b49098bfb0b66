package layout

import "slices"

// Origin names what was imported: an hour or a day of a directory, by its time and when the first of it was received,
// which no other directory shares. It stays the same when the traces are deleted and their rollups are left.
type Origin struct {
	Start int64 `json:"start"` // µs since the epoch, as all times
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	Day   bool  `json:"day,omitempty"`
	// Untraced is the object of rollups that has what was imported beside traces, if there may be more of that later.
	Untraced string `json:"untraced,omitempty"`
}

// SameAs reports whether both are of the same directory and time, of which there may be more by now.
func (o Origin) SameAs(x Origin) bool {
	return o.Start == x.Start && o.First == x.First && o.Day == x.Day
}

// FindOrigin returns what was imported of a time of the directory that x is of.
func FindOrigin(list []Origin, x Origin) (Origin, bool) {
	i := slices.IndexFunc(list, x.SameAs)
	if i < 0 {
		return Origin{}, false
	}
	return list[i], true
}

// UntracedKey returns the key of what was imported of an hour beside traces.
func (o *Origin) UntracedKey(shard int, hour string) string { return HourKey(shard, hour, o.Untraced) }
