package shared

import "slices"

// origin names what was imported: an hour or a day of a directory, by its time and when the first of it was received,
// which no other directory shares. It stays the same when the traces are deleted and their sums are left.
type origin struct {
	Start int64 `json:"start"` // µs since the epoch, as all times
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	Day   bool  `json:"day,omitempty"`
	// Untraced is the object of sums that has what was imported beside traces, if there may be more of that later.
	Untraced string `json:"untraced,omitempty"`
}

// sameAs reports whether both are of the same directory and time, of which there may be more by now.
func (o origin) sameAs(x origin) bool {
	return o.Start == x.Start && o.First == x.First && o.Day == x.Day
}

// findOrigin returns what was imported of a time of the directory that x is of.
func findOrigin(list []origin, x origin) (origin, bool) {
	i := slices.IndexFunc(list, x.sameAs)
	if i < 0 {
		return origin{}, false
	}
	return list[i], true
}

// untracedKey returns the key of what was imported of an hour beside traces.
func (o *origin) untracedKey(shard int, hour string) string { return sumsKey(shard, hour, o.Untraced) }
