package compare

import (
	"cmp"
	"slices"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Align returns the profile of another selection as one to be shown beside p: functions that
// only stand somewhere else are where they are in p. One that is no more in p, and stood
// where another one is now, has " (gone)" after its name, so that the two are not one.
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

// framesOf returns the frames of a profile, each once, by place.
func framesOf(p *trie.Profile) []trie.Frame {
	frames := make([]trie.Frame, len(p.Frames))
	for i := range frames {
		frames[i] = p.FrameOf(trie.FrameID(i))
	}
	slices.SortFunc(frames, trie.CompareFrames)
	return slices.Compact(frames)
}
