package local_test

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/fieldtrie/fieldtrie/store/local/record"
)

// Page views without a trace that were counted before Close are stored, whoever rolls up or
// closes at the same time.
func TestCountedViewsOutliveClose(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		dir := filepath.Join(t.TempDir(), strconv.Itoa(round))
		c := newClock(noon)
		o := testOptions(t, c)
		o.RollEvery = 1
		s := mustOpen(t, dir, o)
		mustAppend(t, s, testRecord(1, "/feed"))
		s.CountViews("/feed", "unsampled", 7)
		c.Add(1)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { _ = s.Roll(t.Context()) }) // it may come too late
			all.Go(func() { mustClose(t, s) })
		}
		all.Wait()
		views := uint64(0)
		editBadger(t, filepath.Join(dir, "20261121T12"), func(txn *badger.Txn) error {
			key := record.AppendOutcomeKey(nil, "/feed", "unsampled")
			item, err := txn.Get(key)
			if err != nil {
				return err
			}
			return item.Value(func(b []byte) error {
				count, err := record.ParseCount(key, b)
				views = count.Traces
				return err
			})
		})
		if views != 7 {
			t.Errorf("round %d: %d page views are stored, want 7", round, views)
		}
	}
}
