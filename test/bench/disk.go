package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/trie"
)

// disk stores count traces and reports the space that a stored trace takes, beside the
// same traces as gzipped JSON and gzipped pprof.
//
// The traces are copies of the given ones, with view ids, times and releases of their
// own. A site's real traces are less alike, so disk also reports the space of a trace
// unlike any before it: of each page six of ten traces are stored over and over, and
// the others once, after them.
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
		{"disk/raw_vs_jsongz", all.disk / allJSON, "ratio", "<= 0.20"},
		{"disk/raw_vs_pprofgz", all.disk / allPprof, "ratio", "<= 0.25"},
		{"disk/bytes_per_trace", all.disk / n, "bytes", ""},
		{"disk/jsongz_bytes_per_trace", allJSON / n, "bytes", ""},
		{"disk/pprofgz_bytes_per_trace", allPprof / n, "bytes", ""},
	}
	known, fresh := r.distinct()
	if len(fresh) == 0 {
		return figures, nil // no page has enough of them
	}
	first := r.random(max(count/5, 10_000), known)
	both, err := r.fill(ctx, filepath.Join(dir, "distinct"), first, fresh)
	if err != nil {
		return nil, err
	}
	// The space of so few traces is lost in Badger's rounding, so the space beside key
	// and value is the mean of all traces.
	m := float64(len(fresh))
	own := both.stored[1]/m + (both.disk-both.stored[0]-both.stored[1])/float64(len(first)+len(fresh))
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

// filled is the size of a data directory in bytes.
type filled struct {
	disk   float64   // on disk, after a clean end
	stored []float64 // keys and values of the traces of each part
}

// fill stores parts of traces one after the other in dir.
func (r *replay) fill(ctx context.Context, dir string, parts ...[]int) (f filled, err error) {
	now := time.Now() // a clock that stands still keeps it to one partition
	s, err := local.Open(dir, local.Options{Now: func() time.Time { return now }})
	if err != nil {
		return f, err
	}
	read := 0.0
	for _, part := range parts {
		err = errors.Join(err, r.appendAll(ctx, s, part))
		st, serr := s.Scan(ctx, store.Query{}, func(store.Record) error { return nil })
		if err = errors.Join(err, serr); err == nil && !st.Complete() {
			err = errors.New("not all that was stored can be read")
		}
		f.stored = append(f.stored, float64(st.Bytes)-read)
		read = float64(st.Bytes)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return f, err
	}
	f.disk, err = diskUse(dir)
	return f, err
}

// appendAll stores traces as many clients at once would have them stored.
func (r *replay) appendAll(ctx context.Context, s *local.Store, which []int) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for i := range clients {
		wg.Go(func() {
			for errs[i] == nil && ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(which) {
					return
				}
				errs[i] = r.append(ctx, s, which[n])
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// append stores a copy of trace i.
func (r *replay) append(ctx context.Context, s *local.Store, i int) error {
	rec, err := r.record(i)
	if err == nil {
		_, err = s.Append(ctx, []store.Record{rec})
	}
	return err
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
