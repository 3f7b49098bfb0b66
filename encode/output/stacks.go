package output

import (
	"fmt"

	"github.com/fieldtrie/fieldtrie/trie"
)

// maxStackFrames bounds the frames of all stacks in a format that writes every
// stack in full: calls nested 20,000 deep have 200 million.
const maxStackFrames = 1 << 26

// CheckStacks rejects a profile whose stacks are too deep to be written one by one.
func CheckStacks(p *trie.Profile) error {
	depths := p.Depths()
	frames := 0
	for i := range p.Groups {
		for n, w := range p.Groups[i].Weights.All() {
			if OnTop(w) {
				frames += int(depths[n])
			}
		}
	}
	if frames > maxStackFrames {
		return fmt.Errorf("the stacks have %d frames in all, and a format that writes each stack whole takes %d; "+
			"tree, svg, d3, json and cpuprofile share what stacks have in common", frames, maxStackFrames)
	}
	return nil
}
