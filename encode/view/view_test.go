package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

func TestTopRows(t *testing.T) {
	p := trie.NewProfile()
	for i := range 50 {
		p.Add(nil, p.Insert(trie.Frame{Name: fmt.Sprintf("f%02d", i)}), trie.Weight{Self: int64(1000 * (i + 1)),
			Samples: 1, Reach: 1})
	}
	for rows, want := range map[int]struct {
		shown int
		rest  string
	}{
		0:  {40, "        55.0   4.31%                            10         10 more functions"},
		1:  {1, "      1225.0  96.08%                            49         49 more functions"},
		50: {50, ""}, 51: {50, ""}, -1: {50, ""},
	} {
		var b strings.Builder
		if err := EncodeTop(&b, p, output.Options{Rows: rows}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		rest := ""
		if last := lines[len(lines)-1]; strings.HasSuffix(last, "more functions") {
			rest, lines = last, lines[:len(lines)-1]
		}
		const head = 3
		if got := len(lines) - head; got != want.shown || rest != want.rest {
			t.Errorf("%d rows: got %d, %q, want %d, %q", rows, got, rest, want.shown, want.rest)
		}
		if got := lines[head]; got != "        50.0   3.92%         50.0   3.92%        1      1  f49" {
			t.Errorf("%d rows: first %q", rows, got)
		}
	}
}

// TestFunctions checks that recursive calls count a moment once in the total, and that self times
// add up.
func TestFunctions(t *testing.T) {
	p := trie.NewProfile()
	a, b := trie.Frame{Name: "a"}, trie.Frame{Name: "b"}
	p.Add(nil, p.Insert(a), trie.Weight{Self: 1, Samples: 1, Reach: 3})
	p.Add(nil, p.Insert(a, b, a), trie.Weight{Self: 10, Samples: 1, Reach: 2})
	p.Add(nil, p.Insert(b, a, a), trie.Weight{Self: 100, Samples: 1, Reach: 5})
	p.Add(trie.MakeLabels("page", "/"), p.Insert(b), trie.Weight{Self: 1000, Reach: 1})
	p.Insert(trie.Frame{Name: "unused"})
	got := p.Functions()
	want := []trie.Function{{Frame: b, Self: 1000, Total: 1110, Reach: 1}, {Frame: a, Self: 111, Total: 111,
		Samples: 3, Reach: 5}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMillis(t *testing.T) {
	for us, want := range map[int64]string{0: "0.0", 49: "0.0", -49: "0.0", 50: "0.1", -51: "-0.1",
		1_234_567: "1234.6"} {
		if got := millis(us); got != want {
			t.Errorf("%d µs: got %s, want %s", us, got, want)
		}
	}
}

// TestTopIdle checks that idle time is omitted if unknown.
func TestTopIdle(t *testing.T) {
	for p, want := range map[*trie.Profile]string{
		fixture.GroupedProfile(): " 30.0 ms without a stack, ",
		fixture.IdleProfile():    " 30.0 ms without a stack (20.0 ms of that idle), ",
	} {
		var b strings.Builder
		if err := EncodeTop(&b, p, output.Options{}); err != nil {
			t.Fatal(err)
		}
		if head, _, _ := strings.Cut(b.String(), "\n"); !strings.Contains(head, want) {
			t.Errorf("got %q, want it to have %q", head, want)
		}
	}
}

// TestTopWithoutTime checks that there is no division by zero.
func TestTopWithoutTime(t *testing.T) {
	p := trie.NewProfile()
	p.Add(nil, p.Insert(fixture.FrameDOM), trie.Weight{Samples: 1})
	var b strings.Builder
	if err := EncodeTop(&b, p, output.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "         0.0       -          0.0       -        1      0  querySelector\n"; !strings.HasSuffix(
		b.String(), want) {
		t.Errorf("got %q, want it to end with %q", b.String(), want)
	}
}

// TestJSON checks that the output is plain JSON, and adds up.
func TestJSON(t *testing.T) {
	profiles := fixture.HandmadeProfiles()
	for name, tr := range fixture.HandmadeTraces() {
		profiles[name] = tr.Profile()
	}
	for _, name := range fixture.GoldenTraces {
		profiles[name] = fixture.RepositoryTrace(t, name, encode.DecodeProfilerTrace).Profile()
	}
	for name, p := range profiles {
		var b bytes.Buffer
		if err := EncodeJSON(&b, p, output.Options{}); err != nil {
			t.Fatal(err)
		}
		var got jsonProfile
		d := json.NewDecoder(&b)
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkJSON(t, name, p, &got)
	}
}

func checkJSON(t *testing.T, name string, p *trie.Profile, got *jsonProfile) {
	t.Helper()
	n := got.Nodes
	rows := len(n.Function)
	if len(n.Depth) != rows || len(n.Self) != rows || len(n.Total) != rows || len(n.Samples) != rows ||
		len(n.Reach) != rows {
		t.Fatalf("%s: columns of different length", name)
	}
	var nodes, roots, all, functions, groups int64
	functionSelf := make([]int64, len(got.Functions))
	for i := range rows {
		nodes += n.Self[i]
		if n.Depth[i] == 1 {
			roots += n.Total[i]
		}
		if i > 0 && n.Depth[i] > n.Depth[i-1]+1 || n.Depth[i] < 1 {
			t.Errorf("%s: row %d: depth %d", name, i, n.Depth[i])
		}
		if f := n.Function[i]; f < -1 || f >= len(functionSelf) {
			t.Errorf("%s: row %d: function %d", name, i, f)
		} else if f >= 0 {
			functionSelf[f] += n.Self[i]
		}
	}
	for i, f := range got.Functions {
		functions += f.Self
		if f.Self != functionSelf[i] {
			t.Errorf("%s: function %d: self %d, its nodes add up to %d", name, i, f.Self, functionSelf[i])
		}
		if i > 0 && f.Self > got.Functions[i-1].Self {
			t.Errorf("%s: function %d is heavier than the one before it", name, i)
		}
	}
	for _, g := range got.Groups {
		groups += g.Self
	}
	for i := range p.Groups {
		self, _ := p.Groups[i].Sum()
		all += self
	}
	c := got.jsonCoverage
	if nodes != all || roots != all || functions != all || groups != all || c.Self != all {
		t.Errorf("%s: got %d by nodes, %d by roots, %d by functions, %d by groups, %d in all, want %d",
			name, nodes, roots, functions, groups, c.Self, all)
	}
	if _, want := p.Flat(); (trie.Coverage{Views: c.Views, Traces: c.Traces, Stackless: c.Stackless, Idle: c.Idle,
		Unsampled: c.Unsampled, Truncated: c.Truncated}) != want {
		t.Errorf("%s: got coverage %+v, want %+v", name, c, want)
	}
}

// TestJSONCancelled checks that a frame whose weights cancel out has no function.
func TestJSONCancelled(t *testing.T) {
	p := trie.NewProfile()
	p.Add(nil, p.Insert(fixture.FrameDOM), trie.Weight{Self: 0, Reach: 1})
	p.Add(nil, p.Insert(fixture.FrameMain), trie.Weight{Self: 1})
	var b strings.Builder
	if err := EncodeJSON(&b, p, output.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := `"nodes":{"function":[-1,0],`; !strings.Contains(b.String(), want) {
		t.Errorf("got %s, want it to have %s", b.String(), want)
	}
}

// TestComparedWithItself checks that a comparison with itself has no increase and no decrease.
func TestComparedWithItself(t *testing.T) {
	p := fixture.GroupedProfile()
	w := output.Weigh(p, output.Options{Base: p})
	for n := range w.Nodes {
		if w.Delta(trie.NodeID(n)) != 0 || w.Total[n] != w.BaseTotal[n] {
			t.Errorf("node %d: %+v and %+v", n, w.Total[n], w.BaseTotal[n])
		}
	}
	var got jsonProfile
	if err := json.Unmarshal([]byte(fixture.Written(t, EncodeJSON, p, output.Options{Base: p})), &got); err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Functions {
		if *f.Delta != (jsonWeight{}) || f.Base.Self != f.Self {
			t.Errorf("got %+v", f)
		}
	}
	for i, d := range got.Nodes.DeltaTotal {
		if d != 0 || got.Nodes.DeltaSelf[i] != 0 || got.Nodes.BaseTotal[i] != got.Nodes.Total[i] {
			t.Errorf("row %d differs", i)
		}
	}
}
