package query

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

func localOf(f *fixture.Stored) Local { return Local{Reader: f.Store} }

// rolledField returns a store with rollups of three hours of page views.
func rolledField(t *testing.T, views int) (Local, *trie.Merger) {
	t.Helper()
	s, all := fixture.Rolled(t, views)
	return Local{Reader: s}, all
}

func vitalField(t *testing.T) Local { return Local{Reader: fixture.Vitals(t)} }
