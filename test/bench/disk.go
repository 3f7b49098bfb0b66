package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// disk stores count traces and reports the space that a stored trace takes, next to the
// same traces as gzipped JSON and gzipped pprof.
//
// The traces are copies of the given ones with their own view ids, times and releases. Real traces
// of a site are less alike, so disk also reports the space of a trace unlike any before it: of each
// page, six of ten traces are stored repeatedly, with and without the others after them.
func disk(ctx context.Context, traces []trace, count int) ([]figure, error) {
	r, err := newReplay(traces)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fieldtrie-bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	all, err := r.fill(ctx, filepath.Join(dir, "all"), r.random(count, r.all))
	if err != nil {
		return nil, err
	}
	n := float64(count)
	allJSON, allPprof := r.peers(r.random(count, r.all))
	figures := []figure{
		{"disk/raw_vs_jsongz", all / allJSON, "ratio", "<= 0.20"},
		{"disk/raw_vs_pprofgz", all / allPprof, "ratio", "<= 0.25"},
		{"disk/bytes_per_trace", all / n, "bytes", ""},
		{"disk/jsongz_bytes_per_trace", allJSON / n, "bytes", ""},
		{"disk/pprofgz_bytes_per_trace", allPprof / n, "bytes", ""},
	}
	known, fresh := r.distinct()
	if len(fresh) == 0 {
		return figures, nil // no page has enough traces
	}
	first := r.random(max(count/5, 10_000), known)
	before, err := r.fill(ctx, filepath.Join(dir, "known"), first)
	if err != nil {
		return nil, err
	}
	after, err := r.fill(ctx, filepath.Join(dir, "distinct"), append(first, fresh...))
	if err != nil {
		return nil, err
	}
	m := float64(len(fresh))
	own := (after - before) / m
	jsonGz, pprofGz := r.peers(fresh)
	return append(figures,
		figure{"disk/distinct_raw_vs_jsongz", own / (jsonGz / m), "ratio", ""},
		figure{"disk/distinct_raw_vs_pprofgz", own / (pprofGz / m), "ratio", ""},
		figure{"disk/distinct_bytes_per_trace", own, "bytes", ""},
	), nil
}

// replay makes many traces from a few.
type replay struct {
	decoded         []*trie.Trace
	jsonGz, pprofGz []float64 // bytes of each
	all             []int     // their indices
	perRelease      uint64    // traces that have one release
	sent            atomic.Uint64
}

func newReplay(traces []trace) (*replay, error) {
	forms, err := encodeAll(traces)
	if err != nil {
		return nil, err
	}
	r := &replay{perRelease: 25_000}
	for i, t := range traces {
		decoded, err := encode.DecodeTraceJSON(t.json, encode.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		encode.Repair(decoded)
		decoded.Context.Labels = trie.Labels{{Key: "browser", Value: "Chrome 156"}} // as collect adds it
		r.decoded = append(r.decoded, decoded)
		r.jsonGz = append(r.jsonGz, gzipped(t.json))
		r.pprofGz = append(r.pprofGz, float64(len(forms[i].pprof)))
		r.all = append(r.all, i)
	}
	return r, nil
}

// random returns n of the traces, any number of times each.
func (r *replay) random(n int, of []int) []int {
	rng := rand.New(rand.NewPCG(1, 1)) // the same in every run
	out := make([]int, n)
	for i := range out {
		out[i] = of[rng.IntN(len(of))]
	}
	return out
}

// distinct splits the traces of each page into six of ten and the rest.
func (r *replay) distinct() (known, fresh []int) {
	seen := make(map[string]int)
	for i, t := range r.decoded {
		if page := t.Context.Page; seen[page]%10 < 6 {
			known = append(known, i)
		} else {
			fresh = append(fresh, i)
		}
		seen[t.Context.Page]++
	}
	return known, fresh
}

// peers returns how many bytes the traces take as gzipped JSON and as gzipped pprof.
func (r *replay) peers(which []int) (jsonGz, pprofGz float64) {
	for _, i := range which {
		jsonGz += r.jsonGz[i]
		pprofGz += r.pprofGz[i]
	}
	return jsonGz, pprofGz
}

// fill stores traces of one hour in dir, and returns the bytes that dir takes when the hour is
// over.
func (r *replay) fill(ctx context.Context, dir string, which []int) (disk float64, err error) {
	r.sent.Store(0)
	_, err = fillDirectory(ctx, dir, func(f *field) error {
		for part := range slices.Chunk(which, 10_000) {
			if err := f.append(ctx, r, part); err != nil {
				return err
			}
			f.now = f.now.Add(15 * time.Second)
			f.rollUp(ctx)
		}
		f.now = filling().Add(time.Hour)
		f.settle(ctx)
		found := 0
		st, err := f.node.Scan(ctx, store.Query{}, func(store.Record) error { found++; return nil })
		if err == nil && (!st.Complete() || found != len(which)) {
			err = fmt.Errorf("%d of %d stored traces can be read", found, len(which))
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return diskUse(dir)
}

// record returns a copy of trace i as stored by ingest, as a page view of its own.
func (r *replay) record(i int) (store.Record, error) {
	n := r.sent.Add(1)
	rng := rand.New(rand.NewPCG(n, 2))
	id := store.ID{}
	binary.BigEndian.PutUint64(id.View[:], rng.Uint64())
	binary.BigEndian.PutUint64(id.View[8:], rng.Uint64())
	t := *r.decoded[i]
	t.Context.ViewID = string(id.View[:])
	t.Context.TimeOrigin = time.Now().UnixMicro() - rng.Int64N(int64(time.Hour/time.Microsecond))
	t.Context.Release = fmt.Sprintf("2026.11.%d", n/r.perRelease)
	payload, err := encode.EncodeTrace(&t)
	return store.Record{
		ID: id, Pages: t.Pages(), Payload: payload,
		Tags: []store.Tag{{Key: "release", Value: t.Context.Release}},
	}, err
}
