package pyroscope

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"

	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
	typesv1 "github.com/fieldtrie/fieldtrie/proto/types/v1"
)

// call is a bar of a flame graph, as seen by a viewer.
type call struct {
	begin, total, self int64
	stack              string // names, root first
	below              int64  // the totals of its callees
}

// rebuild converts levels to a tree in the same way as Grafana: each bar belongs to the first
// parent, from the left, that contains it. A bar without a parent is an error. It returns the
// totals by stack. skip and stride choose the side of a comparison.
func rebuild(names []string, levels [][]int64, skip, stride int) (map[string]int64, error) {
	if names[levels[0][0]] != rootName || len(levels[0]) != stride {
		return nil, fmt.Errorf("the root is %v, named %q", levels[0], names[levels[0][0]])
	}
	out := map[string]int64{}
	var above []*call
	for depth, values := range levels {
		if len(values)%stride != 0 {
			return nil, fmt.Errorf("level %d has %d values", depth, len(values))
		}
		var level []*call
		end, parent := int64(0), 0
		for i := 0; i < len(values); i += stride {
			c := &call{begin: end + values[i+skip], total: values[i+skip+1], self: values[i+skip+2]}
			end = c.begin + c.total
			name := names[values[i+stride-1]]
			if values[i+skip] < 0 || c.self < 0 || c.total < c.self {
				return nil, fmt.Errorf("level %d: %q is %v", depth, name, values[i:i+stride])
			}
			if depth > 0 {
				for parent < len(above) && (c.begin < above[parent].begin ||
					end > above[parent].begin+above[parent].total) {
					parent++
				}
				if parent == len(above) {
					return nil, fmt.Errorf("level %d: %q is outside of all bars above it", depth, name)
				}
				c.stack = above[parent].stack + "\n" + name
				above[parent].below += c.total
			}
			out[c.stack] += c.total
			level = append(level, c)
		}
		for _, c := range above {
			if c.self+c.below != c.total {
				return nil, fmt.Errorf("%q has %d, its callees %d, and all of it is %d", c.stack, c.self,
					c.below, c.total)
			}
		}
		above = level
	}
	return out, nil
}

func levelsOf(levels []*querierv1.Level) (out [][]int64) {
	for _, l := range levels {
		out = append(out, l.Values)
	}
	return out
}

// totalsOf returns the totals of a profile by stack, in the names of flame graphs.
func totalsOf(p *trie.Profile, of profileType) map[string]int64 {
	names := namesOf(&p.Trie)
	flat, _ := p.Flat()
	total := p.Totals(flat)
	out := map[string]int64{"": of.ofWeight(total[trie.Root])}
	for n := 1; n < len(p.Nodes); n++ {
		if v := of.ofWeight(total[n]); v != 0 {
			stack := ""
			for a := range p.Stack(trie.NodeID(n)) {
				stack = "\n" + names[p.Nodes[a].Frame] + stack
			}
			out[stack] += v
		}
	}
	return out
}

func TestFlameGraphTotals(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	for selector, sel := range map[string]selection.Selection{
		"{}":                                     {},
		`{page="/a"}`:                            {Page: "/a"},
		`{page=~"/a|/b"}`:                        where(t, "page", selection.Matches, "/a|/b"),
		`{feature="search",service_name="shop"}`: where(t, "feature", selection.Equal, "search"),
		`{release!="r1",service_name=~"sh.+"}`:   where(t, "release", selection.NotEqual, "r1"),
	} {
		p := f.profileOf(t, sel)
		for i, id := range []string{wall, samples} {
			var got querierv1.SelectMergeStacktracesResponse
			all := int64(-1)
			f.call(t, "SelectMergeStacktraces", &querierv1.SelectMergeStacktracesRequest{
				ProfileTypeID: id, LabelSelector: selector, Start: start, End: end, MaxNodes: &all,
			}, &got)
			g := got.Flamegraph
			have, err := rebuild(g.Names, levelsOf(g.Levels), 0, 4)
			if err != nil {
				t.Fatalf("%s: %v", selector, err)
			}
			want := totalsOf(p, profileTypes()[i])
			if !maps.Equal(have, want) || g.Total != want[""] || g.Total == 0 {
				t.Errorf("%s %s: %d stacks and %d, want %d and %d", selector, id, len(have), g.Total,
					len(want), want[""])
			}
		}
	}
}

// Two functions with one name stay separate, and their names contain their places.
func TestNames(t *testing.T) {
	f := newFixture(t)
	p := f.profileOf(t, selection.Selection{Page: "/a"})
	names := namesOf(&p.Trie)
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			t.Errorf("%q is the name of two functions", n)
		}
		seen[n] = true
	}
	for _, want := range []string{"main app.js:1:1", "t app.js:1:20", "t app.js:1:30", "(anonymous) app.js:1:40",
		"u https://x.example/a/lib.js:1:5", "u https://x.example/b/lib.js:1:5"} {
		if !seen[want] {
			t.Errorf("there is no %q among %q", want, names)
		}
	}
	for resource, want := range map[string]string{
		"": "", "https://a.example": "a.example/", "https://a.example/": "a.example/", "https://a.example/x/": "x",
		"https://a.example/x/y.js?v=1#2": "y.js", "webpack:///./src/a.js": "a.js", "node:fs": "node:fs", "%": "%",
		"app.js": "app.js",
	} {
		if got := shortResource(resource); got != want {
			t.Errorf("%q is short for %q, want %q", got, resource, want)
		}
	}
}

// Pruned nodes become one child of each parent, and totals do not change.
func TestFlameGraphPruned(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	for _, most := range []int64{1, 5, 100, 1 << 60} {
		var got querierv1.SelectMergeStacktracesResponse
		f.call(t, "SelectMergeStacktraces", &querierv1.SelectMergeStacktracesRequest{
			ProfileTypeID: wall, LabelSelector: "{}", Start: start, End: end, MaxNodes: &most,
		}, &got)
		have, err := rebuild(got.Flamegraph.Names, levelsOf(got.Flamegraph.Levels), 0, 4)
		if err != nil {
			t.Fatal(err)
		}
		want := totalsOf(f.profileOf(t, selection.Selection{}), profileTypes()[0])
		others := 0
		for stack, v := range have {
			if strings.HasSuffix(stack, "\n"+trie.FrameOther) {
				others++
			} else if want[stack] != v {
				t.Errorf("%d nodes: %q has %d, want %d", most, stack, v, want[stack])
			}
		}
		if most < 1000 && (others == 0 || int64(len(have)-others) > 4*most+100) {
			t.Errorf("%d nodes: there are %d, and %d of what was pruned", most, len(have), others)
		}
	}
}

// Trees of any form nest.
func TestFlameGraphRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() *trie.Profile {
		p := trie.NewProfile()
		for range 1 + r.IntN(60) {
			var stack []trie.Frame
			for range 1 + r.IntN(6) {
				stack = append(stack, trie.Frame{Name: string(rune('a' + r.IntN(4))), Resource: "x.js",
					Line: uint32(r.IntN(2))})
			}
			p.Add(nil, p.Insert(stack...), trie.Weight{Self: r.Int64N(5), Samples: r.Int64N(3)})
		}
		return p
	}
	for range 300 {
		left, right := random(), random()
		of := profileTypes()[r.IntN(2)]
		g := newStacks(left, -1, of).flameGraph()
		if got, err := rebuild(g.Names, levelsOf(g.Levels), 0, 4); err != nil || !maps.Equal(got, totalsOf(left, of)) {
			t.Fatalf("%v\n%v\n%v", err, got, totalsOf(left, of))
		}
		d := newStacks(left, int64(r.IntN(50)), of).beside(right).layOut()
		for side := range 2 {
			if _, err := rebuild(d.used, d.levels, 3*side, 7); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFlameGraphEmpty(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	for _, body := range []string{
		fmt.Sprintf(`{"profileTypeID":%q,"labelSelector":"{page=\"/none\"}","start":%d,"end":%d}`, wall, start, end),
		fmt.Sprintf(`{"profileTypeID":%q,"labelSelector":"{service_name=\"other\"}","start":%d,"end":%d}`, wall,
			start, end),
		fmt.Sprintf(`{"profileTypeID":%q,"labelSelector":"{__profile_type__=\"%s\"}","start":%d,"end":%d}`, wall,
			samples, start, end),
		fmt.Sprintf(`{"profileTypeID":%q,"start":1,"end":2}`, wall),
	} {
		_, text := f.post(t, "SelectMergeStacktraces", "application/json", body)
		if got := strings.ReplaceAll(text, " ",
			""); got != `{"flamegraph":{"names":["total"],"levels":[{"values":["0","0","0","0"]}]}}` {
			t.Errorf("%s: %s", body, got)
		}
	}
}

func TestCallSite(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	r := &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: wall, LabelSelector: `{page="/a"}`,
		Start: start, End: end}
	var all, some querierv1.SelectMergeStacktracesResponse
	f.call(t, "SelectMergeStacktraces", r, &all)
	r.StackTraceSelector = &typesv1.StackTraceSelector{CallSite: []*typesv1.Location{{Name: "total"},
		{Name: "main app.js:1:1"}, {Name: "t app.js:1:20"}}}
	f.call(t, "SelectMergeStacktraces", r, &some)
	whole, err := rebuild(all.Flamegraph.Names, levelsOf(all.Flamegraph.Levels), 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := whole["\nmain app.js:1:1\nt app.js:1:20"]
	if some.Flamegraph.Total != want || want == 0 || len(some.Flamegraph.Names) != 3 {
		t.Errorf("%d of %v, want %d", some.Flamegraph.Total, some.Flamegraph.Names, want)
	}
}

func TestDiff(t *testing.T) {
	f := newFixture(t)
	start, end := f.day()
	side := func(selector string) *querierv1.SelectMergeStacktracesRequest {
		all := int64(-1)
		return &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: wall, LabelSelector: selector, Start: start,
			End: end, MaxNodes: &all}
	}
	var got querierv1.DiffResponse
	f.call(t, "Diff", &querierv1.DiffRequest{Left: side(`{release="r0"}`), Right: side(`{release="r2"}`)}, &got)
	g := got.Flamegraph
	for i, release := range []string{"r0", "r2"} {
		have, err := rebuild(g.Names, levelsOf(g.Levels), 3*i, 7)
		if err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(have, func(_ string, v int64) bool { return v == 0 })
		want := totalsOf(f.profileOf(t, where(t, "release", selection.Equal, release)), profileTypes()[0])
		if !maps.Equal(have, want) || want[""] != []int64{g.LeftTicks, g.RightTicks}[i] || want[""] == 0 {
			t.Errorf("side %d: %v\nwant %v", i, have, want)
		}
	}
	if g.Total != g.LeftTicks+g.RightTicks {
		t.Errorf("the total is %d", g.Total)
	}

	path := fmt.Sprintf("/pyroscope/render-diff?leftQuery=%s{release%%3D%%22r0%%22}&leftFrom=%d&leftUntil=%d&"+
		"rightQuery=%s{release%%3D%%22r2%%22}&rightFrom=%d&rightUntil=%d&max-nodes=-1",
		wall, start, end, wall, start, end)
	var old rendered
	f.get(t, path, &old)
	if old.Metadata.Format != "double" || old.LeftTicks != g.LeftTicks || old.RightTicks != g.RightTicks ||
		old.Flamebearer.NumTicks != g.Total || fmt.Sprint(old.Flamebearer.Levels) != fmt.Sprint(levelsOf(g.Levels)) {
		t.Errorf("%+v", old)
	}
}
