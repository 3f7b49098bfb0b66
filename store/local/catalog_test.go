package local_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

func TestCatalog(t *testing.T) {
	t.Parallel()
	c := newClock(noon)
	s := mustOpen(t, t.TempDir(), testOptions(t, c))
	a := store.Tag{Key: "feature", Value: "a"}
	mustAppend(t, s, store.Record{ID: traceID(1), Pages: []string{"/x", "/y"}, Tags: []store.Tag{a, a}})
	c.Add(time.Minute)
	mustAppend(t, s, store.Record{ID: traceID(2), Pages: []string{"/x"}}, store.Record{ID: traceID(2), Pages: []string{"/x"}})
	c.Add(time.Hour)
	mustAppend(t, s, store.Record{ID: traceID(3), Pages: []string{"/x"}, Tags: []store.Tag{a}})
	later := noon.Add(time.Hour + time.Minute)
	check := func(since, until time.Time, want ...store.CatalogEntry) {
		t.Helper()
		got, st, err := s.Catalog(t.Context(), since, until, 0)
		if err != nil || !st.Complete() {
			t.Fatalf("catalog: %+v, %v", st, err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("catalog %v..%v:\n got %+v\nwant %+v", since, until, got, want)
		}
	}
	check(time.Time{}, time.Time{},
		entry("/x", store.Tag{}, 3, noon, later),
		entry("/x", a, 2, noon, later),
		entry("/y", store.Tag{}, 1, noon, noon),
		entry("/y", a, 1, noon, noon))
	check(noon.Add(2*time.Minute), time.Time{},
		entry("/x", store.Tag{}, 1, later, later),
		entry("/x", a, 1, later, later))
	check(noon.Add(time.Second), noon.Add(time.Hour),
		entry("/x", store.Tag{}, 2, noon, noon.Add(time.Minute)))
	check(time.Time{}, noon)
}

func entry(page string, t store.Tag, traces uint64, first, last time.Time) store.CatalogEntry {
	return store.CatalogEntry{Page: page, Tag: t, Traces: traces, First: first, Last: last}
}
