package query

import (
	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/trie"
)

// functionSums are how the times of functions spread over page views, by frame.
type functionSums map[trie.Frame]*rollup.Function

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
