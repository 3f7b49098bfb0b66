package shared

import (
	"strings"
	"time"
)

// Hours and days are named by when they begin, in UTC.
const (
	hourFormat = "20060102T15"
	dayFormat  = "20060102"
)

func hourOf(t time.Time) string { return t.UTC().Format(hourFormat) }

func parseHour(s string) (time.Time, error) { return time.Parse(hourFormat, s) }

// hourAfter returns the hour that is n hours after one.
func hourAfter(hour string, n int) string {
	t, err := parseHour(hour)
	if err != nil {
		return hour // never: manifests are checked
	}
	return hourOf(t.Add(time.Duration(n) * time.Hour))
}

// dayOf returns the day of an hour.
func dayOf(hour string) string { return hour[:len(dayFormat)] }

// hourOfKey returns the hour or day in the key of an object of a shard.
func hourOfKey(key string) string {
	part := strings.Split(key, "/")
	if len(part) < 3 {
		return ""
	}
	return part[2]
}

// isOver reports whether an hour is over since so long.
func isOver(hour string, since time.Duration, now time.Time) bool {
	start, err := parseHour(hour)
	return err == nil && !now.Before(start.Add(time.Hour+since))
}

// expired reports whether all of an hour is older than what is kept for so long.
func expired(hour string, kept time.Duration, now time.Time) bool {
	start, err := parseHour(hour)
	return err == nil && kept > 0 && now.Sub(start) > kept+time.Hour
}

// sureOfTime is more than what the time of the store is known to.
const sureOfTime = 2 * time.Second
