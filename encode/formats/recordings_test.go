package formats

import (
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// The recordings of this project, with samples and events merged.
func TestRecordings(t *testing.T) {
	open := func(name string) *trie.Recording {
		return decodeFile(t, "../../testdata/recordings/"+name).Recording
	}
	r := open("chromium.trace.json.gz")
	i := slices.IndexFunc(r.Threads, func(t trie.Thread) bool { return t.Name == "CrRendererMain" })
	main := &r.Threads[i]
	if len(main.Streams) != 2 || main.Streams[main.Best()].Source != "Internal" {
		t.Fatalf("%d streams, the best %d", len(main.Streams), main.Best())
	}
	for k := range main.Streams {
		s := &main.Streams[k]
		checkSampled(t, "alone", s.Trace, checkConserved(t, "alone", s, nil))
		checkConserved(t, "merged", s, main.Events)
	}
	// A layout that a function forced is below that function.
	merged := callsOf(t, &main.Streams[main.Best()], main.Events)
	forced := int64(0)
	for _, c := range merged.Calls {
		if parent := merged.Nodes[c.Node].Parent; c.Event && merged.Frame(c.Node).Name == "Layout" &&
			merged.Frame(parent).Name == "forceLayout" {
			forced += c.End - c.Start
		}
	}
	if forced < 10_000 {
		t.Errorf("%d µs of layout are below forceLayout", forced)
	}
	// The page's own profiler recorded the same samples as the trace.
	doc := decodeFile(t, "../../testdata/recordings/chromium.selfprofile.json.gz")
	if got, want := len(main.Streams[1].Trace.Samples), len(doc.Trace.Samples); got != want {
		t.Errorf("%d samples of SelfProfiling in the trace, %d in the page", got, want)
	}
	for _, name := range []string{"node-main.cpuprofile.gz", "node-worker.cpuprofile.gz"} {
		if r := open(name); len(r.Threads) != 1 || len(r.Warnings) > 0 || r.Threads[0].Best() < 0 {
			t.Errorf("%s: %d threads, %q", name, len(r.Threads), r.Warnings)
		}
	}
}
