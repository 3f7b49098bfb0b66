package rollups

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
)

// Readers of files that are replaced, set aside and removed meanwhile read what was there
// when they took the file.
func TestRace(t *testing.T) {
	dir := t.TempDir()
	s := load(t, dir, newCache(t))
	var mu sync.Mutex
	wants := map[*File]*contents{}
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				s.Aside()
				for _, f := range s.Files() {
					mu.Lock()
					want := wants[f]
					mu.Unlock()
					if want == nil {
						continue // committed this moment
					}
					if got, damaged := readAll(t, f); damaged > 0 || !reflect.DeepEqual(got, want) {
						t.Errorf("got  %s\nwant %s", got, want)
						return
					}
				}
			}
		})
	}
	var writers sync.WaitGroup
	for n, span := range []Span{Hours, Days} {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 11))
			have := newContents()
			for range 40 {
				start := hourStart(r.IntN(6))
				if span == Days {
					start = hourStart(24 * r.IntN(6))
				}
				next := have.clone()
				w, sum := randomHour(t, r, s, next, span, start, 4)
				f := commit(t, w, sum)
				mu.Lock()
				wants[f] = next
				mu.Unlock()
				have = next
				switch r.IntN(8) {
				case 0:
					if err := s.SetAside(f, errors.New("test")); err != nil {
						t.Error(err)
					}
					have = newContents()
				case 1:
					if err := s.Remove(f.Name()); err != nil {
						t.Error(err)
					}
					have = newContents()
				}
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
	for f, want := range wants {
		wantContents(t, f, want)
	}
}
