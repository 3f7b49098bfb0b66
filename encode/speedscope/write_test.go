package speedscope

import (
	"encoding/json"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestSpeedscope checks that each group is a profile, and that the weights add up to the total
// time.
func TestSpeedscope(t *testing.T) {
	for name, p := range map[string]*trie.Profile{"groups": fixture.GroupedProfile(),
		"hostile": fixture.HostileProfile(), "one": fixture.MinimalTrace().Profile()} {
		var file struct {
			Shared   speedscopeShared
			Profiles []speedscopeSampled
		}
		if err := json.Unmarshal([]byte(fixture.Written(t, Encode, p, output.Options{})), &file); err != nil {
			t.Fatal(err)
		}
		if len(file.Profiles) != len(p.Groups) {
			t.Errorf("%s: %d profiles of %d groups", name, len(file.Profiles), len(p.Groups))
		}
		var all int64
		for _, s := range file.Profiles {
			var weights int64
			for i, stack := range s.Samples {
				weights += s.Weights[i]
				for _, f := range stack {
					if f < 0 || f >= len(file.Shared.Frames) {
						t.Fatalf("%s: frame %d of %d", name, f, len(file.Shared.Frames))
					}
				}
			}
			if weights != s.EndValue || len(s.Samples) != len(s.Weights) {
				t.Errorf("%s: %s: weights %d, end %d", name, s.Name, weights, s.EndValue)
			}
			all += weights
		}
		if flat, _ := p.Flat(); all != output.SelfSum(flat) {
			t.Errorf("%s: got %d, want %d", name, all, output.SelfSum(flat))
		}
	}
}

// TestSpeedscopeTimed checks that events are nested and in time order, and that threads share
// frames.
func TestSpeedscopeTimed(t *testing.T) {
	var file struct {
		Shared   speedscopeShared
		Profiles []speedscopeEvented
	}
	lines := fixture.SomeTimelines()
	lines[1].Calls = append(lines[1].Calls, trie.Call{Node: lines[1].Insert(fixture.FrameMain), Start: 900, End: 1_000})
	if err := json.Unmarshal([]byte(fixture.WrittenTimed(t, EncodeTimed, output.Options{}, lines...)),
		&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Profiles) != 2 || len(file.Shared.Frames) != 4 {
		t.Fatalf("got %+v", file)
	}
	for i, p := range file.Profiles {
		var open []int
		var self int64
		at := p.StartValue
		for _, e := range p.Events {
			if e.At < at {
				t.Errorf("%s: %d after %d", p.Name, e.At, at)
			}
			if len(open) > 0 {
				self += e.At - at
			}
			at = e.At
			if e.Type == "O" {
				open = append(open, e.Frame)
			} else if n := len(open) - 1; n < 0 || open[n] != e.Frame {
				t.Fatalf("%s: frame %d is closed, open are %v", p.Name, e.Frame, open)
			} else {
				open = open[:n]
			}
		}
		if len(open) > 0 || at != p.EndValue || self != lines[i].Self() {
			t.Errorf("%s: open %v, ends at %d of %d, self %d of %d", p.Name, open, at, p.EndValue, self,
				lines[i].Self())
		}
	}
}
