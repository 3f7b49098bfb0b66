package local_test

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

func TestRolledUpOfDamaged(t *testing.T) {
	c := newClock(noon)
	s := mustOpen(t, t.TempDir(), testOptions(t, c))
	mustAppend(t, s, store.Record{ID: traceID(1), Pages: []string{"/a"}, Payload: []byte("no trace")})
	stats, err := s.Select(t.Context(), store.Query{Page: "/a"}, store.Wanted{Level: rollup.Narrow, Details: true},
		func(store.Record) error { return nil }, func(store.Rolled) error { return nil })
	t.Logf("%+v %v", stats, err)
	if stats.RolledUp > 1000 {
		t.Errorf("rolled up: %d", stats.RolledUp)
	}
}
