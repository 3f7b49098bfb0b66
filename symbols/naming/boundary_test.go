package naming

import (
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// Release returns the newest table of each path if a script was uploaded several times.
func TestReleaseHasNewestTables(t *testing.T) {
	l := &library{}
	l.add("r1", "a.js", table(1, fn(10, "a", "old", 1)))
	l.add("r1", "b.js", table(2, fn(10, "a", "other", 2)))
	l.add("r2", "a.js", table(3, fn(10, "a", "next", 3)))
	l.add("r1", "a.js", table(4, fn(10, "a", "new", 4)))
	for release, want := range map[string][]string{"r1": {"new", "other"}, "r2": {"next"}, "r3": nil} {
		tables, missing := New(l).Release(release)
		var got []string
		for _, x := range tables {
			got = append(got, x.Functions[0].Name)
		}
		if slices.Sort(got); !slices.Equal(got, want) || len(missing) > 0 {
			t.Errorf("%s: got the tables of %q, and %v are missing, want %q", release, got, missing, want)
		}
	}
	delete(l.tables, l.uploads[0].Scripts[0].SHA256)
	if tables, missing := New(l).Release("r1"); len(tables) != 1 || len(missing) != 1 || missing[0].Problem != Damaged {
		t.Errorf("got %d tables and %+v, want one of b.js, and a.js as damaged", len(tables), missing)
	}
}

// If several builds have a source, newestSources returns the newest build.
func TestNewestSources(t *testing.T) {
	builds := map[byte]*symbols.Table{}
	var scripts []*script
	for rank := range byte(3) {
		builds[rank] = table(rank+1, fn(10, "a", "f", 1))
		c := &candidate{rank: int(rank)} // 0 is the newest
		scripts = append(scripts, &script{chosen: chosen{candidate: c, table: builds[rank]}})
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		var of []*script
		for _, i := range order {
			of = append(of, scripts[i])
		}
		for range 20 { // map iteration order is random
			if got := newestSources(of)["src/a.ts"]; got.table != builds[0] {
				t.Fatalf("order %v: got the build of rank %d, want the newest", order, got.rank)
			}
		}
	}
	if got := newestSources(scripts[:1]); got != nil {
		t.Errorf("with one build: got %v, want nil", got)
	}
}

func TestHash(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"3f9a81b", false}, {"3f9a81bc", true}, {"3f9a81bcd", true}, {"BhXk21Qs", true}, {"6EVULTTI", true},
		{"EVULTTIQ", true}, {"EVULTTIQX", false}, {"settings", false}, {"UserPage", false}, {"DkXyzAbc", true},
		{"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", true},
		{"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0", false},
		{"lowercase123", true}, {"lowercasewithmorethan24ch1", false}, {"3f9a81b.", false},
	} {
		if got := hash(tt.text); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.text, got, tt.want)
		}
	}
}
