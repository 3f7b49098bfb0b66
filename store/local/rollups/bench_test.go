package rollups

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// sampleTraces returns real traces, as if they were all of one page.
func sampleTraces(tb testing.TB) (out []*trie.Trace) {
	tb.Helper()
	files, err := filepath.Glob("../../../testdata/traces/*.gz")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no traces: %v", err)
	}
	for _, name := range files {
		packed, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			tb.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			tb.Fatal(err)
		}
		t, err := encode.DecodeTraceJSON(text, encode.FileLimits())
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		encode.Repair(t)
		t.Context.Page, t.Context.Release = "/page", "r1"
		t.Context.Labels = trie.MakeLabels("browser", "Chrome 156", "device", "desktop-high", "phase", "idle")
		out = append(out, t)
	}
	return out
}

// sampleHour is what one real trace adds to a page of its own: all hours have the same
// stacks, so that a record is as good for any of them.
type sampleHour struct {
	table   *trie.Trie
	records [3][]byte
}

func sampleHours(tb testing.TB) (out []sampleHour) {
	for _, t := range sampleTraces(tb) {
		h := sampleHour{table: trie.New()}
		b := rollup.NewBuilder("/page", h.table, rollup.Limits{})
		b.Begin(1)
		b.Add(t)
		b.End()
		for level := range h.records {
			h.records[level] = b.Encode(rollup.Level(level), true)
		}
		out = append(out, h)
	}
	return out
}

const benchPages = 2000

// writeSamples writes an hour or a day of benchPages pages.
func writeSamples(tb testing.TB, s *Shelf, samples []sampleHour, span Span, start uint32) *File {
	w, err := s.Edit(span, start)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range benchPages {
		page := fmt.Sprintf("/shop/%04d", i)
		x := samples[i%len(samples)]
		table, size, err := w.Stacks(page)
		if err != nil {
			tb.Fatal(err)
		}
		if size.Nodes == 1 {
			table.AddAll(x.table)
		}
		if err := w.Put(page, table, 1, x.records); err != nil {
			tb.Fatal(err)
		}
		for _, t := range []store.Tag{{}, {Key: "browser", Value: "Chrome 156"}, {Key: "device", Value: "desktop-high"}, {Key: "release", Value: "r1"}} {
			w.Count(page, t, Count{Traces: 1, First: int64(start) * 60e6, Last: int64(start) * 60e6})
		}
	}
	return commit(tb, w, Sum{Traces: benchPages})
}

// sampleFile writes n hours or days of benchPages pages.
func sampleFile(tb testing.TB, span Span, n int) (*Shelf, *File, []sampleHour) {
	s, samples := load(tb, tb.TempDir(), nil), sampleHours(tb)
	var f *File
	for i := range n {
		step := i
		if span == Days {
			step = 24 * (i - 19) // from the first of the month
		}
		f = writeSamples(tb, s, samples, span, hourStart(step))
	}
	return s, f, samples
}

// BenchmarkEdit writes the last of 24 hours of 2,000 pages anew, each with one real trace.
func BenchmarkEdit(b *testing.B) {
	s, f, samples := sampleFile(b, Hours, 24)
	b.SetBytes(f.Size())
	b.ReportMetric(float64(f.Size()), "bytes/file")
	b.ReportAllocs()
	for b.Loop() {
		writeSamples(b, s, samples, Hours, hourStart(23))
	}
}

// BenchmarkOpen opens a month of 2,000 pages.
func BenchmarkOpen(b *testing.B) {
	s, f, _ := sampleFile(b, Days, 30)
	b.ReportMetric(float64(f.indexn), "bytes/index")
	b.ReportAllocs()
	cache := newCache(b)
	for b.Loop() {
		if _, err := Open(filepath.Join(s.dir, f.Name()), cache); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPage reads all narrow records of a page in a month of 2,000 pages, without and
// with a cache.
func BenchmarkPage(b *testing.B) {
	s, f, _ := sampleFile(b, Days, 30)
	for name, cache := range map[string]*Cache{"cold": nil, "cached": newCache(b)} {
		b.Run(name, func(b *testing.B) {
			f, err := Open(filepath.Join(s.dir, f.Name()), cache)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				stacks, err := f.Stacks("/shop/1000")
				if err != nil {
					b.Fatal(err)
				}
				for _, x := range f.Sums() {
					if _, _, err := f.Record("/shop/1000", x.Start, rollup.Narrow, stacks); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
