package trie

// Spent is what the time of a recorded thread went to, in µs. Time without a stack of which nobody
// knows whether the thread was idle is in none of its fields.
type Spent struct {
	// JavaScript is the self time of functions. Garbage collection is not part of it, although it
	// is drawn on top of the function that it interrupted.
	JavaScript int64 `json:"javascript_us"`
	Collecting int64 `json:"gc_us"`      // garbage collection, see [FrameGC]
	Program    int64 `json:"program_us"` // native work that no function called, see [FrameProgram]
	Idle       int64 `json:"idle_us"`    // nothing to do
}

// Add adds o to s.
func (s *Spent) Add(o Spent) {
	s.JavaScript = add(s.JavaScript, o.JavaScript)
	s.Collecting = add(s.Collecting, o.Collecting)
	s.Program = add(s.Program, o.Program)
	s.Idle = add(s.Idle, o.Idle)
}

// of returns the field for self time of a frame.
func (s *Spent) of(f Frame) *int64 {
	switch f {
	case Frame{Name: FrameGC}:
		return &s.Collecting
	case Frame{Name: FrameProgram}:
		return &s.Program
	case Frame{Name: FrameIdle}:
		return &s.Idle
	}
	return &s.JavaScript
}

// Spent returns what the time of t went to.
func (t *Trace) Spent() Spent {
	var s Spent
	for i, r := range t.sampleRanges() {
		sample := &t.Samples[i]
		took := r.clip - r.start
		switch frame, onTop := sample.Marker.synthetic(sample.Node != Root); {
		case onTop:
			*s.of(frame) += took
		case sample.Node != Root:
			*s.of(t.Frame(sample.Node)) += took
		case sample.Marker == MarkerIdle:
			s.Idle += took
		}
	}
	return s
}

// Spent returns what the time of a group of p, by its index, went to.
func (p *Profile) Spent(group int) Spent {
	g := &p.Groups[group]
	s := Spent{Idle: g.Coverage.Idle}
	for n, w := range g.Weights.All() {
		at := s.of(p.Frame(n))
		*at = add(*at, w.Self)
	}
	return s
}
