package trie

// stackReader translates the stacks of a trace to stacks of another trie.
type stackReader struct {
	*ancestors
	to      *Trie
	nodes   []NodeID // by node of the trace: its stack
	program FrameID  // (program); noFrame if missing
	idle    FrameID  // (idle); noFrame if missing
}

const noFrame FrameID = 1<<32 - 1

// newStackReader returns a reader of from, or of no trace if from is nil.
func newStackReader(from *Trace, to *Trie) *stackReader {
	s := &stackReader{ancestors: newAncestors(), to: to, program: noFrame, idle: noFrame}
	if from == nil {
		return s
	}
	frames := make([]FrameID, len(from.Frames))
	for i := range frames {
		f := from.FrameOf(FrameID(i))
		frames[i] = to.Intern(f)
		switch f {
		case Frame{Name: FrameProgram}:
			s.program = frames[i]
		case Frame{Name: FrameIdle}:
			s.idle = frames[i]
		}
	}
	s.nodes = make([]NodeID, len(from.Nodes))
	for i, n := range from.Nodes[1:] {
		s.nodes[i+1] = s.child(s.nodes[n.Parent], frames[n.Frame])
	}
	return s
}

// of returns the stack of a sample, with the synthetic frame of its marker on top, or Root without
// a trace.
func (s *stackReader) of(x Sample) NodeID {
	if x.Node == Root && x.Marker == MarkerNone {
		return Root
	}
	n := s.nodes[x.Node]
	if frame, ok := x.Marker.synthetic(x.Node != Root); ok {
		n = s.child(n, s.to.Intern(frame))
	}
	return n
}

// background reports whether a stack is a single frame for time in which no function runs:
// (program) or (idle).
func (s *stackReader) background(n NodeID) bool {
	return s.depth[n] == 1 && s.backgroundFrame(s.Nodes[n].Frame)
}

func (s *stackReader) backgroundFrame(f FrameID) bool { return f == s.program || f == s.idle }

// isProgram reports whether x is work outside the page's functions.
func (s *stackReader) isProgram(x Sample) bool {
	n := s.nodes[x.Node]
	return x.Marker == MarkerNone && s.depth[n] == 1 && s.Nodes[n].Frame == s.program
}

// sameCall reports whether both samples are in the same outermost call.
func (s *stackReader) sameCall(a, b Sample) bool {
	if a.Node == Root || b.Node == Root || a.Marker != MarkerNone || b.Marker != MarkerNone {
		return false
	}
	n := s.at(s.nodes[a.Node], 1)
	return n == s.at(s.nodes[b.Node], 1) && !s.background(n)
}
