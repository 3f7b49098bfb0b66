package demo

import (
	"fmt"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/trie"
)

// functions numbers the functions of the shop's script across its releases, as the symbols of two
// builds pair them. Edited, added and removed functions are planted; all others are the same in
// each release.
type functions struct {
	releases []*release
	number   []map[trie.Frame]uint32 // by release, of a frame that only has a location
	frame    []map[uint32]trie.Frame // by release
	// texts has the hash of the text in each release of planted functions, 0 in releases without
	// it.
	texts map[uint32][]uint32
}

// common is the resource of the frames of the shop's script that belong to no release. Their line
// is the number of the function, or 0 outside the functions of the sources.
const common = "shop"

// newFunctions pairs the functions of releases, the oldest release first.
func newFunctions(releases []*release) *functions {
	c := &functions{releases: releases, texts: map[uint32][]uint32{}}
	last := uint32(0)
	for i, r := range releases {
		c.number, c.frame = append(c.number, map[trie.Frame]uint32{}), append(c.frame, map[uint32]trie.Frame{})
		var before []*symbols.Table
		if i > 0 {
			before = []*symbols.Table{releases[i-1].table}
		}
		for _, e := range edits.Between(before, []*symbols.Table{r.table}).Edits {
			var n uint32
			if e.Before != nil {
				n = c.number[i-1][placeOf(e.Before.Function)]
			} else {
				last++
				n = last
			}
			if i > 0 && e.Kind.IsEdit() && e.Kind != edits.Recompiled {
				c.texts[n] = nil
			}
			if f := e.After; f != nil {
				c.number[i][placeOf(f.Function)] = n
				c.frame[i][n] = trie.Frame{Name: f.Minified, Resource: r.url(), Line: f.Line, Column: f.Column}
			}
		}
	}
	for n := range c.texts {
		for i, r := range releases {
			text := uint32(0)
			if f, ok := c.frame[i][n]; ok {
				text = r.table.Find(f.Line, f.Column).Text
			}
			c.texts[n] = append(c.texts[n], text)
		}
	}
	return c
}

func placeOf(f *symbols.Function) trie.Frame { return trie.Frame{Line: f.Line, Column: f.Column} }

// toCommon converts a frame of a release to a release-independent one.
func (c *functions) toCommon(release int, f trie.Frame) (trie.Frame, error) {
	if f.Resource != c.releases[release].url() {
		return f, nil
	}
	if n, ok := c.number[release][trie.Frame{Line: f.Line, Column: f.Column}]; ok {
		return trie.Frame{Resource: common, Line: n}, nil
	}
	if f.Name != "" || f.Line > 1 || f.Column > 2 { // neither the script itself nor the bundler's function around it
		return f, fmt.Errorf("the symbols of %s have no function %s", c.releases[release].Release, f)
	}
	return trie.Frame{Resource: common, Column: f.Column}, nil
}

// ofRelease converts a release-independent frame to the frame that a browser reports for a release.
func (c *functions) ofRelease(release int, f trie.Frame) trie.Frame {
	switch {
	case f.Resource != common:
		return f
	case f.Line > 0:
		return c.frame[release][f.Line]
	}
	return trie.Frame{Resource: c.releases[release].url(), Line: min(f.Column, 1), Column: f.Column}
}

// same reports whether a planted function is the same in two releases.
func (c *functions) same(n uint32, a, b int) bool { return c.texts[n][a] == c.texts[n][b] }
