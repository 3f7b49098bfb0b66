package trie

// Share is what one sample of a trace adds to one slice of it, see [Trace.Shares].
type Share struct {
	Slice  int    // its place in the list of slices
	Node   NodeID // the stack of the sample; Root if it had none
	OnTop  Frame  // synthetic frame on top of Node that has the time; zero if Node has it
	Self   int64  // µs
	Gap    int64  // µs in which the browser took no samples
	Counts bool   // the moment of the sample is in the slice, and it is not the repeat of a burst
	Idle   bool   // the main thread had nothing to do
	Silent bool   // there is a gap alone, which says nothing of what ran in it
}

// HasStack reports whether the time goes to a node.
func (s *Share) HasStack() bool { return s.Node != Root || s.OnTop != Frame{} }

// Shares calls f with what each sample of t adds to each of the slices, which are those of
// [Trace.Slices], in the order of time. [Merger.AddTrace] weighs traces in the same way.
// What f is given is good during the call only.
func (t *Trace) Shares(slices []Slice, f func(*Share)) {
	var out Share
	at := 0
	for i, s := range t.stretches() {
		sample := &t.Samples[i]
		out = Share{Node: sample.Node, Idle: sample.Marker == MarkerIdle}
		if sample.Marker != MarkerNone {
			if frame, onTop := sample.Marker.synthetic(sample.Node != Root); onTop {
				out.OnTop = frame
			}
		}
		at = sliceFrom(slices, at, s.start)
		for k := at; k < len(slices) && (k == at || slices[k].Start < max(s.end, s.start+1)); k++ {
			out.Slice = k
			out.Self, out.Gap = slices[k].overlap(s.start, s.clip), slices[k].overlap(s.clip, s.end)
			out.Counts = s.counts && k == at
			out.Silent = out.Self == 0 && k != at
			f(&out)
		}
	}
}

// SlicesInUse returns [Trace.Slices] of t, in the memory of s, and for each whether it
// holds some of the time that the samples of t speak for, in the memory of used. A trace
// without samples is on the page it began on.
func (t *Trace) SlicesInUse(s []Slice, used []bool) ([]Slice, []bool) {
	s, used = t.appendSlices(s[:0]), used[:0]
	from, end := t.covered()
	for i := range s {
		used = append(used, s[i].Start < end && s[i].End > from)
	}
	return s, used
}
