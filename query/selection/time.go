package selection

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseTime parses a point in time: RFC 3339 ("2026-11-21T10:00:00Z"), a date ("2026-11-21",
// midnight UTC), or the time before now as a Go duration ("90m", "1h30m") or as whole days or weeks
// ("7d", "2w"). "" is the zero time.
func ParseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	d, err := ParseAge(s)
	if err != nil || d < 0 {
		return time.Time{}, fmt.Errorf("%q is neither a duration such as 24h or 7d nor a time such as %s", s,
			"2026-11-21T10:00:00Z")
	}
	return now.Add(-d), nil
}

// ParseSince is [ParseTime] for the begin of a range. A duration of six hours or more is extended
// to the begin of the hour, in UTC: whole hours are answered from rollups, parts of an hour only by
// reading traces.
func ParseSince(s string, now time.Time) (time.Time, error) {
	t, err := ParseTime(s, now)
	if d, ageErr := ParseAge(s); err == nil && ageErr == nil && d >= wholeHours {
		t = t.Truncate(time.Hour)
	}
	return t, err
}

// wholeHours is the shortest duration that is extended to whole hours.
const wholeHours = 6 * time.Hour

// ParseAge parses a Go duration, or whole days or weeks: "7d", "2w".
func ParseAge(s string) (time.Duration, error) {
	unit := 7 * 24 * time.Hour
	n, ok := strings.CutSuffix(s, "w")
	if !ok {
		unit = 24 * time.Hour
		n, ok = strings.CutSuffix(s, "d")
	}
	if !ok {
		return time.ParseDuration(s)
	}
	count, err := strconv.ParseUint(n, 10, 63)
	if err != nil || count > uint64(math.MaxInt64/unit) {
		return 0, fmt.Errorf("%q is not a duration such as 24h or 7d", s)
	}
	return time.Duration(count) * unit, nil
}
