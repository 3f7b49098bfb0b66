package owner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

func ofTest() func(trie.Frame) Owner { return NewFinder(Default(), sources(nil)).Of }

// frameOf returns a frame for a short text: /name belongs to the app, name:function to a package,
// function to a script without symbols, and any other text has no script.
func frameOf(text string) trie.Frame {
	if name, ok := strings.CutPrefix(text, "/"); ok {
		return trie.Frame{Name: name, Resource: "src/" + name + ".ts", Line: 1}
	}
	if name, ok := strings.CutPrefix(text, "!"); ok {
		return trie.Frame{Name: name, Resource: "https://shop.example/old.js", Line: 1}
	}
	if pkg, name, ok := strings.Cut(text, ":"); ok {
		return trie.Frame{Name: name, Resource: "node_modules/" + pkg + "/index.js", Line: 1}
	}
	return trie.Frame{Name: text}
}

// profileOf returns a profile with the self times of stacks such as "/main > react:render 5".
func profileOf(stacks ...string) *trie.Profile {
	p := trie.NewProfile()
	for i, s := range stacks {
		at := strings.LastIndexByte(s, ' ')
		var stack []trie.Frame
		for name := range strings.SplitSeq(s[:at], " > ") {
			stack = append(stack, frameOf(name))
		}
		var self int64
		_, _ = fmt.Sscan(s[at:], &self)
		n := p.Insert(stack...)
		p.Add(nil, n, trie.Weight{Self: self, Samples: int64(i + 1), Reach: 1})
		for m := range p.Stack(p.Nodes[n].Parent) {
			p.Add(nil, m, trie.Weight{Reach: 1}) // each stack belongs to a different page view
		}
	}
	p.Views = int64(len(stacks))
	return p
}

// stacksOf returns all nodes with self time as profileOf reads them, and their reach.
func stacksOf(p *trie.Profile) (out []string) {
	flat, _ := p.Flat()
	for n := range p.Preorder() {
		var names []string
		for m := range p.Stack(n) {
			name := p.Frame(m).Name
			if strings.HasPrefix(p.Frame(m).Resource, "src/") {
				name = "/" + name
			}
			names = append(names, name)
		}
		slices.Reverse(names)
		if flat[n].Self != 0 {
			out = append(out, fmt.Sprintf("%s %d of %d", strings.Join(names, " > "), flat[n].Self, flat[n].Reach))
		}
	}
	slices.Sort(out)
	return out
}

func TestFoldAndOnly(t *testing.T) {
	for name, tt := range map[string]struct{ in, folded, only []string }{
		"a framework calls the app": {
			[]string{"scheduler:loop > react-dom:work > react-dom:render > /Row > react-dom:hook > react-dom:hook2 5",
				"scheduler:loop > react-dom:work 2", "scheduler:loop > react-dom:work > react-dom:render > /Row 3"},
			[]string{
				"(framework scheduler) > (framework react-dom) 2 of 3",
				"(framework scheduler) > (framework react-dom) > /Row 3 of 2",
				"(framework scheduler) > (framework react-dom) > /Row > (framework react-dom) 5 of 1",
			},
			[]string{"(framework react-dom) 2 of 3", "/Row 8 of 2"},
		},
		"browser work belongs to its caller": {
			[]string{"react-dom:a > map > react-dom:b > appendChild 4", "/a > querySelector 2",
				"/a > lodash:each > forEach > /b 1", "click 3", "/a > (gc) 6", "react-dom:a > (gc) 7"},
			[]string{
				"(framework react-dom) 4 of 2",
				"(framework react-dom) > (gc) 7 of 1",
				"/a > (gc) 6 of 1", "/a > (package lodash) > /b 1 of 1", "/a > querySelector 2 of 1",
				"click 3 of 1",
			},
			[]string{"(browser) 3 of 1", "(framework react-dom) 4 of 2", "(gc) 7 of 1", "/a 8 of 3", "/a > /b 1 of 1"},
		},
		"recursion of the app stays": {
			[]string{"/a > /a > /b > lodash:x > /a 1", "/a 2"},
			[]string{"/a 2 of 2", "/a > /a > /b > (package lodash) > /a 1 of 1"},
			[]string{"/a 2 of 2", "/a > /a > /b > /a 1 of 1"},
		},
		"scripts without symbols, and hidden code": {
			[]string{"!f > !g > add 1", "(third-party ads.example) > /a > (unknown) 2", "(unknown) > x 3"},
			[]string{"(third-party ads.example) > /a > (unknown) 2 of 1", "(unknown) 3 of 1", "f > g > add 1 of 1"},
			[]string{"(unknown) 3 of 1", "(unmapped) 1 of 1", "/a 2 of 1"},
		},
		"a view counts once where owners take turns": {
			[]string{"vue:a > lodash:b > vue:c 1", "vue:a > lodash:b 2"},
			[]string{"(framework vue) > (package lodash) 2 of 2",
				"(framework vue) > (package lodash) > (framework vue) 1 of 1"},
			[]string{"(framework vue) 1 of 2", "(package lodash) 2 of 2"},
		},
	} {
		p := profileOf(tt.in...)
		if got := stacksOf(FoldOthers(p, ofTest())); !slices.Equal(got, tt.folded) {
			t.Errorf("%s, folded:\n%s\nwant:\n%s", name, strings.Join(got, "\n"), strings.Join(tt.folded, "\n"))
		}
		if got := stacksOf(OnlyApp(p, ofTest())); !slices.Equal(got, tt.only) {
			t.Errorf("%s, only the app:\n%s\nwant:\n%s", name, strings.Join(got, "\n"), strings.Join(tt.only, "\n"))
		}
	}
}

// randomProfile returns a random profile that depends only on seed.
func randomProfile(seed uint64) *trie.Profile {
	r := rand.New(rand.NewPCG(seed, 3))
	frames := []string{
		"/a", "/b", "/c", "react-dom:x", "react-dom:y", "scheduler:x", "lodash:x", "lodash:y", "!f", "!g", "map",
		"appendChild",
		"(gc)", "(layout)", "(other)", "(unknown)", "(third-party ads.example)", "(browser)", "(app)", "(unmapped)",
		"(framework react-dom)",
	}
	p := trie.NewProfile()
	for range r.IntN(40) {
		parent := trie.NodeID(r.IntN(len(p.Nodes)))
		if r.IntN(3) > 0 {
			parent = trie.NodeID(len(p.Nodes) - 1)
		}
		n := p.Child(parent, p.Intern(frameOf(frames[r.IntN(len(frames))])))
		labels := trie.MakeLabels("release", fmt.Sprint(r.IntN(2)))
		p.Add(labels, n, trie.Weight{Self: r.Int64N(100) - 10, Samples: r.Int64N(5), Reach: r.Int64N(3)})
		p.Group(labels).Coverage.Add(trie.Coverage{Views: 1, Stackless: r.Int64N(9)})
	}
	p.Views, p.Traces = r.Int64N(9), r.Int64N(9)
	return p
}

func FuzzFoldLaws(f *testing.F) {
	for i := range uint64(200) {
		f.Add(2*i, 2*i+1)
	}
	f.Fuzz(func(t *testing.T, x, y uint64) {
		a, b := randomProfile(x), randomProfile(y)
		of := ofTest()
		before := a.Canonical()
		for name, rewrite := range map[string]func(*trie.Profile,
			func(trie.Frame) Owner) *trie.Profile{"FoldOthers": FoldOthers, "OnlyApp": OnlyApp} {
			got := rewrite(a, of)
			if err := got.Validate(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkSums(t, name, got, a)
			if !rewrite(got, of).Equal(got) {
				t.Errorf("applying %s twice is not the same as once", name)
			}
			if !rewrite(trie.Merge(a, b), of).Equal(trie.Merge(got, rewrite(b, of))) {
				t.Errorf("%s does not commute with merging", name)
			}
		}
		checkSplit(t, a)
		folded, only := FoldOthers(a, of), OnlyApp(a, of)
		checkFunctions(t, "FoldOthers", a, folded, func(o Owner) bool {
			return o.Kind == App || o.Kind == Unmapped
		}, true)
		checkFunctions(t, "OnlyApp", a, only, func(o Owner) bool { return o.Kind == App }, false)
		if !OnlyApp(folded, of).Equal(only) {
			t.Error("OnlyApp of a folded profile differs")
		}
		if !before.Equal(a) {
			t.Error("the input was changed")
		}
	})
}

// checkSums checks that two profiles have the same groups with the same sums.
func checkSums(t *testing.T, name string, got, want *trie.Profile) {
	t.Helper()
	if got.Views != want.Views || got.Traces != want.Traces || len(got.Groups) != len(want.Groups) {
		t.Fatalf("%s: different views, traces or groups", name)
	}
	for i := range want.Groups {
		g, w := &got.Groups[i], &want.Groups[i]
		gs, gn := g.Sum()
		ws, wn := w.Sum()
		if gs != ws || gn != wn || g.Coverage != w.Coverage || !slices.Equal(g.Labels, w.Labels) {
			t.Errorf("%s, group %v: %d µs and %d samples, %+v; want %d and %d, %+v", name, w.Labels, gs, gn, g.Coverage,
				ws, wn, w.Coverage)
		}
	}
}

// checkFunctions checks that the functions of some owners have the same totals in p and q, and with
// self also the same self times and samples.
func checkFunctions(t *testing.T, name string, p, q *trie.Profile, whose func(Owner) bool, self bool) {
	t.Helper()
	weigh := func(p *trie.Profile) map[trie.Frame]trie.Function {
		out := map[trie.Frame]trie.Function{}
		for _, f := range p.Functions() {
			if f.Reach = 0; !self {
				f.Self, f.Samples = 0, 0
			}
			if whose(ofTest()(f.Frame)) && !f.Weightless() {
				out[f.Frame] = f
			}
		}
		return out
	}
	before, after := weigh(p), weigh(q)
	for f, want := range before {
		if after[f] != want {
			t.Errorf("%s: %v weighs %+v, want %+v", name, f, after[f], want)
		}
	}
	if !self { // OnlyApp creates (unmapped), which is not a function of the app
		return
	}
	for f := range after {
		if _, ok := before[f]; !ok {
			t.Errorf("%s: %v is new", name, f)
		}
	}
}

func BenchmarkFold(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	p := trie.NewProfile()
	for len(p.Nodes) < 100_000 {
		name := fmt.Sprintf("/f%d", r.IntN(4000))
		if r.IntN(4) > 0 {
			name = fmt.Sprintf("package%d:f%d", r.IntN(40), r.IntN(400))
		}
		n := p.Child(trie.NodeID(max(0, len(p.Nodes)-1-r.IntN(30))), p.Intern(frameOf(name)))
		p.Add(nil, n, trie.Weight{Self: 1, Samples: 1, Reach: 1})
	}
	for name, rewrite := range map[string]func(*trie.Profile,
		func(trie.Frame) Owner) *trie.Profile{"FoldOthers": FoldOthers, "OnlyApp": OnlyApp} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				rewrite(p, ofTest())
			}
		})
	}
}
