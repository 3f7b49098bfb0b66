package output

import "github.com/fieldtrie/fieldtrie/trie"

// Spent divides the time of recorded threads, in µs. Time without a stack in which the thread may
// have been idle or not is in none of its fields.
type Spent struct {
	// JavaScript is the self time of functions. Garbage collection is not part of it, although it
	// is on top of the function that it interrupted.
	JavaScript int64 `json:"javascript_us"`
	Collecting int64 `json:"gc_us"`      // garbage collection, see [trie.FrameGC]
	Program    int64 `json:"program_us"` // native work that no function called, see [trie.FrameProgram]
	Idle       int64 `json:"idle_us"`    // nothing to do
}

// SpentIn returns how the time of a group of p was spent.
func SpentIn(p *trie.Profile, group *trie.Group) Spent {
	s := Spent{Idle: group.Coverage.Idle}
	for n, w := range group.Weights.All() {
		switch p.Frame(n) {
		case trie.Frame{Name: trie.FrameGC}:
			s.Collecting += w.Self
		case trie.Frame{Name: trie.FrameProgram}:
			s.Program += w.Self
		case trie.Frame{Name: trie.FrameIdle}:
			s.Idle += w.Self
		default:
			s.JavaScript += w.Self
		}
	}
	return s
}

// SpentBy returns how the time of a trace was spent.
func SpentBy(t *trie.Trace) Spent {
	var s Spent
	p := t.Profile()
	for i := range p.Groups {
		s.Add(SpentIn(p, &p.Groups[i]))
	}
	return s
}

// Add adds the times of o to the times of s, in µs.
func (s *Spent) Add(o Spent) {
	s.JavaScript += o.JavaScript
	s.Collecting += o.Collecting
	s.Program += o.Program
	s.Idle += o.Idle
}
