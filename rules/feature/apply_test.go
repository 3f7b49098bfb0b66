package feature

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

const never = 1 << 30 // more spans than in any test

func mustRules(t testing.TB, list ...Rule) Rules {
	t.Helper()
	r, err := NewRules(list)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// spans returns the spans of a context as KIND NAME START-END.
func spans(c *trie.Context) (out []string) {
	for _, s := range c.Spans {
		out = append(out, fmt.Sprintf("%d %s %d-%d", s.Kind, s.Name, s.Start, s.End()))
	}
	return out
}

// shop is a trace of an application with two pages. Samples are at most 10 µs apart, except for one
// gap.
func shop() *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	f := func(name, resource string) trie.Frame { return trie.Frame{Name: name, Resource: resource} }
	const app, chart = "https://x.example/app.1a.js", "https://x.example/node_modules/chart.js/dist/chart.js"
	main := t.Insert(f("main", app))
	draw := t.Insert(f("main", app), f("draw", chart), f("arc", ""))
	search := t.Insert(f("main", app), f("searchAll", app))
	other := t.Insert(f("searchAll", "https://other.example/x.js"))
	t.Samples = []trie.Sample{
		{Time: 0, Node: main}, {Time: 10, Node: draw}, {Time: 20, Node: draw}, {Time: 20, Node: search},
		{Time: 25, Node: search},
		{Time: 130, Node: search}, {Time: 140, Node: other}, {Time: 150}, {Time: 160, Node: draw,
			Marker: trie.MarkerLayout},
	}
	t.Context = trie.Context{Page: "/shop", Interval: 10, Spans: []trie.Span{{Kind: trie.SpanPage, Name: "/shop/pay",
		Start: 22, Length: 115}}}
	return t
}

func TestApply(t *testing.T) {
	for _, test := range []struct {
		name  string
		rules []Rule
		most  Bounds
		has   []trie.Span // spans sent by the page
		want  []string
		skip  int
	}{
		{name: "a page is all its time", rules: []Rule{{Name: "p", Page: "/shop/pay"}}, want: []string{"1 p 22-137"}},
		{name: "pages below", rules: []Rule{{Name: "p", Page: "/shop/**"}}, want: []string{"1 p 0-170"}},
		{name: "a page with several stretches", rules: []Rule{{Name: "p", Page: "/shop"}}, want: []string{"1 p 0-22",
			"1 p 137-170"}},
		{name: "a package and its callees", rules: []Rule{{Name: "c", Package: "chart.js"}},
			want: []string{"1 c 10-20", "1 c 160-170"}},
		{name: "a function, without the gap", rules: []Rule{{Name: "s", Function: "search*"}},
			want: []string{"1 s 20-55", "1 s 130-150"}},
		{name: "with a resource", rules: []Rule{{Name: "s", Function: "search*", Resource: "*/app.*.js"}},
			want: []string{"1 s 20-55", "1 s 130-140"}},
		{name: "a resource and its callees", rules: []Rule{{Name: "s", Resource: "*/app.*.js"}},
			want: []string{"1 s 0-55", "1 s 130-140", "1 s 160-170"}},
		{name: "browser work", rules: []Rule{{Name: "l", Function: "(layout)"}}, want: []string{"1 l 160-170"}},
		{name: "two rules of one feature", rules: []Rule{{Name: "x", Package: "chart.js"},
			{Name: "x", Page: "/shop/pay"}}, want: []string{"1 x 10-20", "1 x 22-137", "1 x 160-170"}},
		{name: "one rule touches the other", rules: []Rule{{Name: "x", Package: "chart.js"},
			{Name: "x", Function: "search*"}}, want: []string{"1 x 10-55", "1 x 130-150", "1 x 160-170"}},
		{name: "no match", rules: []Rule{{Name: "x", Package: "lodash"}, {Name: "y", Page: "/x"}}},
		{name: "merged with spans of the page", rules: []Rule{{Name: "c", Package: "chart.js"}},
			has: []trie.Span{{Kind: trie.SpanFeature, Name: "c", Start: 15, Length: 10}, {Kind: trie.SpanFeature,
				Name: "d", Start: 15, Length: 10}},
			want: []string{"1 d 15-25", "1 c 10-25", "1 c 160-170"}},
		{name: "room for one", rules: []Rule{{Name: "c", Package: "chart.js"}, {Name: "p", Page: "/shop/pay"}},
			most: Bounds{2, never}, want: []string{"1 p 22-137"}, skip: 1},
		{name: "no room", rules: []Rule{{Name: "c", Package: "chart.js"}, {Name: "p", Page: "/shop/pay"}},
			most: Bounds{1, never}, skip: 2},
		{name: "too many at one time", rules: []Rule{{Name: "p", Page: "/shop/pay"}, {Name: "q", Page: "/shop/**"},
			{Name: "c", Package: "chart.js"}}, most: Bounds{never, 2}, want: []string{"1 c 10-20", "1 p 22-137",
			"1 c 160-170"}, skip: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := shop()
			tr.Context.Spans = append(tr.Context.Spans, test.has...)
			trie.SortSpans(tr.Context.Spans)
			before := slices.Clone(tr.Context.Spans)
			if test.most == (Bounds{}) {
				test.most = Bounds{never, never}
			}
			skip := mustRules(t, test.rules...).Apply(tr, test.most)
			got := spans(&tr.Context)
			got = slices.DeleteFunc(got, func(s string) bool { return s == "0 /shop/pay 22-137" })
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) || skip != test.skip {
				t.Errorf("got %v, skipped %d, want %v, %d", got, skip, test.want, test.skip)
			}
			if err := tr.Validate(); err != nil {
				t.Error(err)
			}
			if len(test.want) == 0 && !reflect.DeepEqual(tr.Context.Spans, before) {
				t.Errorf("spans are %v, were %v", tr.Context.Spans, before)
			}
		})
	}
}

// A trace without samples still counts for its page.
func TestApplyWithoutSamples(t *testing.T) {
	tr := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Page: "/shop"}}
	mustRules(t, Rule{Name: "p", Page: "/shop"}, Rule{Name: "f", Function: "*"}).Apply(tr, Bounds{never, never})
	if got := tr.Features("/shop"); !slices.Equal(got, []string{"p"}) {
		t.Errorf("features are %q", got)
	}
}

// realTraces returns the traces in testdata/traces.
func realTraces(t testing.TB) map[string]*trie.Trace {
	t.Helper()
	names, err := filepath.Glob(filepath.FromSlash("../../testdata/traces/*.json.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	out := map[string]*trie.Trace{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		tr, err := encode.DecodeTraceJSON(data, encode.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = tr
	}
	return out
}

// selfIn returns the self time of a feature in a merge.
func selfIn(tr *trie.Trace, feature string) int64 {
	m := trie.NewMerger()
	m.AddTrace(tr, func(s trie.Slice) int {
		if !slices.Contains(s.Features, feature) {
			return -1
		}
		return m.Group(nil)
	})
	p := m.Profile()
	if len(p.Groups) == 0 {
		return 0
	}
	self, _ := p.Groups[0].Sum()
	return self
}

// totalOf returns the total of the outermost matching nodes of a merged trace.
func totalOf(tr *trie.Trace, fits func(trie.Frame) bool) (total int64) {
	bare := *tr
	bare.Context.Spans = nil
	m := trie.NewMerger()
	m.AddTrace(&bare, func(trie.Slice) int { return m.Group(nil) })
	p := m.Profile()
	flat, _ := p.Flat()
	totals := p.Totals(flat)
	inside := make([]bool, len(p.Nodes))
	for n := 1; n < len(p.Nodes); n++ {
		parent := inside[p.Nodes[n].Parent]
		inside[n] = parent || fits(p.Frame(trie.NodeID(n)))
		if inside[n] && !parent {
			total += totals[n].Self
		}
	}
	return total
}

// The time of a feature equals the total of its stacks to the microsecond, on real traces with
// bursts, gaps and repeats.
func TestApplyIsExact(t *testing.T) {
	for name, tr := range realTraces(t) {
		functions := map[string]bool{"": true}
		for _, f := range tr.Frames {
			functions[tr.Strings[f.Name]] = true
		}
		seen := 0
		for function := range functions {
			if function == "" || strings.Contains(function, "*") {
				continue
			}
			want := totalOf(tr, func(f trie.Frame) bool { return f.Name == function })
			one := *tr
			mustRules(t, Rule{Name: "x", Function: function}).Apply(&one, Bounds{never, never})
			if err := one.Validate(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := selfIn(&one, "x"); got != want {
				t.Errorf("%s: %s has %d µs, and a total of %d", name, function, got, want)
			}
			if want > 0 {
				seen++
			}
		}
		if seen < 5 {
			t.Errorf("%s: %d functions have time", name, seen)
		}
		for _, pattern := range []string{"*", "*e*", "r*", "*a*a*"} {
			g := newGlob(pattern)
			want := totalOf(tr, func(f trie.Frame) bool { return g.fits(f.Name) })
			one := *tr
			mustRules(t, Rule{Name: "x", Function: pattern}).Apply(&one, Bounds{never, never})
			if got := selfIn(&one, "x"); got != want {
				t.Errorf("%s: %s has %d µs, and a total of %d", name, pattern, got, want)
			}
		}
	}
}

// typicalRules are typical rules of a site: some pages, packages and functions.
func typicalRules(t testing.TB) Rules {
	return mustRules(t,
		Rule{Name: "checkout", Page: "/checkout/**"}, Rule{Name: "speedometer", Page: "/**"},
		Rule{Name: "charts", Package: "chart.js"}, Rule{Name: "react", Package: "react-dom"},
		Rule{Name: "search", Function: "search*", Resource: "*/app.*.js"}, Rule{Name: "render", Function: "*ender*"},
		Rule{Name: "events", Function: "dispatch*"}, Rule{Name: "add", Function: "add*"},
		Rule{Name: "vendor", Resource: "*/vendor*.js"}, Rule{Name: "layout", Function: "(layout)"})
}

func BenchmarkApply(b *testing.B) {
	all := realTraces(b)
	r := typicalRules(b)
	skipped, added, slow := 0, 0, 0
	for b.Loop() {
		skipped, added, slow = 0, 0, 0
		for _, tr := range all {
			one := *tr
			skipped += r.Apply(&one, Bounds{1000, 32})
			added += len(one.Context.Spans)
			slow = max(slow, len(one.Context.Spans))
		}
	}
	n := float64(len(all))
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/trace")
	b.ReportMetric(float64(added)/n, "spans/trace")
	b.ReportMetric(float64(slow), "most-spans")
	b.ReportMetric(float64(skipped)/n, "skipped/trace")
}

// BenchmarkDecode is the baseline for Apply.
func BenchmarkDecode(b *testing.B) {
	var all [][]byte
	for _, tr := range realTraces(b) {
		data, err := encode.EncodeTrace(tr)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, data)
	}
	var d encode.BinaryDecoder
	for b.Loop() {
		for _, data := range all {
			if _, err := d.Decode(data, encode.Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(all)), "µs/trace")
}
