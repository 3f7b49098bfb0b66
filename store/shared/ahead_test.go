package shared

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// A query reads a bounded number of pieces ahead, and stops reading when the caller stops.
func TestReadAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakebucket.New(1)
		n := openNode(t, server, Options{Shards: 1})
		rnd := rand.New(rand.NewPCG(1, 2))
		page := ""
		const atOnce, atOnceAllPages = 32, 4
		const hours = 2 * atOnce
		for i := range uint64(hours) {
			var id store.ID
			binary.BigEndian.PutUint64(id.View[:], i+1)
			rec := recordOf(id, rnd)
			if page == "" {
				page = rec.Pages[0]
			}
			rec.Pages = []string{page}
			if _, err := n.Append(t.Context(), []store.Record{rec}); err != nil {
				t.Fatal(err)
			}
			n.round(t.Context(), roll.Work{}) // days have no rollups yet
			time.Sleep(time.Hour)
		}
		for asked, most := range map[string]int{page: atOnce, "": atOnceAllPages} {
			var mu sync.Mutex
			read := map[string]bool{} // keys of objects of rollups
			way := server.Client()
			way.Before = func(r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(r.URL.Path, "/hours/") {
					read[r.URL.Path] = true
				}
			}
			r, err := OpenReader(t.Context(), way.Bucket(time.Now), Options{})
			if err != nil {
				t.Fatal(err)
			}
			enough := errors.New("enough")
			_, err = r.Select(t.Context(), store.Query{Page: asked}, store.Wanted{Lag: time.Minute}, nil,
				func(store.Rolled) error {
					synctest.Wait() // wait for the reads ahead
					return enough
				})
			if !errors.Is(err, enough) {
				t.Fatal(err)
			}
			synctest.Wait()
			if len(read) == 0 || len(read) > most {
				t.Errorf("%q: %d of %d hours were read before the first one was delivered, want at most %d", asked,
					len(read), hours, most)
			}
		}
	})
}
