package shared

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// A request to delete stores the counts, even during a round, which stores them as well.
func TestDeleteDuringRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		s.Took = 100 * time.Millisecond
		n := openNode(t, s, Options{Shards: 1})
		n.CountViews("/a", "idle", 1)
		var g sync.WaitGroup
		g.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("the round panics, which ends the process: %v", r)
				}
			}()
			time.Sleep(50 * time.Millisecond)
			n.round(t.Context(), roll.Work{})
		})
		g.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("the request panics: %v", r)
				}
			}()
			if _, err := n.Delete(t.Context(), deletion.Selection{Page: "/b"}, "test", true); err != nil {
				t.Error(err)
			}
		})
		g.Wait()
		time.Sleep(time.Minute)
	})
}
