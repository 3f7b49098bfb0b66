package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/shared"
	"github.com/fieldtrie/fieldtrie/trie"
)

// A site that is watched for changes: how many functions each page view has, and how many page
// views each page has in an hour.
const (
	watchFunctions = 300
	watchViews     = 5
	watchHours     = 54 // stored hours; a release begins on all pages after the first day
	watchBegan     = 24
	// watchLeast is how many page views a release must have. It is low, so that all pages are
	// compared in each evaluation.
	watchLeast = 50
	watchCache = 8 << 20
)

// watchCost measures the cost of detecting changes: each hour of a day after a release, on all
// pages of a site.
func watchCost(ctx context.Context, pages int, progress io.Writer) ([]figure, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fmt.Fprintf(progress, "bench: store %d hours of %d pages with %d functions …\n", watchHours, pages, watchFunctions)
	f, err := fillWatched(ctx, dir, pages)
	if err != nil {
		return nil, err
	}
	// Collect garbage often, so that the heap is close to the live data.
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	var base runtime.MemStats
	runtime.ReadMemStats(&base)
	place, err := directory.Open(f.dir, directory.Options{ReadOnly: true, Now: f.clock})
	if err != nil {
		return nil, err
	}
	r, err := shared.OpenReader(ctx, place, shared.Options{CacheMemory: watchCache})
	if err != nil {
		return nil, err
	}
	o := watch.Read(query.Local{Reader: r})
	s := watch.Settings{MinViews: watchLeast}
	var m watch.Memory
	var known []watch.Change
	var sum, most, peak float64
	hours := 0
	for h := watchBegan + 2; h <= watchHours; h++ {
		var e watch.Evaluation
		now := filling().Add(time.Duration(h) * time.Hour)
		runtime.GC()
		high, stop := heapPeak()
		before := cpuTime()
		e, err = watch.Evaluate(ctx, o, now, s, m, known)
		used := cpuTime() - before
		stop()
		if err != nil {
			return nil, err
		}
		for page, err := range e.Failed {
			return nil, fmt.Errorf("%s: %w", page, err)
		}
		m, known = e.Memory, append(e.Known, e.Found...)
		sum, most, peak = sum+used, max(most, used), max(peak, float64(high.Load()-base.HeapAlloc))
		hours++
		fmt.Fprintf(progress, "hour %d after the release: %.2f s, %.0f MB, %d changes\n", h-watchBegan, used,
			float64(high.Load()-base.HeapAlloc)/1e6, len(known))
	}
	return []figure{
		{"watchcost/hour_cpu_s", sum / float64(hours),
			fmt.Sprintf("s of CPU an hour, on average: %d pages × %d functions", pages, watchFunctions), "<= 5"},
		{"watchcost/worst_hour_cpu_s", most, "s of CPU in the worst hour", ""},
		{"watchcost/heap_mb", peak / 1e6, "MB of heap at most, the open store included, with 8 MiB of cache", "<= 64"},
	}, nil
}

// heapPeak records the largest heap until it is stopped.
func heapPeak() (high *atomic.Uint64, stop func()) {
	high = new(atomic.Uint64)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			high.Store(max(high.Load(), s.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return high, func() { close(done); <-ended }
}

// fillWatched stores page views of pages in which each function has some time.
func fillWatched(ctx context.Context, dir string, pages int) (*field, error) {
	rng := rand.New(rand.NewPCG(1, 32))
	id := 0
	return fillDirectory(ctx, dir, func(f *field) error {
		for h := range watchHours {
			f.now = filling().Add(time.Duration(h)*time.Hour + time.Minute)
			release := "a"
			if h >= watchBegan {
				release = "b"
			}
			var recs []store.Record
			for page := range pages {
				for range watchViews {
					id++
					rec, err := watchedView(rng, fmt.Sprintf("/page/%d", page), release, id)
					if err != nil {
						return err
					}
					recs = append(recs, rec)
				}
			}
			for len(recs) > 0 {
				n := min(len(recs), perSegment)
				if _, err := f.node.Append(ctx, recs[:n]); err != nil {
					return err
				}
				recs = recs[n:]
			}
			f.rollUp(ctx)
		}
		f.settle(ctx)
		return nil
	})
}

// watchedView returns a page view with a sample of each function.
func watchedView(rng *rand.Rand, page, release string, id int) (store.Record, error) {
	t := &trie.Trace{Trie: *trie.New()}
	t.Context = trie.Context{Page: page, ViewID: fmt.Sprintf("view %011d", id), Interval: 10_000, Release: release,
		Labels: trie.MakeLabels("browser", "Chrome 156", "device", "desktop-mid")}
	for i, at := 0, int64(0); i < watchFunctions; i++ {
		n := t.Insert(trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 1, Column: 1},
			trie.Frame{Name: fmt.Sprintf("f%d", i), Resource: "https://x.example/app.js", Line: uint32(i + 2),
				Column: 1})
		for range 1 + rng.IntN(3) {
			t.Samples = append(t.Samples, trie.Sample{Time: at, Node: n})
			at += 10_000
		}
	}
	payload, err := encode.EncodeTrace(t)
	if err != nil {
		return store.Record{}, err
	}
	r := store.Record{Pages: []string{page}, Payload: payload}
	copy(r.ID.View[:], t.Context.ViewID)
	return r, nil
}
