package sums

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// view is a page view with a sample every 10 ms, such as "f;g": g called by f. "own" is the
// profiling script, and "" no stack.
type view struct {
	release, browser, device string
	samples                  []string
	feature                  string
	from, to                 int // range of samples with the feature
}

const interval = 10 // ms

func frameOf(name string) trie.Frame {
	if name == "own" {
		return trie.Frame{Name: trie.FrameFieldtrie}
	}
	return trie.Frame{Name: name, Resource: "https://x.example/app.js", Line: 1}
}

func (v *view) trace(id int) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	t.Context = trie.Context{Page: "/a", ViewID: fmt.Sprintf("%016d", id), Interval: interval * 1000,
		Release: v.release,
		Labels:  trie.MakeLabels(rollup.KeyBrowser, v.browser, rollup.KeyDevice, v.device)}
	for i, stack := range v.samples {
		node := trie.NodeID(trie.Root)
		if stack != "" {
			var frames []trie.Frame
			for name := range strings.SplitSeq(stack, ";") {
				frames = append(frames, frameOf(name))
			}
			node = t.Insert(frames...)
		}
		t.Samples = append(t.Samples, trie.Sample{Time: int64(i) * interval * 1000, Node: node})
	}
	if v.to > v.from {
		t.Context.Spans = []trie.Span{{Kind: trie.SpanFeature, Name: v.feature,
			Start: int64(v.from) * interval * 1000, Length: int64(v.to-v.from) * interval * 1000}}
	}
	return t
}

// time returns the time with a stack in the given samples, in ms, without the profiling script.
func (v *view) time(from, to int) (ms float64) {
	for _, s := range v.samples[from:to] {
		if s != "" && s != "own" {
			ms += interval
		}
	}
	return ms
}

func (v *view) all() float64 { return v.time(0, len(v.samples)) }

func (v *view) kind() string {
	family, _, _ := strings.Cut(v.browser, " ")
	return fmt.Sprintf("%q", trie.MakeLabels(rollup.KeyBrowser, family, rollup.KeyDevice, v.device))
}

// randomViews returns page views with time in /a.
func randomViews(r *rand.Rand) (out []view) {
	for range 2 + r.IntN(20) {
		v := view{release: fmt.Sprint("r", r.IntN(2)), browser: fmt.Sprint("Chrome 15", r.IntN(2)),
			device: []string{"mobile-low", "desktop-high"}[r.IntN(2)], feature: fmt.Sprint("s", r.IntN(2))}
		for range 1 + r.IntN(30) {
			v.samples = append(v.samples, []string{"f", "f;g", "f;g;f", "h", "own", ""}[r.IntN(6)])
		}
		v.samples[0] = "f" // gives the feature some time
		v.to = r.IntN(len(v.samples) + 1)
		out = append(out, v)
	}
	return out
}

// record returns the sums of views.
func record(t testing.TB, views []view) store.Rolled {
	t.Helper()
	b := rollup.NewWholeBuilder("/a", rollup.Limits{}.WithDefaults())
	for i := range views {
		b.Begin(1)
		b.Add(views[i].trace(i))
		b.End()
	}
	rec, err := b.Record()
	if err != nil {
		t.Fatal(err)
	}
	return store.Rolled{Page: "/a", Stacks: b.Stacks(), Record: rec}
}

// split divides views among several records.
func split(t testing.TB, r *rand.Rand, views []view) (out []store.Rolled) {
	parts := make([][]view, 1+r.IntN(4))
	for _, v := range views {
		i := r.IntN(len(parts))
		parts[i] = append(parts[i], v)
	}
	for _, p := range parts {
		out = append(out, record(t, p))
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func sameAmount(a, b compare.Amount) bool {
	return near(a.Seen, b.Seen) && near(a.Sum, b.Sum) && near(a.Squares, b.Squares) && near(a.Product, b.Product)
}

// one returns the amount of one page view with the given time.
func one(ms, all float64) compare.Amount {
	return compare.Amount{Seen: 1, Sum: ms, Squares: ms * ms, Product: ms * all}
}

func add(a *compare.Amount, b compare.Amount) {
	*a = compare.Amount{Seen: a.Seen + b.Seen, Sum: a.Sum + b.Sum, Squares: a.Squares + b.Squares,
		Product: a.Product + b.Product}
}

// naiveFunctions computes the functions of page views one by one.
func naiveFunctions(views []view, byRelease bool) map[ReleasedFrame]compare.Function {
	out := map[ReleasedFrame]compare.Function{}
	for i := range views {
		v := &views[i]
		self, total := map[string]float64{}, map[string]float64{}
		for _, s := range v.samples {
			if s == "" {
				continue
			}
			stack := strings.Split(s, ";")
			self[stack[len(stack)-1]] += interval
			slices.Sort(stack)
			for _, name := range slices.Compact(stack) {
				total[name] += interval
			}
		}
		for name := range total {
			key := ReleasedFrame{Frame: frameOf(name)}
			if byRelease {
				key.Release = v.release
			}
			f := out[key]
			if f.Self == nil {
				f.Self = make([]compare.Amount, 1)
			}
			a := one(self[name], v.all())
			if name == "own" {
				a.Product = 0 // not part of the time of the page view
			}
			add(&f.Self[0], a)
			f.Frame, f.Total, f.Reach = key.Frame, f.Total+total[name], f.Reach+1
			out[key] = f
		}
	}
	return out
}

// A day has the sums of its page views by kind of page view, feature and function, however the page
// views are divided among records.
func TestDay(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		views := randomViews(r)
		at := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
		want := Day{Day: at, Views: float64(len(views)), Strata: map[string]DayStratum{}}
		for i := range views {
			v := &views[i]
			x, ok := want.Strata[v.kind()]
			if !ok {
				x.Features = map[string]compare.Amount{}
			}
			x.Views++
			add(&x.Time, one(v.all(), 0))
			add(&want.Time, one(v.all(), 0))
			if v.to > v.from {
				f := x.Features[v.feature]
				add(&f, one(v.time(v.from, v.to), 0))
				x.Features[v.feature] = f
			}
			want.Strata[v.kind()] = x
		}
		for _, byRelease := range []bool{false, true} {
			d := NewDay(at, "")
			for _, x := range split(t, r, views) {
				d.Add(x, byRelease)
			}
			got := d.Day(func(f ReleasedFrame) trie.Frame { return f.Frame })
			functions := naiveFunctions(views, false)
			if got.Views != want.Views || !sameAmount(got.Time, want.Time) || len(got.Strata) != len(want.Strata) ||
				len(got.Functions) != len(functions) {
				t.Fatalf("seed %d: got %+v, want %+v", seed, got, want)
			}
			for key, w := range want.Strata {
				g := got.Strata[key]
				if g.Views != w.Views || !sameAmount(g.Time, w.Time) || len(g.Features) != len(w.Features) {
					t.Errorf("seed %d, %s: got %+v, want %+v", seed, key, g, w)
				}
				for name, amount := range w.Features {
					if !sameAmount(g.Features[name], amount) {
						t.Errorf("seed %d, %s, %s: got %+v, want %+v", seed, key, name, g.Features[name], amount)
					}
				}
			}
			for _, g := range got.Functions {
				w := functions[ReleasedFrame{Frame: g.Frame}]
				if !sameAmount(g.Self[0], w.Self[0]) || g.Total != w.Total || g.Reach != w.Reach {
					t.Errorf("seed %d: got %+v, want %+v", seed, g, w)
				}
			}
			for key, us := range d.Self() {
				if w := naiveFunctions(views, byRelease)[key]; float64(us) != w.Self[0].Sum*1e3 {
					t.Errorf("seed %d, %v: got %d µs, want %v ms", seed, key, us, w.Self[0].Sum)
				}
			}
		}
	}
}

// If a part is unknown, the sum is unknown, unless the part has no time.
func TestPlus(t *testing.T) {
	known, vague, none := compare.Amount{Seen: 1, Sum: 2, Squares: 4, Product: 6}, compare.Amount{Seen: 1, Sum: 2},
		compare.Amount{Seen: 3}
	for _, tt := range []struct{ a, b, want compare.Amount }{
		{known, known, compare.Amount{Seen: 2, Sum: 4, Squares: 8, Product: 12}},
		{known, vague, compare.Amount{Seen: 2, Sum: 4}},
		{known, none, compare.Amount{Seen: 4, Sum: 2, Squares: 4, Product: 6}},
		{none, none, compare.Amount{Seen: 6}},
	} {
		if a, b := plus(tt.a, tt.b), plus(tt.b, tt.a); a != tt.want || b != tt.want {
			t.Errorf("%+v and %+v: got %+v and %+v, want %+v", tt.a, tt.b, a, b, tt.want)
		}
	}
}

// Functions of several records add up. If two have one name, the squares are an upper bound.
func TestFunctions(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		views := randomViews(r)
		s := NewFunctions()
		for _, x := range split(t, r, views) {
			for i := range x.Record.Functions {
				s.Add(&x.Record.Functions[i], x.Stacks, true)
			}
		}
		want := naiveFunctions(views, true)
		if len(s.of) != len(want) || s.Size() != len(want)*functionSize {
			t.Fatalf("seed %d: got %d functions, want %d", seed, len(s.of), len(want))
		}
		var all compare.Amount
		for i := range views {
			add(&all, one(views[i].all(), 0))
		}
		if got := s.Views.Squares() / 1e6; float64(s.Views.Sum)/1e3 != all.Sum || !near(got, all.Squares) {
			t.Errorf("seed %d: got %+v of all page views, want %+v", seed, s.Views, all)
		}
		named := s.Named(nil)
		functions := naiveFunctions(views, false)
		for f, got := range named.Amounts(nil, true) {
			if w := functions[ReleasedFrame{Frame: f}].Self[0]; !sameAmount(got, w) {
				t.Errorf("seed %d, %s: got %+v, want %+v", seed, f.Name, got, w)
			}
		}
		for f, got := range named.Amounts(nil, false) {
			if got.Product != 0 {
				t.Errorf("seed %d, %s: the product is %v, want unknown", seed, f.Name, got.Product)
			}
		}
		part := frameOf("part")
		got := named.Amounts(func(f trie.Frame) trie.Frame {
			if f.Own() {
				return f
			}
			return part
		}, true)[part]
		if !near(got.Sum, all.Sum) || got.Squares < all.Squares*(1-1e-9) || !near(got.Product, all.Squares) {
			t.Errorf("seed %d: a part of all functions is %+v, want %+v, or more squares", seed, got, all)
		}
	}
}

// The selected time of page views adds up to the distributions, and to their long tasks.
func TestTimeInView(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		views := randomViews(r)
		x := record(t, views)
		for _, sel := range []selection.Selection{
			{}, {Feature: "s0"}, {Where: where(t, "release=r1")}, {Where: where(t, "feature=s1", "release=r0")},
			{Where: where(t, "device!=mobile-low", "browser=~Chrome.*1")}, {Where: where(t, "page=/b")},
		} {
			f, err := FacetOf(sel)
			if err != nil {
				t.Fatal(err)
			}
			var got, want InView
			for i := range views {
				in := TimeInView(sel, views[i].trace(i), "/a")
				want.Self, want.Long = want.Self+in.Self-in.Own, want.Long+in.Long
			}
			for i := range x.Record.Distributions {
				if d := &x.Record.Distributions[i]; f.TakesBase(d) && f.TakesPart(PartOf(d)) && sel.TakesPage("/a") {
					got.Self, got.Long = got.Self+d.Time.Sum, got.Long+d.Long.Sum
				}
			}
			if got.Self != want.Self {
				t.Errorf("seed %d, %v: got %d µs, want %d", seed, sel, got.Self, want.Self)
			}
		}
	}
	samples := func(s string) (out []string) {
		for _, c := range s {
			out = append(out, strings.TrimSpace(string(c)))
		}
		return out
	}
	for s, want := range map[string]InView{
		"":             {},
		"ffff":         {Self: 40_000},
		"fffff":        {Self: 50_000, Long: 50_000, Tasks: 1},
		"ffgff":        {Self: 50_000, Long: 50_000, Tasks: 1},
		"ffff f":       {Self: 50_000},
		" fffff ggggg": {Self: 100_000, Long: 100_000, Tasks: 2},
		"ffffff ggg ":  {Self: 90_000, Long: 60_000, Tasks: 1},
	} {
		v := view{samples: samples(s)}
		if got := TimeInView(selection.Selection{}, v.trace(1), "/a"); got != want {
			t.Errorf("%q: got %+v, want %+v", s, got, want)
		}
		if got := TimeInView(selection.Selection{}, v.trace(1), "/b"); got != (InView{}) {
			t.Errorf("%q has %+v on another page", s, got)
		}
	}
}

func where(t testing.TB, conditions ...string) (out []selection.Matcher) {
	t.Helper()
	for _, c := range conditions {
		m, err := selection.ParseMatcher(c)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// Distributions answer selections by the labels that do not change during a view, and one feature
// or phase.
func TestFacetOf(t *testing.T) {
	for _, tt := range []struct {
		feature string
		where   []string
		groups  []string
		part    string
		refused string
	}{
		{part: ""},
		{feature: "s0", part: "feature"},
		{where: []string{"release=r1", "page=~/a.*", "connection!=4g"}, groups: []string{"browser", "page"}},
		{where: []string{"phase=load"}, part: "phase"},
		{groups: []string{"phase"}, where: []string{"phase=~lo.*"}, part: "phase"},
		{groups: []string{"feature"}, part: "feature"},
		{feature: "s0", groups: []string{"phase"}, refused: "not for a feature within a phase"},
		{where: []string{"visibility=hidden"}, refused: "not by visibility"},
		{groups: []string{"navigation"}, refused: "not by navigation"},
		{feature: "s0", where: []string{"feature=s1"}, refused: "one condition on the feature"},
		{where: []string{"phase=load", "phase!=idle"}, refused: "one condition on the phase"},
		{groups: []string{"phase"}, where: []string{"phase!=idle"}, refused: "cannot exclude others"},
		{where: []string{"feature=~s."}, refused: "several features together"},
		{where: []string{"feature="}, refused: "several features together"},
	} {
		f, err := FacetOf(selection.Selection{Feature: tt.feature, Where: where(t, tt.where...), GroupBy: tt.groups})
		if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) ||
			err == nil && f.Part != tt.part {
			t.Errorf("%+v: got %+v, %v", tt, f, err)
		}
	}
	groups := []string{"page", "device", "environment"}
	f, err := FacetOf(selection.Selection{Where: where(t, "release=r1", "page=/a"), GroupBy: groups})
	if err != nil || !f.TakesFunctions("r1") || f.TakesFunctions("r2") || !f.TakesAnyFunctions() {
		t.Errorf("functions of a release: got %v", err)
	}
	d := &rollup.Distribution{Labels: trie.MakeLabels("device", "mobile-low", "feature", "s0", "release", "r1")}
	want := trie.Labels{{Key: "page", Value: "/a"}, {Key: "device", Value: "mobile-low"}}
	if got := f.Group("/a", d); !reflect.DeepEqual(got, want) {
		t.Errorf("got the group %v, want %v", got, want)
	}
	if part := PartOf(d); part != (trie.Label{Key: "feature", Value: "s0"}) || f.TakesPart(part) ||
		!f.TakesPart(trie.Label{}) || !f.TakesBase(d) {
		t.Errorf("got the part %v", part)
	}
	if f, err = FacetOf(selection.Selection{Where: where(t, "device=desktop-high")}); err != nil ||
		f.TakesFunctions("r1") || f.TakesAnyFunctions() || f.TakesBase(d) {
		t.Errorf("functions of a device: got %v", err)
	}
}

// Two sides have the sums of their page views by stratum, and a side compared with itself has the
// same length.
func TestSides(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		views := randomViews(r)
		side := func(release string, plain bool) (*Side, []view) {
			f, err := FacetOf(selection.Selection{Where: where(t, "release="+release)})
			if err != nil {
				t.Fatal(err)
			}
			s := NewSide(f, nil, plain, func(int) error { return nil })
			for _, x := range split(t, r, views) {
				if err := s.Add(x, false); err != nil {
					t.Fatal(err)
				}
			}
			s.See()
			return s, slices.DeleteFunc(slices.Clone(views), func(v view) bool { return v.release != release })
		}
		a, ofA := side("r0", seed%2 == 0)
		b, ofB := side("r1", seed%2 == 0)
		in := Input(a, b, nil, nil, nil)
		for _, x := range []struct {
			side  *Side
			got   compare.Side
			views []view
		}{{a, in.A, ofA}, {b, in.B, ofB}} {
			count, sum := 0.0, compare.Amount{}
			for i := range in.Strata {
				count += x.got.Views[i]
				add(&sum, x.got.Time[i])
			}
			want := compare.Amount{}
			for i := range x.views {
				add(&want, one(x.views[i].all(), 0))
			}
			if count != float64(len(x.views)) || !sameAmount(sum, want) {
				t.Errorf("seed %d: got %v page views with %+v, want %d with %+v", seed, count, sum, len(x.views), want)
			}
			functions := naiveFunctions(x.views, false)
			// not part of the time of a page view
			delete(functions, ReleasedFrame{Frame: trie.Frame{Name: trie.FrameFieldtrie}})
			for _, f := range x.got.Functions {
				w, self := functions[ReleasedFrame{Frame: f.Frame}], compare.Amount{}
				for _, amount := range f.Self {
					add(&self, amount)
				}
				if !near(self.Sum, w.Self[0].Sum) || f.Total != w.Total || f.Reach != w.Reach ||
					x.side.Exact() && !sameAmount(self, w.Self[0]) {
					t.Errorf("seed %d, %s: got %+v with %+v, want %+v", seed, f.Frame.Name, f, self, w)
				}
			}
			if len(x.got.Functions) != len(functions) {
				t.Errorf("seed %d: got %d functions, want %d", seed, len(x.got.Functions), len(functions))
			}
		}
		length, count := Lengths(a, a)
		if length.A != length.B || count.A != count.B || count.A != float64(len(ofA)) {
			t.Errorf("seed %d: compared with itself a side has %v of %v page views, want of %d", seed, length,
				count, len(ofA))
		}
		profiled := 0.0
		for _, v := range ofA {
			profiled += float64(len(v.samples)) * interval * 1e3 // with and without a stack
		}
		if len(ofA) > 0 && !near(length.A*count.A, profiled) {
			t.Errorf("seed %d: page views were profiled for %v µs, want %v", seed, length.A*count.A, profiled)
		}
	}
}

// A kind of page view is its browser without a version, and its device.
func TestKindOf(t *testing.T) {
	got := KindOf(trie.MakeLabels("browser", "Mobile Safari 18.2", "connection", "4g", "device", "phone"))
	want := trie.Labels{{Key: "browser", Value: "Mobile"}, {Key: "device", Value: "phone"}}
	if !reflect.DeepEqual(got, want) || len(KindOf(nil)) > 0 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBounds(t *testing.T) {
	for want, e := range map[string]Estimate{
		"": {Value: 3}, "(1.0 to 5.3)": {3, 1, 5.26}, "(-1.0 to 0.1)": {0, -1, 0.1},
	} {
		if got := e.Bounds(1); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
