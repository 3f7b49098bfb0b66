package api

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

func localOf(f *fixture.Stored) query.Local { return query.Local{Reader: f.Store} }

// rolledField returns a store with rollups of three hours of page views.
func rolledField(t *testing.T, views int) (query.Local, *trie.Merger) {
	t.Helper()
	s, all := fixture.Rolled(t, views)
	return query.Local{Reader: s}, all
}

func vitalField(t *testing.T) query.Local { return query.Local{Reader: fixture.Vitals(t)} }
