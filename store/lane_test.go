package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// While there are commits, what goes through the lane has half of the time. Without commits
// nothing waits.
func TestLaneGivesWay(t *testing.T) {
	const work = 30 * time.Millisecond
	for _, c := range []struct {
		commits uint64 // during each piece
		want    time.Duration
	}{{1, 6 * work}, {0, 3 * work}} {
		synctest.Test(t, func(t *testing.T) {
			var commits atomic.Uint64
			l := lane{commits: &commits}
			begin := time.Now()
			for range 3 {
				l.do(func() { time.Sleep(work); commits.Add(c.commits) })
			}
			if took := time.Since(begin); took != c.want {
				t.Errorf("%d commits: took %s, want %s", c.commits, took, c.want)
			}
		})
	}
}

// One piece of work waits for the other.
func TestLaneTurns(t *testing.T) {
	var l lane
	var busy, all atomic.Int32
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			l.do(func() {
				if busy.Add(1) > 1 {
					t.Error("two at once")
				}
				time.Sleep(time.Millisecond)
				busy.Add(-1)
				all.Add(1)
			})
		})
	}
	if workers.Wait(); all.Load() != 8 {
		t.Errorf("%d of 8 were done", all.Load())
	}
}

// A long piece of work closes the lane for a moment only.
func TestLanePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var commits atomic.Uint64
		l := lane{commits: &commits}
		begin := time.Now()
		l.do(func() { commits.Add(1); time.Sleep(time.Minute) })
		if took := time.Since(begin); took != time.Minute+longestPause {
			t.Errorf("took %s", took)
		}
	})
}
