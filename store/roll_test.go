package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/rollup"
	"github.com/fieldtrie/fieldtrie/trie"
)

// fieldTrace returns a trace with time on one or two pages, with a feature and phases.
func fieldTrace(r *rand.Rand, id ID) *trie.Trace {
	t := &trie.Trace{Trie: *trie.New()}
	var nodes []trie.NodeID
	for range 1 + r.IntN(8) {
		var stack []trie.Frame
		for range 1 + r.IntN(4) {
			stack = append(stack, trie.Frame{Name: string(rune('a' + r.IntN(6))), Resource: "https://x.example/app.js", Line: uint32(1 + r.IntN(3))})
		}
		nodes = append(nodes, t.Insert(stack...))
	}
	c := &t.Context
	c.Page, c.ViewID, c.Chunk, c.Interval = "/feed", string(id.View[:]), id.Chunk, 10_000
	c.Release = []string{"r1", "r2"}[r.IntN(2)]
	c.SamplingShare = 0.01
	c.Labels = trie.MakeLabels("device", []string{"mobile-low", "desktop-high"}[r.IntN(2)], "phase", "idle")
	time := int64(0)
	for range 1 + r.IntN(20) {
		time += int64(r.IntN(40_000))
		t.Samples = append(t.Samples, trie.Sample{Time: time, Node: nodes[r.IntN(len(nodes))]})
	}
	span := func(kind trie.SpanKind, name string) {
		c.Spans = append(c.Spans, trie.Span{Kind: kind, Name: name, Start: r.Int64N(time + 1), Length: 1 + r.Int64N(time+1)})
	}
	span(trie.SpanFeature, "search")
	span(trie.SpanLabel, "phase=load")
	if r.IntN(3) == 0 {
		span(trie.SpanPage, "/item/:id")
	}
	trie.SortSpans(c.Spans)
	return t
}

func traceRecord(t testing.TB, tr *trie.Trace, id ID) Record {
	t.Helper()
	payload, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	return Record{ID: id, Pages: tr.Pages(), Tags: []Tag{{"release", tr.Context.Release}}, Payload: payload}
}

// answer asks for all of a page, by release, as a text. With none, by traces alone.
func answer(t testing.TB, r *Reader, q Query, none bool) (string, ScanStats) {
	t.Helper()
	group := func(l trie.Labels) (trie.Labels, bool) { return trie.MakeLabels("release", l.Value("release")), true }
	sum, m := rollup.NewSum(group), trie.NewMerger()
	last := ""
	stats, err := r.Select(t.Context(), q, Wanted{Level: rollup.Narrow, None: none}, func(rec Record) error {
		doc, err := encode.DecodeBinary(rec.Payload, encode.FileLimits())
		if err != nil {
			return err
		}
		if key := rec.Partition + rec.Page; key != last {
			m.NextView()
			last = key
		}
		m.AddTrace(doc.Trace, func(s trie.Slice) int {
			if s.Page != rec.Page {
				return -1
			}
			l, _ := group(rollup.CellLabels(s, &doc.Trace.Context))
			return m.Group(l)
		})
		return nil
	}, func(x Rolled) error {
		sum.Add(x.Record, x.Stacks)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m.AddProfile(sum.Profile())
	return profileText(m.Profile()), stats
}

func profileText(p *trie.Profile) string {
	out := []string{fmt.Sprintf("views %d traces %d", p.Views, p.Traces)}
	for _, g := range p.Groups {
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
	return strings.Join(out, "\n")
}

// Rolled up or not, at any time, with any interruption, the answers are those of the traces.
func TestRollupsEqualTraces(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			c := newClock(noon.Add(-30 * time.Minute))
			o := testOptions(t, c)
			o.RollEvery, o.RollTraces = time.Nanosecond, 1
			dir := t.TempDir()
			s := mustOpen(t, dir, o)
			check := func() {
				t.Helper()
				now := c.Now()
				for _, q := range []Query{{Page: "/feed"}, {}, {Page: "/feed", Since: now.Add(-100 * time.Minute)},
					{Page: "/feed", Until: now.Add(-25 * time.Hour)}, {Since: now.Add(-50 * time.Hour), Until: now.Add(-3 * time.Hour)}} {
					got, stats := answer(t, s.Reader, q, false)
					want, _ := answer(t, s.Reader, q, true)
					if got != want {
						t.Fatalf("%+v at %v:\n%s\n%+v", q, now, differences(got, want), stats)
					}
					if !stats.Complete() {
						t.Fatalf("%+v at %v: incomplete: %+v", q, now, stats)
					}
				}
			}
			roll := func() {
				s.roller.stint = time.Duration(r.IntN(2)) * rollFor // without time it does not come to everything
				rollAll(t, s)
			}
			view := uint64(0)
			var views []ID
			chunks := map[ID]uint32{}
			for range 60 {
				var recs []Record
				for range 1 + r.IntN(12) {
					id := ID{}
					view++
					id.View[0], id.View[1], id.View[15] = byte(r.IntN(256)), byte(view>>8), byte(view)
					if len(views) > 0 && r.IntN(3) > 0 { // another chunk of a view that is there
						id = views[r.IntN(len(views))]
					} else {
						views = append(views, id)
					}
					chunks[id]++
					id.Chunk = chunks[id] - 1
					if r.IntN(4) == 0 {
						id.Chunk = 1000 - id.Chunk // out of order
					}
					recs = append(recs, traceRecord(t, fieldTrace(r, id), id))
				}
				mustAppend(t, s, recs...)
				switch r.IntN(8) {
				case 0, 1, 2:
					roll()
				case 3:
					c.Add(time.Duration(r.IntN(90)) * time.Minute)
				case 4:
					c.Add(time.Duration(r.IntN(20)) * time.Hour)
					if err := s.Maintain(t.Context()); err != nil {
						t.Fatal(err)
					}
				case 5:
					mustClose(t, s)
					s = mustOpen(t, dir, o)
				case 6:
					check()
				}
			}
			check()
			c.Add(48 * time.Hour)
			if err := s.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
			rollAll(t, s)
			check()
			_, stats := answer(t, s.Reader, Query{}, false)
			if stats.Days == 0 || stats.Partitions != 0 {
				t.Errorf("at the end days are read, and no traces: %+v", stats)
			}
		})
	}
}

// What waits to be rolled up counts until it is, also where that is closed meanwhile.
func TestUnrolled(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	c := newClock(noon)
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	s := mustOpen(t, t.TempDir(), o)
	s.roller.stint = 0 // one step at a time
	keys := 0
	store := func(n int) {
		for range n {
			id := ID{Chunk: uint32(keys)}
			rec := traceRecord(t, fieldTrace(r, id), id)
			mustAppend(t, s, rec)
			keys += len(rec.Pages)
		}
	}
	unrolled := func() int {
		t.Helper()
		got := s.Counters()
		if got.RolledUp+uint64(got.Unrolled) != uint64(keys) {
			t.Errorf("%d rolled up and %d not, of %d", got.RolledUp, got.Unrolled, keys)
		}
		return got.Unrolled
	}
	store(100)
	if got := unrolled(); got != keys {
		t.Errorf("%d of %d are not rolled up before it is begun", got, keys)
	}
	if err := s.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := unrolled(); got == 0 || got == keys {
		t.Errorf("%d of %d are not rolled up after a step", got, keys)
	}
	c.Add(2 * time.Hour)
	store(1) // the rest is rolled up with what is closed
	rollAll(t, s)
	if got := unrolled(); got != 0 {
		t.Errorf("%d of %d are not rolled up at the end", got, keys)
	}
}

// differences lists the lines that only one of two texts has.
func differences(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var out []string
	for _, l := range g {
		if !slices.Contains(w, l) {
			out = append(out, "got  "+l)
		}
	}
	for _, l := range w {
		if !slices.Contains(g, l) {
			out = append(out, "want "+l)
		}
	}
	return strings.Join(out, "\n")
}
