package sums

import (
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Release returns the release of a side. one is false if its page views have several releases or
// none.
func (s *Side) Release() (release string, one bool) {
	for release = range s.releases {
	}
	return release, len(s.releases) == 1 && release != ""
}

// codes returns the evidence from two builds for the functions of a profile of one of them; after
// selects the newer build. Names of the older build may have their places in the newer one.
func codes(p *trie.Profile, all []edits.Edit, after bool) map[trie.Frame]compare.Code {
	edited := map[trie.Frame]bool{} // functions in both the profile and a build
	for i := range p.Frames {
		if f := p.FrameOf(trie.FrameID(i)); f.Resource != "" {
			edited[f] = false
		}
	}
	known := make(map[trie.Frame]bool, len(edited))
	learn := func(f *edits.Function, edit bool) {
		if f == nil {
			return
		}
		frame := f.Frame()
		if was, ok := edited[frame]; ok {
			known[frame], edited[frame] = true, was || edit
		}
	}
	for i := range all {
		e := &all[i]
		learn(e.After, e.Kind.IsEdit())
		if !after {
			learn(e.Before, e.Kind.IsEdit())
		}
	}
	out := make(map[trie.Frame]compare.Code, len(p.Frames))
	for i := range p.Frames {
		switch f := p.FrameOf(trie.FrameID(i)); {
		case edited[f]:
			out[f] = compare.CodeEdited
		case known[f] || f.Resource == "": // functions of the browser are not part of a build
			out[f] = compare.CodeSame
		}
	}
	for i := 1; i < len(p.Nodes); i++ {
		callee, caller := p.FrameOf(p.Nodes[i].Frame), trie.Frame{}
		if parent := p.Nodes[i].Parent; parent > 0 {
			caller = p.FrameOf(p.Nodes[parent].Frame)
		}
		if out[caller] == compare.CodeEdited && out[callee] == compare.CodeSame {
			out[callee] = compare.CodeCalled
		}
		if c := out[caller]; out[callee] == compare.CodeEdited && (c == compare.CodeSame || c == compare.CodeCalled) {
			out[caller] = compare.CodeCalls
		}
	}
	return out
}
