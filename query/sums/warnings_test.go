package sums

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/trie"
)

// A comparison warns if one side has gaps and the other has none: the difference may be missing
// time.
func TestUnsampledSides(t *testing.T) {
	for _, c := range []struct {
		a, b int64
		want string
	}{
		{0, 0, ""}, {250, 250, ""}, {0, 19, ""},
		{250, 0, "20 % of the samples of A and 0 % of the samples of B are missing: part of a change may be missing " +
			"time"},
	} {
		if got := UnsampledWarning(trie.Coverage{Stackless: 500, Unsampled: c.a}.UnsampledShare(500),
			trie.Coverage{Stackless: 500, Unsampled: c.b}.UnsampledShare(500)); got != c.want {
			t.Errorf("%d and %d: %q", c.a, c.b, got)
		}
	}
}

// Pages without page views on one side are named, the first five of them.
func TestMissingPages(t *testing.T) {
	of := func(page string, a, b float64) compare.Stratum {
		return compare.Stratum{Labels: map[string]string{compare.KeyPage: page}, Views: compare.Pair{A: a, B: b}}
	}
	strata := []compare.Stratum{of("/", 10, 10), of("/board", 5, 0), of("/board", 7, 0), of("/feed", 0, 9),
		of("/feed", 1, 3)}
	if got, want := MissingPages(strata), "no page views of /board in B: their time is not compared"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, page := range []string{"/1", "/2", "/3", "/4", "/5", "/6"} {
		strata = append(strata, of(page, 0, 1))
	}
	if got, want := MissingPages(strata),
		"no page views of /1, /2, /3, /4, /5 and 1 more in A, and no page views of /board in B: their time is not "+
			"compared"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := MissingPages([]compare.Stratum{of("/", 1, 1), {Labels: map[string]string{"device": "x"}}}); got != "" {
		t.Errorf("got %q", got)
	}
}
