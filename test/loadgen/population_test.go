package loadgen

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
)

// TestSite checks that generated page views resemble a real site's: usually few chunks and
// sometimes many, up to four routes, and a release that rolls out.
func TestSite(t *testing.T) {
	o := Options{Traces: realTraces(t), Count: 20_000, Pages: 50, Site: true, Variants: 1}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	releases := site().releases
	each := len(g.variants) / len(releases)
	var chunks, routes [maxChunks + 1]int
	last := map[bool]int{} // views of the last release, in the first half and in the second
	views := map[*view]bool{}
	for i := range o.Count {
		for _, d := range g.sequence.next(time.Unix(1, 0), func(*view, int) {}).traces {
			v := &g.variants[d.view.variant]
			if got, want := d.chunk.trace.Context.Release, releases[d.view.variant/each]; got != want {
				t.Fatalf("variant %d: got release %s, want %s", d.view.variant, got, want)
			}
			if views[d.view] {
				continue
			}
			views[d.view] = true
			chunks[len(v.chunks)]++
			routes[len(v.routes)+1]++
			if d.view.variant/each == len(releases)-1 {
				last[i > o.Count/2]++
			}
		}
	}
	if n := len(views); chunks[1] < n/2 || chunks[1] > n*2/3 || chunks[maxChunks] == 0 {
		t.Errorf("views by chunks: %d", chunks)
	}
	if slices.Min(routes[1:siteRoutes+1]) == 0 || routes[siteRoutes+1] > 0 {
		t.Errorf("views by routes: %d", routes)
	}
	if last[false] == 0 || last[true] < 2*last[false] {
		t.Errorf("views of the release that rolls out: %d in the first half, %d in the second", last[false], last[true])
	}
}

// TestEdition expects that releases have most but not all functions in common, and that a function
// changes identically in all traces.
func TestEdition(t *testing.T) {
	known := map[trie.Frame][]trie.Frame{}
	same, changes := 0, 0
	for _, tr := range realTraces(t) {
		e := edition(tr, 4)
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
		if len(e.Samples) != len(tr.Samples) || len(e.Nodes) < len(tr.Nodes) {
			t.Errorf("%d samples of %d, %d nodes of %d", len(e.Samples), len(tr.Samples), len(e.Nodes), len(tr.Nodes))
		}
		for i, s := range e.Samples {
			was := tr.Frame(tr.Samples[i].Node)
			if got, want := e.Frame(s.Node), changed(was, 4); s.Node != trie.Root && got != want[len(want)-1] {
				t.Fatalf("sample %d is in %+v, want %+v", i, got, want)
			}
		}
		for i := range tr.Frames {
			f := tr.FrameOf(trie.FrameID(i))
			now := changed(f, 4)
			if before := known[f]; before != nil && !slices.Equal(before, now) {
				t.Fatalf("%+v is %+v and %+v", f, before, now)
			}
			known[f] = now
			if slices.Equal(now, []trie.Frame{f}) {
				same++
			} else {
				changes++
			}
		}
	}
	if changes < same/10 || changes > same {
		t.Errorf("%d functions changed, %d did not", changes, same)
	}
}

func TestSiteChunks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		if n := siteChunks(rnd); n < 1 || n > maxChunks {
			t.Fatalf("a view of %d chunks", n)
		}
	}
}
