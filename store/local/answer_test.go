package local_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// fieldTrace returns a trace with time on one or two pages, with a feature and phases.
func fieldTrace(r *rand.Rand, id store.ID) *trie.Trace {
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

func traceRecord(t testing.TB, tr *trie.Trace, id store.ID) store.Record {
	t.Helper()
	payload, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	return store.Record{ID: id, Pages: tr.Pages(), Tags: []store.Tag{{Key: "release", Value: tr.Context.Release}}, Payload: payload}
}

// answer asks for all of a page, by release, as a text. With none, by traces alone.
func answer(t testing.TB, r *local.Reader, q store.Query, none bool) (string, store.ScanStats) {
	t.Helper()
	group := func(l trie.Labels) (trie.Labels, bool) { return trie.MakeLabels("release", l.Value("release")), true }
	sum, m := rollup.NewSum(group), trie.NewMerger()
	last := ""
	stats, err := r.Select(t.Context(), q, store.Wanted{Level: rollup.Narrow, None: none}, func(rec store.Record) error {
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
	}, func(x store.Rolled) error {
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

// rolledOptions are those of a store whose clock is set and that rolls up at once.
func rolledOptions(t testing.TB, c *clock) local.Options {
	o := testOptions(t, c)
	o.RollEvery, o.RollTraces = time.Nanosecond, 1
	return o
}

// mustRoll rolls up once.
func mustRoll(t testing.TB, s *local.Store) {
	t.Helper()
	if err := s.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// rollAll rolls up all there is: a call of Roll does some of it.
func rollAll(t testing.TB, s *local.Store) {
	t.Helper()
	for range 60 {
		mustRoll(t, s)
		if !s.NeedRolling() {
			return
		}
	}
}

// mustMaintain seals what is over and deletes what is expired.
func mustMaintain(t testing.TB, s *local.Store) {
	t.Helper()
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func maintainAndRoll(t testing.TB, s *local.Store) {
	t.Helper()
	mustMaintain(t, s)
	rollAll(t, s)
	mustMaintain(t, s) // delete what was needed until now
}
