package query

import (
	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/trie"
)

// functionSums are how the times of functions spread over page views, by frame.
type functionSums map[trie.Frame]*rollup.Function

// functionSize is about how many bytes a function takes, with a histogram of some buckets.
const functionSize = 400

// size returns about how many bytes s takes.
func (s functionSums) size() int { return len(s) * functionSize }

// add adds the functions of a release, whose frames are those of stacks.
func (s functionSums) add(of *rollup.Functions, stacks *trie.Trie) {
	for k := range of.Of {
		frame := stacks.FrameOf(of.Of[k].Frame)
		if s[frame] == nil {
			s[frame] = &rollup.Function{}
		}
		s[frame].AddAll(&of.Of[k])
	}
}
