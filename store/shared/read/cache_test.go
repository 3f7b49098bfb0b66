package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// A cache returns the same bytes as the store, whatever it contains and even if files on disk are
// damaged. It rarely reads the same part twice.
func TestCache(t *testing.T) {
	s := fakebucket.New(1)
	b := s.Client().Bucket(time.Now)
	rnd := rand.New(rand.NewPCG(1, 2))
	bodies := map[string][]byte{}
	for i := range 8 {
		body := make([]byte, 500+rnd.IntN(500))
		for j := range body {
			body[j] = byte(rnd.Uint32())
		}
		k := fmt.Sprintf("raw/%d", i)
		if _, err := b.Put(t.Context(), k, body, objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		bodies[k] = body
	}
	dir := filepath.Join(t.TempDir(), "cache")
	open := func() *cache {
		c, err := openCache(b, Options{CacheMemory: 2000, Cache: dir, CacheSize: 6000})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	for i := range 3000 {
		k := fmt.Sprintf("raw/%d", min(rnd.IntN(8), rnd.IntN(8)))
		body := bodies[k]
		offset := int64(100 * rnd.IntN(4))
		n := int64(100 * (1 + rnd.IntN(2)))
		want := body[offset:][:n]
		if rnd.IntN(3) == 0 {
			offset, want = -n, body[int64(len(body))-n:]
		}
		got, size, err := c.Range(t.Context(), k, offset, max(0, n))
		if err != nil || size != int64(len(body)) || !bytes.Equal(got, want) {
			t.Fatalf("step %d: got %d bytes of %d, %v", i, len(got), size, err)
		}
		switch files, _ := filepath.Glob(filepath.Join(dir, "*")); {
		case c.memory.Size() > 2000 || c.disk.files.Size() > 6000:
			t.Fatalf("the cache has %d bytes in memory, %d on disk", c.memory.Size(), c.disk.files.Size())
		case i%500 == 499: // a new process opens the cache
			c = open()
		case i%50 == 49 && len(files) > 0: // a file is damaged
			if err := os.Truncate(files[rnd.IntN(len(files))], int64(rnd.IntN(50))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if gets := b.Requests().Get; gets > 2000 {
		t.Errorf("%d requests for 3000 reads", gets)
	}
	var onDisk int64
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		fi, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		onDisk += fi.Size()
	}
	if onDisk > 6000 {
		t.Errorf("the cache takes %d bytes on disk", onDisk)
	}
	if _, _, err := c.Range(t.Context(), "raw/none", 0, 10); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// Concurrent readers of the same part share a request. If one of them is cancelled, the others
// still get the result.
func TestCacheShares(t *testing.T) {
	s := fakebucket.New(1)
	client := s.Client()
	b := client.Bucket(time.Now)
	if _, err := b.Put(t.Context(), "raw/a", []byte("traces"), objects.Condition{}); err != nil {
		t.Fatal(err)
	}
	c, err := openCache(b, Options{CacheMemory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	asked, release := make(chan struct{}, 10), make(chan struct{})
	client.Before = func(*http.Request) { asked <- struct{}{}; <-release }
	gone, leave := context.WithCancel(t.Context())
	var group sync.WaitGroup
	errs := make([]error, 6)
	ask := func(ctx context.Context, i int) {
		group.Go(func() {
			body, _, err := c.Range(ctx, "raw/a", 0, 6)
			if err == nil && string(body) != "traces" {
				err = fmt.Errorf("got %q", body)
			}
			errs[i] = err
		})
	}
	ask(gone, 0)
	<-asked
	for i := range 5 {
		ask(t.Context(), i+1)
	}
	leave()
	close(release)
	group.Wait()
	if !slices.Equal(errs[1:], make([]error, 5)) {
		t.Errorf("got %v", errs[1:])
	}
	if n := b.Requests().Get; n > 2 {
		t.Errorf("%d requests", n)
	}
}
