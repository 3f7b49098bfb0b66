package compare

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Align returns other, the profile of another selection, for display next to p. Functions whose
// place changed have their place in p. If another function took the place of a function that p
// lacks, the name of the lost one gets the suffix " (gone)", so that the two are not merged.
func Align(other, p *trie.Profile) *trie.Profile {
	to := places(framesOf(other), framesOf(p))
	if len(to) == 0 {
		return other
	}
	taken := map[trie.Frame]bool{}
	for _, place := range to {
		taken[place] = true
	}
	return other.Coalesce(func(f trie.Frame) trie.Frame {
		if moved, ok := to[f]; ok {
			return moved
		}
		if taken[f] {
			f.Name = cmp.Or(f.Name, output.Anonymous) + " (gone)"
		}
		return f
	})
}

// framesOf returns the distinct frames of a profile, by place.
func framesOf(p *trie.Profile) []trie.Frame {
	frames := make([]trie.Frame, len(p.Frames))
	for i := range frames {
		frames[i] = p.FrameOf(trie.FrameID(i))
	}
	slices.SortFunc(frames, trie.CompareFrames)
	return slices.Compact(frames)
}
