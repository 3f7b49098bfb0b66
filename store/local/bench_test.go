package local_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// BenchmarkAppend measures durable appends of one trace each by many producers.
func BenchmarkAppend(b *testing.B) {
	for _, producers := range []int{1, 64, 512} {
		b.Run(fmt.Sprintf("producers=%d", producers), func(b *testing.B) {
			s := mustOpen(b, b.TempDir(), local.Options{})
			recs := siteRecords(0, 2000)
			var next atomic.Int64
			b.SetParallelism(producers / 2) // times GOMAXPROCS, taken as two
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n := int(next.Add(1))
					r := recs[n%len(recs)]
					r.ID = traceID(n)
					if _, err := s.Append(b.Context(), []store.Record{r}); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			c := s.Counters()
			b.ReportMetric(float64(c.Stored)/b.Elapsed().Seconds(), "traces/s")
			b.ReportMetric(float64(c.Stored)/float64(max(c.Commits, 1)), "traces/commit")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	s := mustOpen(b, b.TempDir(), local.Options{})
	const n = 20000
	for i := 0; i < n; i += 1000 {
		mustAppend(b, s, siteRecords(i, i+1000)...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if st, err := s.Scan(b.Context(), store.Query{Page: "/feed"}, func(store.Record) error { return nil }); err != nil || st.Traces != n {
			b.Fatal(st, err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "traces/s")
}

// BenchmarkOpenSealed measures a query that has to open a day of sealed partitions.
func BenchmarkOpenSealed(b *testing.B) {
	c := newClock(noon)
	dir := b.TempDir()
	s := mustOpen(b, dir, local.Options{Now: c.Now})
	const hours, each = 24, 4000
	for h := range hours {
		for i := 0; i < each; i += 1000 {
			mustAppend(b, s, siteRecords(h*each+i, h*each+i+1000)...)
		}
		c.Add(time.Hour)
	}
	mustClose(b, s)
	for b.Loop() {
		r, err := local.OpenReader(dir, local.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if st, err := r.Scan(b.Context(), store.Query{Page: "/none"}, nil); err != nil || st.Partitions != hours || !st.Complete() {
			b.Fatal(st, err)
		}
		mustClose(b, r)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N)/hours, "ms/partition")
}

func siteRecords(from, to int) (recs []store.Record) {
	for n := from; n < to; n++ {
		recs = append(recs, siteRecord(n))
	}
	return recs
}
