package v8

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// readCDP returns the self time (µs) of each function by name. A sample covers the time to the next
// one, and the last sample the time to the end of the profile.
func readCDP(t *testing.T, data string) map[string]int64 {
	t.Helper()
	var p cdpProfile
	if err := json.Unmarshal([]byte(data), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Samples) != len(p.TimeDeltas) {
		t.Fatalf("%d samples, %d deltas", len(p.Samples), len(p.TimeDeltas))
	}
	parents := map[int]int{}
	for i, n := range p.Nodes {
		if n.ID != i+1 {
			t.Fatalf("node %d has the id %d", i, n.ID)
		}
		for _, c := range n.Children {
			if parents[c] != 0 || c <= n.ID || c > len(p.Nodes) {
				t.Errorf("node %d is a child of %d", c, n.ID)
			}
			parents[c] = n.ID
		}
	}
	if len(parents) != len(p.Nodes)-1 {
		t.Errorf("%d nodes, %d children", len(p.Nodes), len(parents))
	}
	self, at := map[string]int64{}, p.StartTime
	for i, s := range p.Samples {
		at += p.TimeDeltas[i]
		end := p.EndTime
		if i+1 < len(p.Samples) {
			end = at + p.TimeDeltas[i+1]
		}
		if end < at {
			t.Errorf("sample %d: from %d to %d", i, at, end)
		}
		if end > at {
			self[p.Nodes[s-1].CallFrame.FunctionName] += end - at
		}
	}
	if last := p.Samples[len(p.Samples)-1]; last != 1 || at != p.EndTime {
		t.Errorf("the last sample has node %d at %d, want the root at %d", last, at, p.EndTime)
	}
	return self
}

func TestCPUProfile(t *testing.T) {
	profiles := map[string]*trie.Profile{"groups": fixture.GroupedProfile(), "odd": fixture.OddTrace().Profile(),
		"difference": fixture.Difference(), "hostile": fixture.HostileProfile()}
	for _, name := range fixture.GoldenTraces {
		profiles[name] = fixture.RepositoryTrace(t, name, encode.DecodeProfilerTrace).Profile()
	}
	for name, p := range profiles {
		want := map[string]int64{}
		flat, _ := p.Flat()
		for n, w := range flat {
			if w.Self > 0 {
				want[strings.ToValidUTF8(p.Frame(trie.NodeID(n)).Name, "\ufffd\ufffd")] += w.Self
			}
		}
		if got := readCDP(t, fixture.Written(t, EncodeCPUProfile, p, output.Options{})); !maps.Equal(got, want) {
			t.Errorf("%s: got %v\nwant %v", name, got, want)
		}
	}
}

func TestCPUProfileTimed(t *testing.T) {
	lines := fixture.SomeTimelines()
	got := readCDP(t, fixture.WrittenTimed(t, EncodeCPUProfileTimed, output.Options{}, lines[0]))
	want := map[string]int64{"main": 1_500, "render": 3_500, "Layout": 500, "(idle)": 3_000}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	err := EncodeCPUProfileTimed(new(strings.Builder), lines, output.Options{})
	if err == nil || !strings.Contains(err.Error(), "there are CrRendererMain 7/8, 7/9: choose one with --thread") {
		t.Errorf("two threads: got %v", err)
	}
	// A thread without calls is not offered.
	fixture.WrittenTimed(t, EncodeCPUProfileTimed, output.Options{}, lines[0], &trie.Timeline{Trie: *trie.New()})
}
