package rollup

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/trie"
)

// randomTrace returns a trace of a view with spans of pages, features and labels.
func randomTrace(r *rand.Rand, view string, chunk uint32) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	names := []string{"a", "b", "c", "d", "e", ""}
	var nodes []trie.NodeID
	for range 1 + r.IntN(12) {
		var stack []trie.Frame
		for range 1 + r.IntN(5) {
			stack = append(stack, trie.Frame{Name: names[r.IntN(len(names))], Resource: "https://x.example/app.js",
				Line: uint32(1 + r.IntN(3))})
		}
		nodes = append(nodes, t.Insert(stack...))
	}
	c := &t.Context
	c.Page, c.ViewID, c.Chunk, c.Interval = "/a", view, chunk, 10_000
	c.Release = []string{"", "r1", "r2"}[r.IntN(3)]
	c.SamplingShare = []float64{0, 0.01, 0.5}[r.IntN(3)]
	c.Labels = trie.MakeLabels("device", []string{"mobile-low", "desktop-high"}[r.IntN(2)], "phase", "idle",
		"other", "x")
	time := int64(0)
	for range r.IntN(40) {
		time += int64(r.IntN(45_000))
		s := trie.Sample{Time: time, Marker: trie.Marker(r.IntN(8))}
		if r.IntN(3) > 0 {
			s.Node = nodes[r.IntN(len(nodes))]
		}
		t.Samples = append(t.Samples, s)
	}
	span := func(kind trie.SpanKind, name string) {
		c.Spans = append(c.Spans, trie.Span{Kind: kind, Name: name, Start: r.Int64N(time + 1),
			Length: r.Int64N(time + 1)})
	}
	for range r.IntN(4) {
		span(trie.SpanFeature, []string{"f", "g", "h"}[r.IntN(3)])
	}
	for range r.IntN(4) {
		span(trie.SpanLabel, []string{"phase=load", "phase=interaction", "connection=3g", "visibility=hidden",
			"other=y"}[r.IntN(5)])
	}
	if at := r.Int64N(time + 1); r.IntN(2) == 0 {
		c.Spans = append(c.Spans, trie.Span{Kind: trie.SpanPage, Name: "/b", Start: at, Length: r.Int64N(time + 1)})
	}
	trie.SortSpans(c.Spans)
	return t
}

// smallTrace returns a trace with one of three stacks, for one device and connection.
func smallTrace(r *rand.Rand, view string, chunk uint32) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	stack := t.Insert(trie.Frame{Name: []string{"a", "b", "c"}[r.IntN(3)]})
	t.Samples = []trie.Sample{{Time: 0, Node: stack}, {Time: 10_000}}
	c := &t.Context
	c.Page, c.ViewID, c.Chunk, c.Interval = "/a", view, chunk, 10_000
	c.Labels = trie.MakeLabels("connection", []string{"3g", "4g"}[r.IntN(2)], "device", []string{"mobile-low",
		"desktop-high"}[r.IntN(2)])
	return t
}

// randomViews returns page views of one to three traces.
func randomViews(r *rand.Rand, n int) [][]*trie.Trace { return viewsOf(r, n, randomTrace) }

// smallViews returns page views with many common labels, so that subtracting some makes sums zero
// in places.
func smallViews(r *rand.Rand, n int) [][]*trie.Trace { return viewsOf(r, n, smallTrace) }

func viewsOf(r *rand.Rand, n int, trace func(r *rand.Rand, view string, chunk uint32) *trie.Trace) (
	views [][]*trie.Trace) {
	for i := range n {
		var v []*trie.Trace
		for chunk := range 1 + r.IntN(3) {
			v = append(v, trace(r, fmt.Sprintf("view%012d", i), uint32(chunk)))
		}
		views = append(views, v)
	}
	return views
}

// inSets returns the same page views with traces in sets: each set has some consecutive traces.
func inSets(r *rand.Rand, views [][]*trie.Trace) [][]*trie.Trace {
	all := slices.Concat(views...)
	var of []*trie.Trace
	for left := all; len(left) > 0; {
		set := trie.NewSet(left[:1+r.IntN(len(left))])
		for i := range set.Traces {
			of = append(of, &set.Traces[i])
		}
		left = left[len(set.Traces):]
	}
	out := make([][]*trie.Trace, len(views))
	for i, v := range views {
		out[i], of = of[:len(v)], of[len(v):]
	}
	return out
}

func addView(b *Builder, sign int64, chunks ...*trie.Trace) {
	b.Begin(sign)
	for _, t := range chunks {
		b.Add(t)
	}
	b.End()
}

// question is a query about a record.
type question struct {
	name  string
	takes func(trie.Labels) bool
	group func(trie.Labels) trie.Labels
}

func value(key, v string) func(trie.Labels) bool {
	return func(l trie.Labels) bool {
		for _, x := range l {
			if x.Key == key && x.Value == v {
				return true
			}
		}
		return v == "" && l.Value(key) == ""
	}
}

func only(keys ...string) func(trie.Labels) trie.Labels {
	return func(l trie.Labels) (out trie.Labels) {
		for _, x := range l {
			if slices.Contains(keys, x.Key) {
				out = append(out, x)
			}
		}
		return out
	}
}

func questions() []question {
	all := func(trie.Labels) bool { return true }
	return []question{
		{"all", all, only()},
		{"by release and features", all, only(KeyRelease, KeyFeature)},
		{"by phase", all, only(KeyPhase)},
		{"by everything", all, func(l trie.Labels) trie.Labels { return l }},
		{"feature", value(KeyFeature, "f"), only()},
		{"feature by release", value(KeyFeature, "g"), only(KeyRelease)},
		{"device", value(KeyDevice, "mobile-low"), only()},
		{"not on 3g", value(KeyConnection, ""), only(KeyPhase)},
		{"load by connection", value(KeyPhase, "load"), only(KeyConnection)},
	}
}

func (q question) ask(l trie.Labels) (trie.Labels, bool) { return q.group(l), q.takes(l) }

// merged answers a question from the traces.
func (q question) merged(views [][]*trie.Trace, page string) *trie.Profile {
	m := trie.NewMerger()
	for _, v := range views {
		m.NextView()
		for _, t := range v {
			m.AddTrace(t, func(s trie.Slice) int {
				l, ok := q.ask(CellLabels(s, &t.Context))
				if s.Page != page || !ok {
					return -1
				}
				return m.Group(l)
			})
		}
	}
	return m.Profile()
}

func sameProfile(t *testing.T, what string, got, want *trie.Profile) {
	t.Helper()
	if g, w := fmt.Sprint(describe(got)), fmt.Sprint(describe(want)); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// describe lists the content of a profile in a defined order.
func describe(p *trie.Profile) (out []string) {
	out = append(out, fmt.Sprintf("views %d traces %d", p.Views, p.Traces))
	for _, g := range p.Groups {
		if g.Coverage == (trie.Coverage{}) {
			continue
		}
		out = append(out, fmt.Sprintf("%v %+v", g.Labels, g.Coverage))
		for n, w := range g.Weights.All() {
			line := fmt.Sprintf("%v %+v", g.Labels, w)
			for a := range p.Stack(n) {
				line += fmt.Sprintf(" %v", p.Frame(a))
			}
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func decoded(t *testing.T, b *Builder, level Level) *Record {
	t.Helper()
	rec, err := Decode(b.Encode(level, false), b.stacks)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// A record gives the same answers as its traces, however it was made.
func TestRecordEqualsMerge(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		views := randomViews(r, 1+r.IntN(12))
		if seed%2 == 1 {
			views = smallViews(r, 1+r.IntN(12))
		}
		whole, sets := NewBuilder("/a", trie.New(), Limits{}), NewBuilder("/a", trie.New(), Limits{})
		ofSets := inSets(r, views)
		for i, v := range views {
			addView(whole, 1, v...)
			addView(sets, 1, ofSets[i]...)
		}
		pieces := inPieces(t, r, views)
		for _, q := range questions() {
			want := q.merged(views, "/a")
			for name, b := range map[string]*Builder{"whole": whole, "pieces": pieces, "sets": sets,
				"pieces of sets": inPieces(t, r, ofSets)} {
				for _, level := range []Level{Narrow, Wide, Whole} {
					if level == Narrow && !narrow(q) {
						continue
					}
					s := NewSum(q.ask)
					s.Add(decoded(t, b, level), b.stacks)
					sameProfile(t, fmt.Sprintf("seed %d, %s, %s, level %d", seed, q.name, name, level),
						s.Profile(), want)
				}
			}
		}
		if !bytes.Equal(again(t, whole).Encode(Whole, false), again(t, pieces).Encode(Whole, false)) {
			t.Errorf("seed %d: distributions differ", seed)
		}
	}
}

// narrow reports whether a question can be answered without the wide labels.
func narrow(q question) bool {
	return !slices.Contains([]string{"by everything", "device", "not on 3g", "load by connection"}, q.name)
}

// again adds b to an empty Builder with a stack table in canonical order, so that equal sums have
// equal bytes.
func again(t *testing.T, b *Builder) *Builder {
	stacks := trie.New()
	for n := range b.stacks.Preorder() {
		var stack []trie.Frame
		for a := range b.stacks.Stack(n) {
			stack = append(stack, b.stacks.Frame(a))
		}
		slices.Reverse(stack)
		stacks.Insert(stack...)
	}
	out := NewBuilder(b.page, stacks, Limits{})
	out.AddRecord(decoded(t, b, Whole), b.stacks)
	return out
}

// inPieces rolls up chunks in random order into several records with separate stack tables, each
// time adding the difference to the view's earlier chunks.
func inPieces(t *testing.T, r *rand.Rand, views [][]*trie.Trace) *Builder {
	type piece struct{ view, chunk int }
	var order []piece
	for i, v := range views {
		for c := range v {
			order = append(order, piece{i, c})
		}
	}
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	had := make([][]*trie.Trace, len(views))
	sum := NewBuilder("/a", trie.New(), Limits{})
	for len(order) > 0 {
		b := NewBuilder("/a", trie.New(), Limits{})
		n := 1 + r.IntN(len(order))
		for _, p := range order[:n] {
			before := had[p.view]
			now := append(slices.Clone(before), views[p.view][p.chunk])
			slices.SortFunc(now, func(a, b *trie.Trace) int { return int(a.Context.Chunk) - int(b.Context.Chunk) })
			if len(before) > 0 {
				addView(b, -1, before...)
			}
			addView(b, 1, now...)
			had[p.view] = now
		}
		order = order[n:]
		sum.AddRecord(decoded(t, b, Whole), b.stacks)
	}
	return sum
}

func TestStacksGrow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	stacks, copied := trie.New(), trie.New()
	b := NewBuilder("/a", stacks, Limits{})
	for _, v := range randomViews(r, 20) {
		from := SizeOf(stacks)
		addView(b, 1, v...)
		if err := DecodeStacks(copied, EncodeStacks(stacks, from)); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(copied.Strings, stacks.Strings) || !slices.Equal(copied.Frames, stacks.Frames) ||
		!slices.Equal(copied.Nodes, stacks.Nodes) {
		t.Error("the decoded data differs from the encoded data")
	}
	if err := DecodeStacks(copied, EncodeStacks(stacks, Size{1, 0, 1})); err == nil {
		t.Error("a piece that does not continue the table was accepted")
	}
}

// A record is encoded at several levels, one after another. Encoding must not change the sums, even
// if subtracted page views left empty cells.
func TestEncodeLeavesTheBuilder(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 11))
		b := NewBuilder("/a", trie.New(), Limits{})
		for _, v := range smallViews(r, 1+r.IntN(8)) {
			for n := range v { // in order of arrival
				if n > 0 {
					addView(b, -1, v[:n]...)
				}
				addView(b, 1, v[:n+1]...)
			}
		}
		want := b.Encode(Whole, false)
		for _, level := range []Level{Narrow, Wide, Details} {
			b.Encode(level, true)
			if !bytes.Equal(b.Encode(Whole, false), want) {
				t.Fatalf("seed %d: encoding at level %d changed the builder", seed, level)
			}
		}
	}
}

// The page views missing from an answer because of limits are at most the number that the record
// reports for the labels of the answer.
func TestFolded(t *testing.T) {
	folded := map[string]int{}
	for seed := range uint64(40) {
		views := randomViews(rand.New(rand.NewPCG(seed, 5)), 60)
		b := NewBuilder("/a", trie.New(), Limits{Cells: 2 << (seed % 6)})
		for _, v := range views {
			addView(b, 1, v...)
		}
		rec := decoded(t, b, Wide)
		if n := rec.Folded(nil); n != 0 {
			t.Errorf("a query without labels misses %d views", n)
		}
		for key, v := range map[string]string{KeyDevice: "mobile-low", KeyRelease: "r1", KeyFeature: "f"} {
			q := question{takes: value(key, v), group: only()}
			s := NewSum(q.ask)
			s.Add(rec, b.stacks)
			got, want, n := s.Profile().Views, q.merged(views, "/a").Views, rec.Folded([]string{key})
			if got > want || got < want-n {
				t.Errorf("seed %d, %s: got %d of %d views, and %d are reported as folded", seed, key, got, want, n)
			}
			if got < want {
				folded[key]++
			}
		}
	}
	if folded[KeyDevice] <= folded[KeyRelease] || folded[KeyRelease] == 0 || folded[KeyFeature] == 0 {
		t.Errorf("the test had too few cases: %v", folded)
	}
}

// A flat builder has the same labels, times and distributions as one with stacks.
func TestFlatBuilder(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		whole, flat := NewBuilder("/a", trie.New(), Limits{}), NewFlatBuilder("/a", Limits{})
		for v := range 1 + r.IntN(6) {
			var chunks []*trie.Trace
			for c := range 1 + r.IntN(3) {
				chunks = append(chunks, scripted(randomTrace(r, fmt.Sprint("view", v), uint32(c))))
			}
			for _, b := range []*Builder{whole, flat} {
				b.Begin(1)
				for _, c := range chunks {
					b.Add(c)
				}
				b.End()
			}
		}
		want, got := decoded(t, whole, Whole), decoded(t, flat, Whole)
		weights := func(rec *Record, of *Builder) []trie.Weight {
			all := make([]trie.Weight, 2*len(rec.Cells)) // by cell: of the page, and of the profiling script
			var own Own
			rec.EachWeight(func(c int, n trie.NodeID, self, samples int64) {
				if c *= 2; own.Is(of.Stacks(), n) {
					c++
				}
				all[c].Self += self
				all[c].Samples += samples
			})
			return all
		}
		same := func(what string, got, want any) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %s:\ngot  %+v\nwant %+v", seed, what, got, want)
			}
		}
		same("cells", got.Cells, want.Cells)
		// The others contain the cells of a view in which a stack occurred.
		withViews := slices.DeleteFunc(slices.Clone(want.Touches), func(x Touch) bool {
			return x.Views == 0 && x.Traces == 0
		})
		same("touches", got.Touches, withViews)
		same("distributions", got.Distributions, want.Distributions)
		same("time", weights(got, flat), weights(want, whole))
		if len(got.Functions) > 0 || len(flat.Stacks().Nodes) > 2 { // the root and the profiling script
			t.Errorf("seed %d: %d functions, %d nodes", seed, len(got.Functions), len(flat.Stacks().Nodes))
		}
	}
}
