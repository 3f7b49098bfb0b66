package view

import (
	"encoding/json"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// d3Node is a node in the input of the charts.
type d3Node struct {
	Name          string   `json:"name"`
	Value         int64    `json:"value"`
	ExecutionTime int64    `json:"executionTime"`
	Delta         *int64   `json:"delta"`
	Start         *int64   `json:"start"`
	Package       string   `json:"package"`
	Module        string   `json:"nodeModule"`
	Resource      string   `json:"resource"`
	Line          uint32   `json:"line"`
	Column        uint32   `json:"column"`
	Children      []d3Node `json:"children"`
}

func parseD3(t *testing.T, data string) d3Node {
	t.Helper()
	var root d3Node
	if err := json.Unmarshal([]byte(data), &root); err != nil {
		t.Fatal(err)
	}
	return root
}

// all returns n and its descendants, each after its parent.
func (n d3Node) all() []d3Node {
	out := []d3Node{n}
	for i := 0; i < len(out); i++ {
		out = append(out, out[i].Children...)
	}
	return out
}

// TestD3 checks that the self times add up to the total time, and that every total is the sum of
// its parts.
func TestD3(t *testing.T) {
	profiles := map[string]*trie.Profile{"groups": fixture.GroupedProfile(), "odd": fixture.OddTrace().Profile(),
		"hostile": fixture.HostileProfile(), "nothing": trie.NewProfile()}
	for name, p := range profiles {
		root := parseD3(t, fixture.Written(t, EncodeD3, p, output.Options{}))
		var self int64
		for _, n := range root.all() {
			self += n.Value
			total := n.Value
			for _, c := range n.Children {
				total += c.ExecutionTime
			}
			if total != n.ExecutionTime {
				t.Errorf("%s: %s: total %d, its parts are %d", name, n.Name, n.ExecutionTime, total)
			}
		}
		flat, _ := p.Flat()
		if want := output.SelfSum(flat); self != want || root.ExecutionTime != want {
			t.Errorf("%s: got self %d, total %d, want %d", name, self, root.ExecutionTime, want)
		}
	}
}

func TestD3Compared(t *testing.T) {
	now, base := fixture.ComparedPair()
	root := parseD3(t, fixture.Written(t, EncodeD3, now, output.Options{Base: base}))
	var delta int64
	for _, n := range root.all() {
		if n.Delta == nil {
			t.Fatalf("%s: no delta", n.Name)
		}
		delta += *n.Delta
		if n.Name == "querySelector" && (n.Value != 0 || *n.Delta != -5_000) {
			t.Errorf("a node of the base alone: got %+v", n)
		}
		if n.Name == "map" && (n.Package != "lodash" || n.Module != "lodash" || n.Line != 3) {
			t.Errorf("got %+v", n)
		}
	}
	if delta != 110_001-125_000 {
		t.Errorf("got a change of %d", delta)
	}
}

// TestD3Timed checks that every call is a node at its time.
func TestD3Timed(t *testing.T) {
	lines := fixture.SomeTimelines()
	root := parseD3(t, fixture.WrittenTimed(t, EncodeD3Timed, output.Options{}, lines...))
	if len(root.Children) != 2 || root.Children[0].Name != "CrRendererMain" || root.Children[1].Name != "thread 9" {
		t.Fatalf("got %+v", root)
	}
	var starts []int64
	var self, idle int64
	for _, n := range root.Children[0].all()[1:] {
		starts = append(starts, *n.Start)
		if n.Name == trie.FrameIdle {
			idle += n.Value
		} else {
			self += n.Value
		}
	}
	if self != lines[0].Self() || idle != 3_000 || *root.Children[1].Start != 0 {
		t.Errorf("got self %d, idle %d, starts %v", self, idle, starts)
	}
	alone := parseD3(t, fixture.WrittenTimed(t, EncodeD3Timed, output.Options{Title: "/feed"}, lines[0]))
	if alone.Name != "/feed" || alone.ExecutionTime != 8_500 || len(alone.Children) != 3 {
		t.Errorf("one thread: got %+v", alone)
	}
}
