package trie

import "slices"

// stackReader finds the stacks of a trace as frames of another trie.
type stackReader struct {
	from    *Trace
	to      *Trie
	frames  []FrameID // by the frames of the trace
	program FrameID   // (program) in the trace; noFrame if it has no such frame
	idle    FrameID   // likewise (idle)
	stack   []FrameID // scratch space
}

const noFrame FrameID = 1<<32 - 1

func newStackReader(from *Trace, to *Trie) *stackReader {
	s := &stackReader{from: from, to: to, program: noFrame, idle: noFrame, frames: make([]FrameID, len(from.Frames))}
	for i := range s.frames {
		f := from.FrameOf(FrameID(i))
		s.frames[i] = to.Intern(f)
		switch f {
		case Frame{Name: FrameProgram}:
			s.program = FrameID(i)
		case Frame{Name: FrameIdle}:
			s.idle = FrameID(i)
		}
	}
	return s
}

// of returns the stack of a sample, root first, with what its marker stands for on top.
// It is good until the next call.
func (s *stackReader) of(x Sample) []FrameID {
	s.stack = s.stack[:0]
	if s.from == nil {
		return nil
	}
	for n := range s.from.Stack(x.Node) {
		s.stack = append(s.stack, s.frames[s.from.Nodes[n].Frame])
	}
	slices.Reverse(s.stack)
	if frame, ok := x.Marker.synthetic(x.Node != Root); ok {
		s.stack = append(s.stack, s.to.Intern(frame))
	}
	return s.stack
}

// background reports whether f, of the other trie, stands for what is when no function
// runs: (program) or (idle).
func (s *stackReader) background(f FrameID) bool {
	return s.program != noFrame && s.frames[s.program] == f || s.idle != noFrame && s.frames[s.idle] == f
}

// isProgram reports whether x is of work that is no function of the page's.
func (s *stackReader) isProgram(x Sample) bool {
	n := s.from.Nodes[x.Node]
	return x.Node != Root && x.Marker == MarkerNone && n.Parent == Root && n.Frame == s.program
}

// sameCall reports whether both samples are of functions that the same call called.
func (s *stackReader) sameCall(a, b Sample) bool {
	if a.Node == Root || b.Node == Root || a.Marker != MarkerNone || b.Marker != MarkerNone {
		return false
	}
	bottom := func(n NodeID) NodeID {
		for s.from.Nodes[n].Parent != Root {
			n = s.from.Nodes[n].Parent
		}
		return n
	}
	n := bottom(a.Node)
	return n == bottom(b.Node) && s.from.Nodes[n].Frame != s.program && s.from.Nodes[n].Frame != s.idle
}
