package layout

import (
	"strings"
	"time"
)

// Hours and days are named by their start, in UTC.
const (
	hourFormat = "20060102T15"
	DayFormat  = "20060102"
)

// HourOf returns the name of the hour of a time.
func HourOf(t time.Time) string { return t.UTC().Format(hourFormat) }

// ParseHour returns the start of an hour.
func ParseHour(s string) (time.Time, error) { return time.Parse(hourFormat, s) }

// HourAfter returns the hour that is n hours later, or earlier if n is negative.
func HourAfter(hour string, n int) string {
	t, err := ParseHour(hour)
	if err != nil {
		return hour // never happens: names in manifests are checked
	}
	return HourOf(t.Add(time.Duration(n) * time.Hour))
}

// DayOf returns the day of an hour, such as 20261129 for 20261129T15.
func DayOf(hour string) string { return hour[:len(DayFormat)] }

// HourOfKey returns the hour or day in the key of an object of a shard, or "" if there is none.
func HourOfKey(key string) string {
	part := strings.Split(key, "/")
	if len(part) < 3 {
		return ""
	}
	return part[2]
}

// IsOver reports whether an hour ended at least since ago.
func IsOver(hour string, since time.Duration, now time.Time) bool {
	start, err := ParseHour(hour)
	return err == nil && !now.Before(start.Add(time.Hour+since))
}

// Expired reports whether all data of an hour is older than the retention kept. A retention of 0
// never expires.
func Expired(hour string, kept time.Duration, now time.Time) bool {
	start, err := ParseHour(hour)
	return err == nil && kept > 0 && now.Sub(start) > kept+time.Hour
}

// SureOfTime is an upper bound for the error of the store's time.
const SureOfTime = 2 * time.Second
