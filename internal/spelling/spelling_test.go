package spelling

import (
	"slices"
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"retentoin", "retention", 2}, {"kitten", "sitting", 3},
		{"same", "same", 0}, {strings.Repeat("a", 1e6), "a", maxBytes - 1}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%.20q, %q: got %d, want %d", c.a, c.b, got, c.want)
		}
		if there, back := Distance(c.a, c.b), Distance(c.b, c.a); there != back {
			t.Errorf("%.20q, %q: %d there and %d back", c.a, c.b, there, back)
		}
	}
}

func TestLikely(t *testing.T) {
	known := []string{"retention", "daily-retention", "listen", "data", "date"}
	for typed, want := range map[string][]string{"retentoin": {"retention"}, "dat": {"data", "date"}, "xyz": {}} {
		if got := Likely(typed, known); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", typed, got, want)
		}
	}
}
