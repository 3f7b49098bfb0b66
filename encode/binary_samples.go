package encode

import (
	"math"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"

	fieldtriev1 "github.com/fieldtrie/fieldtrie/proto/fieldtrie/v1"
)

// sampleColumns are the columns of samples while they are written, trace by trace.
type sampleColumns struct {
	time            []int64
	run             []uint64
	runLength       []uint32
	marker          []fieldtriev1.Marker
	markerRunLength []uint32
	marked          bool // a sample has a marker
}

// add writes the samples of a trace, and returns their unit.
func (c *sampleColumns) add(samples []trie.Sample, interval int64) (unit uint32) {
	step := int64(0)
	for i := 1; i < len(samples); i++ {
		step = gcd(step, samples[i].Time-samples[i-1].Time)
	}
	if step == 0 || step > math.MaxUint32 {
		step = 1
	}
	for i := 1; i < len(samples); i++ {
		c.time = append(c.time, (samples[i].Time-samples[i-1].Time)/step-interval/step)
	}
	var named int64
	for i := 0; i < len(samples); {
		n := 1
		for i+n < len(samples) && samples[i+n].Node == samples[i].Node {
			n++
		}
		run := uint64(0)
		if node := int64(samples[i].Node); node != 0 {
			run = (zigzag(node-named) + 1) << 1
			named = node
		}
		if n > 1 {
			run |= 1
			c.runLength = append(c.runLength, uint32(n-2))
		}
		c.run = append(c.run, run)
		i += n
	}
	c.addMarkers(samples)
	return uint32(step)
}

func (c *sampleColumns) addMarkers(samples []trie.Sample) {
	for i := 0; i < len(samples); {
		n := 1
		for i+n < len(samples) && samples[i+n].Marker == samples[i].Marker {
			n++
		}
		c.marker = append(c.marker, fieldtriev1.Marker(samples[i].Marker))
		c.markerRunLength = append(c.markerRunLength, uint32(n-1))
		c.marked = c.marked || samples[i].Marker != trie.MarkerNone
		i += n
	}
}

// markers returns the columns of markers, which are absent when no sample has one.
func (c *sampleColumns) markers() (marker []fieldtriev1.Marker, length []uint32) {
	if !c.marked {
		return nil, nil
	}
	return c.marker, c.markerRunLength
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// sampleReader reads the columns of samples, trace by trace. The columns hold what is still unread.
type sampleReader struct {
	nodes                                         int
	time, run, runLength, marker, markerRunLength []uint64
	marked                                        bool
	runs, times, markers                          int // rows already read, for errors
}

// sampleReader returns a reader of samples of so many nodes.
func (r *documentReader) sampleReader(nodes int) (sampleReader, error) {
	s := sampleReader{nodes: nodes, time: r.col(colSampleTime), run: r.col(colSampleRun),
		runLength: r.col(colSampleRunLength),
		marker:    r.col(colMarker), markerRunLength: r.col(colMarkerRunLength)}
	s.marked = len(s.marker) > 0
	return s, r.sameRows(colMarker, colMarkerRunLength)
}

// samples appends the samples of a trace to out.
func (r *documentReader) samples(out []trie.Sample, nodes int) ([]trie.Sample, error) {
	count := len(r.col(colSampleTime))
	if len(r.col(colSampleRun)) > 0 {
		count++
	}
	if err := input.Check("sample_time", count, r.lim.Samples); err != nil {
		return nil, err
	}
	s, err := r.sampleReader(nodes)
	if err != nil {
		return nil, err
	}
	out = slices.Grow(out, count)[:count]
	start, unit := unzigzag(r.single(colSampleStart)), r.single(colSampleUnit)
	return out, input.First(s.read(out, start, unit, int64(r.context.GetInterval())), s.end())
}

// read fills samples with the samples of the next trace.
func (s *sampleReader) read(samples []trie.Sample, start int64, unit uint64, interval int64) error {
	if len(samples) == 0 {
		return nil
	}
	return input.First(s.readRuns(samples), s.readTimes(samples, start, unit, interval), s.readMarkers(samples))
}

func (s *sampleReader) readRuns(samples []trie.Sample) error {
	var named int64 // the last node named by a run
	for left := samples; len(left) > 0; s.runs++ {
		if len(s.run) == 0 {
			return input.Refuse(input.Invalid, "sample_run", "%d samples are in no run", len(left))
		}
		run, n := s.run[0], uint64(1)
		s.run = s.run[1:]
		if run&1 == 1 {
			if len(s.runLength) == 0 || s.runLength[0] > uint64(len(left)) {
				return input.Refuse(input.Invalid, "sample_run_length", "does not fit run %d", s.runs)
			}
			n, s.runLength = s.runLength[0]+2, s.runLength[1:]
		}
		node := int64(0)
		if run>>1 > 0 {
			named += unzigzag(run>>1 - 1)
			if node = named; node <= 0 || node >= int64(s.nodes) {
				return input.Refuse(input.Invalid, "sample_run", "run %d: node %d of %d", s.runs, node, s.nodes-1)
			}
		}
		if n > uint64(len(left)) {
			return input.Refuse(input.Invalid, "sample_run", "run %d ends after the last sample", s.runs)
		}
		for i := range left[:n] {
			left[i] = trie.Sample{Node: trie.NodeID(node)}
		}
		left = left[n:]
	}
	return nil
}

func (s *sampleReader) readTimes(samples []trie.Sample, now int64, unit uint64, interval int64) error {
	if unit == 0 || unit > trie.MaxTime {
		return input.Refuse(input.Invalid, "sample_unit", "%d µs is out of range", unit)
	}
	usual := interval / int64(unit)
	if now < -trie.MaxTime || now > trie.MaxTime {
		return input.Refuse(input.Invalid, "sample_start", "%d µs is out of range", now)
	}
	if len(s.time) < len(samples)-1 {
		return input.Refuse(input.Invalid, "sample_time", "%d rows are left for %d samples", len(s.time), len(samples))
	}
	samples[0].Time = now
	for i, raw := range s.time[:len(samples)-1] {
		more := unzigzag(raw)
		if more < -usual || more > 2*trie.MaxTime/int64(unit) {
			return input.Refuse(input.Invalid, "sample_time", "row %d: %d units more than %d is out of range",
				s.times+i, more, usual)
		}
		if now += (more + usual) * int64(unit); now > trie.MaxTime {
			return input.Refuse(input.Invalid, "sample_time", "row %d: %d µs is out of range", s.times+i, now)
		}
		samples[i+1].Time = now
	}
	s.times += len(samples) - 1
	s.time = s.time[len(samples)-1:]
	return nil
}

func (s *sampleReader) readMarkers(samples []trie.Sample) error {
	if !s.marked {
		return nil
	}
	for at := 0; at < len(samples); s.markers++ {
		if len(s.marker) == 0 {
			return input.Refuse(input.Invalid, "marker_run_length", "covers %d of %d samples", at, len(samples))
		}
		m, n := s.marker[0], s.markerRunLength[0]
		s.marker, s.markerRunLength = s.marker[1:], s.markerRunLength[1:]
		if n >= uint64(len(samples)-at) {
			return input.Refuse(input.Invalid, "marker_run_length", "row %d ends after the last sample", s.markers)
		}
		if m > uint64(trie.MarkerIdle) {
			return input.Refuse(input.Invalid, "marker", "row %d: unknown marker %d", s.markers, m)
		}
		for range n + 1 {
			samples[at].Marker = trie.Marker(m)
			at++
		}
	}
	return nil
}

// end checks that all rows belong to a trace.
func (s *sampleReader) end() error {
	if len(s.run) > 0 {
		return input.Refuse(input.Invalid, "sample_run", "row %d belongs to no sample", s.runs)
	}
	if n := len(s.runLength); n > 0 {
		return input.Refuse(input.Invalid, "sample_run_length", "%d rows belong to no run", n)
	}
	if len(s.time) > 0 {
		return input.Refuse(input.Invalid, "sample_time", "row %d belongs to no sample", s.times)
	}
	if len(s.marker) > 0 {
		return input.Refuse(input.Invalid, "marker_run_length", "row %d belongs to no sample", s.markers)
	}
	return nil
}
