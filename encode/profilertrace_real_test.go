package encode

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
)

// jsonEnvelope and its parts are the straightforward way to read a trace with encoding/json, as a
// baseline for time and result.
type jsonEnvelope struct {
	Page       string    `json:"page"`
	TimeOrigin float64   `json:"timeOrigin"`
	Interval   float64   `json:"interval"`
	UA         string    `json:"ua"`
	Trace      jsonTrace `json:"trace"`
}

type jsonTrace struct {
	Resources []string     `json:"resources"`
	Frames    []jsonFrame  `json:"frames"`
	Stacks    []jsonStack  `json:"stacks"`
	Samples   []jsonSample `json:"samples"`
}

type jsonFrame struct {
	Name       string  `json:"name"`
	ResourceID *uint32 `json:"resourceId"`
	Line       *uint32 `json:"line"`
	Column     *uint32 `json:"column"`
}

type jsonStack struct {
	FrameID  uint32  `json:"frameId"`
	ParentID *uint32 `json:"parentId"`
}

type jsonSample struct {
	Timestamp float64 `json:"timestamp"`
	StackID   *uint32 `json:"stackId"`
	Marker    string  `json:"marker"`
}

// checkTotal compares the time of a decoded trace with an independent computation.
func checkTotal(t *testing.T, name string, data []byte) {
	t.Helper()
	tr, err := DecodeProfilerTrace(data, Limits{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	checkDecoded(t, tr)
	var e jsonEnvelope
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	interval := int64(math.Round(e.Interval * 1000))
	type sample struct {
		time  int64
		stack bool
	}
	var samples []sample
	for _, s := range e.Trace.Samples {
		samples = append(samples, sample{int64(math.Round(s.Timestamp * 1000)), s.StackID != nil})
	}
	slices.SortStableFunc(samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	var self, stackless, unsampled int64
	for i, s := range samples {
		long := interval
		if i+1 < len(samples) {
			long = samples[i+1].time - s.time
		}
		clipped := min(long, 3*interval)
		unsampled += long - clipped
		if s.stack {
			self += clipped
		} else {
			stackless += clipped
		}
	}
	var gotSelf int64
	weights, coverage := tr.Profile().Flat()
	for _, w := range weights {
		gotSelf += w.Self
	}
	if gotSelf != self || coverage.Stackless != stackless || coverage.Unsampled != unsampled {
		t.Errorf("%s: got %d self, %d stackless, %d unsampled µs, want %d, %d, %d",
			name, gotSelf, coverage.Stackless, coverage.Unsampled, self, stackless, unsampled)
	}
	if len(tr.Nodes) != len(e.Trace.Stacks)+1 || len(tr.Frames) != len(e.Trace.Frames) {
		t.Errorf("%s: got %d nodes and %d frames, want %d and %d",
			name, len(tr.Nodes)-1, len(tr.Frames), len(e.Trace.Stacks), len(e.Trace.Frames))
	}
}

// TestRealTraces decodes the recordings of real browsers.
func TestRealTraces(t *testing.T) {
	for name, data := range fixture.RealTraces(t) {
		checkTotal(t, name, data)
		if !IsProfilerTrace(data) || IsProposal(data) {
			t.Errorf("%s: not recognised", name)
		}
		if _, err := DecodeProfilerTrace(data[:len(data)/2], Limits{}); KindOf(err) != input.Malformed {
			t.Errorf("%s: truncated: got %v", name, err)
		}
	}
}

// BenchmarkProfilerTrace measures decoding all real traces. The decoder does everything that a
// server needs; encoding/json only fills structs.
func BenchmarkProfilerTrace(b *testing.B) {
	traces := fixture.RealTraces(b)
	size := 0
	for _, data := range traces {
		size += len(data)
	}
	run := func(name string, decode func(data []byte) error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for name, data := range traces {
					if err := decode(data); err != nil {
						b.Fatal(name, err)
					}
				}
			}
		})
	}
	run("fieldtrie", func(data []byte) error {
		_, err := DecodeProfilerTrace(data, Limits{})
		return err
	})
	run("encoding_json", func(data []byte) error {
		var e jsonEnvelope
		return json.Unmarshal(data, &e)
	})
}
