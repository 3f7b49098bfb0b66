package notify

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // containers often lack it
)

// Quiet is the time of day in which a channel is silent.
type Quiet struct {
	from, to time.Duration // local time since midnight; from may be after to
	zone     *time.Location
}

// parseQuiet parses hours such as "22:00-07:00 Europe/Berlin". The time zone is required, and the
// two times must differ.
func parseQuiet(text string) (*Quiet, error) {
	const how = "write hours and a time zone, such as 22:00-07:00 Europe/Berlin"
	hours, zone, _ := strings.Cut(text, " ")
	from, to, _ := strings.Cut(hours, "-")
	var q Quiet
	for _, end := range []struct {
		text string
		to   *time.Duration
	}{{from, &q.from}, {to, &q.to}} {
		t, err := time.Parse("15:04", end.text)
		if err != nil || len(end.text) != len("15:04") {
			return nil, fmt.Errorf("quiet_hours: %.60q: %s", text, how)
		}
		*end.to = time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
	}
	if q.from == q.to {
		return nil, fmt.Errorf("quiet_hours: %.60q: both times are the same", text)
	}
	zone = strings.TrimSpace(zone)
	if zone == "" || zone == "Local" {
		return nil, fmt.Errorf("quiet_hours: %.60q: %s", text, how)
	}
	var err error
	if q.zone, err = time.LoadLocation(zone); err != nil {
		return nil, fmt.Errorf("quiet_hours: %.60q: unknown time zone %.40q; %s", text, zone, how)
	}
	return &q, nil
}

// until returns the end of the quiet hours that contain t, or the zero Time.
func (q *Quiet) until(t time.Time) time.Time {
	if q == nil {
		return time.Time{}
	}
	t = t.In(q.zone)
	clock := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
	day := t.Day()
	switch {
	case q.from < q.to && (clock < q.from || clock >= q.to), q.from > q.to && clock < q.from && clock >= q.to:
		return time.Time{}
	case q.from > q.to && clock >= q.from:
		day++
	}
	end := time.Date(t.Year(), t.Month(), day, 0, int(q.to/time.Minute), 0, 0, q.zone)
	if !end.After(t) { // the clock is set back over the end, so quiet hours repeat
		return t.Truncate(time.Minute).Add(time.Minute)
	}
	return end
}

// Rate limits the messages of a channel: at most Number in any period of length Per.
type Rate struct {
	Number int
	Per    time.Duration
}

// The maximum Per, for which attempts must be stored, and the maximum Number.
const (
	maxPer    = 24 * time.Hour
	maxNumber = 10_000
)

// parseRate parses a rate such as "10/1h".
func parseRate(text string) (*Rate, error) {
	number, per, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(number)
	d, err2 := time.ParseDuration(per)
	if err != nil || err2 != nil || n < 1 || n > maxNumber || d < time.Minute || d > maxPer {
		return nil, fmt.Errorf("rate: %.40q: write a number and a duration from 1m to 24h, such as 10/1h", text)
	}
	return &Rate{Number: n, Per: d}, nil
}

// free returns how many messages may be sent now, given the times of past ones. If none, next is
// the time of the next one.
func (r *Rate) free(sent []time.Time, now time.Time) (n int, next time.Time) {
	if r == nil {
		return maxNumber, time.Time{}
	}
	var within []time.Time
	for _, t := range sent {
		if now.Sub(t) < r.Per {
			within = append(within, t)
		}
	}
	if n = r.Number - len(within); n > 0 {
		return n, time.Time{}
	}
	return 0, sorted(within)[len(within)-r.Number].Add(r.Per)
}
