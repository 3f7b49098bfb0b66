package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/encode/pprof"
	"github.com/fieldtrie/fieldtrie/trie"
)

// encoded is a trace in the compared forms.
type encoded struct {
	trie  []byte // our binary format
	pprof []byte // gzipped, as the pprof library writes it
}

func encodeAll(traces []trace) ([]encoded, error) {
	var out []encoded
	for _, t := range traces {
		decoded, err := encode.DecodeTraceJSON(t.json, encode.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		var e encoded
		if e.trie, err = encode.EncodeTrace(decoded); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		// Both forms have the page of the trace: pprof as a label of each sample.
		m := trie.NewMerger()
		addByPage(m, decoded)
		var b bytes.Buffer
		if err := pprof.Encode(&b, m.Profile(), output.Options{}); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		e.pprof = b.Bytes()
		out = append(out, e)
	}
	return out, nil
}

// addByPage merges a trace and keeps the pages apart.
func addByPage(m *trie.Merger, t *trie.Trace) {
	m.AddTrace(t, func(s trie.Slice) int { return m.Group(trie.Labels{{Key: "page", Value: s.Page}}) })
}

// gzipped returns how many bytes data takes with gzip at its default level.
func gzipped(data []byte) float64 {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
	return float64(b.Len())
}

// sizes compares bytes summed over all traces.
func sizes(traces []trace) ([]figure, error) {
	all, err := encodeAll(traces)
	if err != nil {
		return nil, err
	}
	var jsonGz, raw, gz, pprofGz float64
	for i, e := range all {
		jsonGz += gzipped(traces[i].json)
		raw += float64(len(e.trie))
		gz += gzipped(e.trie)
		pprofGz += float64(len(e.pprof))
	}
	sets, err := setsOf(traces)
	if err != nil {
		return nil, err
	}
	var setBytes float64
	for _, s := range sets {
		setBytes += float64(len(s))
	}
	return []figure{
		{"size/sets_vs_jsongz", setBytes / jsonGz, "ratio", "<= 0.18"},
		{"size/raw_vs_jsongz", raw / jsonGz, "ratio", "<= 0.65"},
		{"size/gz_vs_jsongz", gz / jsonGz, "ratio", "<= 0.48"},
		{"size/gz_vs_pprofgz", gz / pprofGz, "ratio", "<= 0.58"},
	}, nil
}

// usage is the cost of a piece of work.
type usage struct{ cpu, wall, bytes float64 } // seconds, seconds, allocated bytes

// measure runs work and returns its cost, garbage collection included.
func measure(work func() error) (usage, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	err := work()
	u := usage{cpu: cpuTime() - cpu, wall: time.Since(start).Seconds()}
	runtime.ReadMemStats(&after)
	u.bytes = float64(after.TotalAlloc - before.TotalAlloc)
	return u, err
}

// cpuTime returns the processor time of this process in seconds.
func cpuTime() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return math.NaN()
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
}

// ratios runs two pieces of work in turns and returns the medians of peer / own.
func ratios(ctx context.Context, rounds int, peer, own func() error) (cpu, wall, bytes float64, err error) {
	var c, w, b []float64
	for range rounds {
		if err := ctx.Err(); err != nil {
			return 0, 0, 0, err
		}
		p, err := measure(peer)
		if err != nil {
			return 0, 0, 0, err
		}
		o, err := measure(own)
		if err != nil {
			return 0, 0, 0, err
		}
		c, w, b = append(c, p.cpu/o.cpu), append(w, p.wall/o.wall), append(b, p.bytes/o.bytes)
	}
	return median(c), median(w), median(b), nil
}

// repeat makes short work long enough to be measured.
func repeat(n int, work func() error) func() error {
	return func() error {
		for range n {
			if err := work(); err != nil {
				return err
			}
		}
		return nil
	}
}

// merges compares reading and merging all traces as a store has them, in sets, with the pprof
// library.
func merges(ctx context.Context, traces []trace, rounds int) ([]figure, error) {
	all, err := encodeAll(traces)
	if err != nil {
		return nil, err
	}
	sets, err := setsOf(traces)
	if err != nil {
		return nil, err
	}
	unpack, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer unpack.Close()
	peer := func() error {
		profiles := make([]*profile.Profile, len(all))
		for i, e := range all {
			if profiles[i], err = profile.Parse(bytes.NewReader(e.pprof)); err != nil {
				return err
			}
		}
		_, err := profile.Merge(profiles)
		return err
	}
	own := func() error {
		var decoder encode.BinaryDecoder
		var buf []byte
		m := trie.NewMerger()
		for _, s := range sets {
			if buf, err = unpack.DecodeAll(s, buf[:0]); err != nil {
				return err
			}
			set, err := decoder.DecodeSet(buf, encode.FileLimits())
			if err != nil {
				return err
			}
			for i := range set.Traces {
				addByPage(m, &set.Traces[i])
			}
		}
		return nil
	}
	n := max(1, 2000/len(all))
	cpu, _, bytes, err := ratios(ctx, rounds, repeat(n, peer), repeat(n, own))
	return []figure{
		{"merge/sets_cpu_vs_pprof", cpu, "times less", ">= 35"},
		{"merge/sets_bytes_vs_pprof", bytes, "times fewer", ""},
	}, err
}

// setTraces is how many traces of a page are in a set, at most.
const setTraces = 25

// setsOf returns the traces of each page as sets, compressed as in a store. Each trace has a view
// id of its own.
func setsOf(traces []trace) ([][]byte, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	defer func() { _ = enc.Close() }() // it writes nowhere
	pages := map[string][]*trie.Trace{}
	for _, t := range traces {
		decoded, err := encode.DecodeTraceJSON(t.json, encode.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		id := sha256.Sum256([]byte(t.name))
		decoded.Context.ViewID = string(id[:16])
		page := decoded.Context.Page
		pages[page] = append(pages[page], decoded)
	}
	var out [][]byte
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for list := range slices.Chunk(pages[page], setTraces) {
			data, err := encode.EncodeSet(trie.NewSet(list))
			if err != nil {
				return nil, err
			}
			out = append(out, enc.EncodeAll(data, nil))
		}
	}
	return out, nil
}

// The plain structs of a program without our reader.
type plainEnvelope struct {
	Page       string
	TimeOrigin float64
	Interval   float64
	Trace      struct {
		Resources []string
		Frames    []struct {
			Name         string
			ResourceID   *uint32 `json:"resourceId"`
			Line, Column uint32
		}
		Stacks []struct {
			FrameID  uint32  `json:"frameId"`
			ParentID *uint32 `json:"parentId"`
		}
		Samples []struct {
			Timestamp float64
			StackID   *uint32 `json:"stackId"`
		}
	}
}

// decodes compares decoding the API's JSON into a valid trace with encoding/json.
func decodes(ctx context.Context, traces []trace, rounds int) ([]figure, error) {
	peer := func() error {
		for _, t := range traces {
			var e plainEnvelope
			if err := json.Unmarshal(t.json, &e); err != nil {
				return err
			}
		}
		return nil
	}
	own := func() error {
		for _, t := range traces {
			if _, err := encode.DecodeTraceJSON(t.json, encode.Limits{}); err != nil {
				return err
			}
		}
		return nil
	}
	n := max(1, 1000/len(traces))
	cpu, wall, _, err := ratios(ctx, rounds, repeat(n, peer), repeat(n, own))
	return []figure{
		{"json/cpu_vs_stdlib", cpu, "times less", ">= 3"},
		{"json/time_vs_stdlib", wall, "times less", ">= 3"},
	}, err
}
