package view

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Times per page view are the totals divided by the page views; shares and counts do not change.
func TestPerView(t *testing.T) {
	p := trie.NewProfile()
	p.Views, p.Traces = 4, 5
	p.Group(nil).Coverage = trie.Coverage{Views: 4, Traces: 5, Stackless: 20_000}
	draw := p.Insert(fixture.FrameMain, trie.Frame{Name: "draw"})
	p.Add(nil, draw, trie.Weight{Self: 6_000, Samples: 3, Reach: 2})
	p.Add(nil, p.Insert(fixture.FrameMain), trie.Weight{Self: 2_000, Samples: 1, Reach: 4})
	base := trie.NewProfile()
	base.Views = 4
	base.Group(nil).Coverage = trie.Coverage{Views: 4}
	base.Add(nil, base.Insert(fixture.FrameMain), trie.Weight{Self: 2_001, Samples: 1, Reach: 4})
	for name, o := range map[string]output.Options{"per-view": {PerView: true}, "per-view-base": {PerView: true,
		Base: base}} {
		fixture.CompareGolden(t, name+".top", []byte(fixture.Written(t, EncodeTop, p, o)))
		fixture.CompareGolden(t, name+".tree", []byte(fixture.Written(t, EncodeTree, p, o)))
	}
}
