package store

import "time"

// lifetime is what retention knows about a partition.
type lifetime struct {
	name  string
	start time.Time
	last  time.Time // when the newest trace was received, zero if unknown
	open  bool      // being written to
}

// expired returns the partitions of which nothing is younger than retention at
// now. It only decides: deleting is done elsewhere. A partition of unknown content
// counts as full to its end.
func expired(parts []lifetime, now time.Time, width, retention time.Duration) (names []string) {
	if retention <= 0 {
		return nil
	}
	cutoff := now.Add(-retention)
	for _, p := range parts {
		last := p.last
		if last.IsZero() {
			last = p.start.Add(width)
		}
		if !p.open && last.Before(cutoff) {
			names = append(names, p.name)
		}
	}
	return names
}

// writeTarget returns the start of the partition to write to at now. newest is the
// start of the newest partition there is, zero if there is none. A clock that went
// backwards keeps writing to the newest, or, if that is sealed, to the one after
// it: a sealed partition is never written again.
func writeTarget(now, newest time.Time, sealed bool, width time.Duration) time.Time {
	at := partitionStart(now, width)
	switch {
	case newest.IsZero() || at.After(newest):
		return at
	case sealed:
		return partitionStart(newest, width).Add(width)
	}
	return newest
}
