package selection

import (
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

func TestParseTime(t *testing.T) {
	now := noon
	for _, c := range []struct {
		text string
		want time.Time // zero for an error
	}{
		{"2026-11-21T10:00:00Z", time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)},
		{"2026-11-21T10:00:00.123456789+02:00", time.Date(2026, 11, 21, 8, 0, 0, 123456789, time.UTC)},
		{"2026-11-21", time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)},
		{"0s", now},
		{"90m", now.Add(-90 * time.Minute)},
		{"1h30m", now.Add(-90 * time.Minute)},
		{"1.5h", now.Add(-90 * time.Minute)},
		{"5h59m", now.Add(-359 * time.Minute)},
		{"6h", now.Add(-6 * time.Hour)},
		{"24h", now.Add(-24 * time.Hour)},
		{"1d", now.Add(-24 * time.Hour)},
		{"7d", now.AddDate(0, 0, -7)},
		{"2w", now.AddDate(0, 0, -14)},
		{"0d", now},
		{"15000w", now.AddDate(0, 0, -7*15000)},
		{"106751d", now.AddDate(0, 0, -106751)}, // the longest duration

		{"yesterday", time.Time{}}, {"1", time.Time{}}, {"-1h", time.Time{}}, {"-1d", time.Time{}},
		{"+1d", time.Time{}}, {"d", time.Time{}},
		{"w", time.Time{}}, {"1.5d", time.Time{}}, {"7d12h", time.Time{}}, {"1y", time.Time{}}, {" 1h", time.Time{}},
		{"2026-13-01", time.Time{}},
		{"2026-11-21T10:00:00", time.Time{}}, {"106752d", time.Time{}}, {"15251w", time.Time{}},
		{"65535w", time.Time{}},
		{"99999999999999999999d", time.Time{}}, {"9999999h", time.Time{}},
	} {
		got, err := ParseTime(c.text, now)
		if c.want.IsZero() {
			if err == nil || !strings.Contains(err.Error(), "neither a duration such as 24h or 7d nor a time such as") {
				t.Errorf("%q: got %v and %v, want an error", c.text, got, err)
			}
			continue
		}
		if err != nil || !got.Equal(c.want) {
			t.Errorf("%q: got %v and %v, want %v", c.text, got, err, c.want)
		}
	}
	if got, err := ParseTime("", now); err != nil || !got.IsZero() {
		t.Errorf("empty: got %v and %v", got, err)
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"", "7d", "15251w", "2026-11-21", "1h30m", "-5m", "9999-12-31T23:59:59Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseAge(s); err == nil && strings.ContainsAny(s, "dw") && (d < 0 || d%(24*time.Hour) != 0) {
			t.Errorf("%q: got %v", s, d)
		}
		got, err := ParseTime(s, noon)
		if _, dated := time.Parse(time.RFC3339Nano, s); err == nil && got.After(noon) && dated != nil &&
			len(s) != len(time.DateOnly) {
			t.Errorf("%q: got %v, which is in the future", s, got)
		}
	})
}

func TestSelectionString(t *testing.T) {
	s := Selection{Page: "/a", Feature: "x", Where: []Matcher{{Key: "release", Op: Equal, Value: "r1"},
		{Key: "team", Op: Equal, Value: "t"}}}
	if got, want := s.String(), " for /a with feature x with release=r1 with team=t"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (Selection{GroupBy: AllGroups()}).String(); got != "" {
		t.Errorf("got %q", got)
	}
}

// A duration of six hours or more begins on the hour.
func TestParseSince(t *testing.T) {
	hour := noon.Truncate(time.Hour)
	for text, want := range map[string]time.Time{
		"": {}, "90m": noon.Add(-90 * time.Minute), "5h59m": noon.Add(-359 * time.Minute),
		"6h":  hour.Add(-6 * time.Hour),
		"24h": hour.Add(-24 * time.Hour), "7d": hour.AddDate(0, 0, -7), "2026-11-21T10:00:01Z": time.Date(2026, 11, 21,
			10, 0, 1, 0, time.UTC),
	} {
		if got, err := ParseSince(text, noon); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v and %v, want %v", text, got, err, want)
		}
	}
	if _, err := ParseSince("yesterday", noon); err == nil {
		t.Error("yesterday is accepted")
	}
}
