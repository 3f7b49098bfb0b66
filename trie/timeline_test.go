package trie

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// callsOf returns the calls of s and events, which must be within the limit.
func callsOf(t *testing.T, s *Stream, events []Event) *Timeline {
	t.Helper()
	line, err := Calls(s, events, MaxCalls)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// checkCalls checks the guarantees of [Timeline] for its calls.
func checkCalls(t *testing.T, line *Timeline) {
	t.Helper()
	if err := line.Validate(); err != nil {
		t.Error(err)
	}
	var open []Call
	for i, c := range line.Calls {
		if i > 0 && c.Start < line.Calls[i-1].Start || c.Start >= c.End {
			t.Errorf("call %d: %+v after %+v", i, c, line.Calls[i-1])
		}
		for len(open) > 0 && open[len(open)-1].End <= c.Start {
			open = open[:len(open)-1]
		}
		caller := Root
		if n := len(open); n > 0 {
			caller = open[n-1].Node
			if c.End > open[n-1].End {
				t.Errorf("call %d: %+v outlives %+v", i, c, open[n-1])
			}
		}
		if line.Nodes[c.Node].Parent != caller {
			t.Errorf("call %d: called by node %d, and not %d", i, caller, line.Nodes[c.Node].Parent)
		}
		open = append(open, c)
	}
}

func TestTimelineRewrite(t *testing.T) {
	first := func(f Frame) Frame { return Frame{Name: f.Name[:1]} }
	for _, tt := range []struct {
		name   string
		stream *Stream
		fold   bool
		want   string
	}{
		{"other names", sampled("a1", "a1;a2", "a3"), false, "a 100-300\n  a 200-300\na 300-400\n"},
		{"calls within a part", sampled("a1", "a1;a2", "a1;a2;b", "a1"), true, "a 100-500\n  b 300-400\n"},
		{"calls that touch", sampled("a1", "a2", "", "a1"), true, "a 100-300\na 400-500\n"},
		{"nested calls that touch", sampled("a1;b1", "a2;b1", "a2;c", "a2;b1", "a3;b2"), true,
			"a 100-600\n  b 100-300\n  c 300-400\n  b 400-600\n"},
		{"callees of folded calls", sampled("a1;b1", "a1;a2;b1", "a1;b1"), true, "a 100-400\n  b 100-400\n"},
	} {
		in := callsOf(t, tt.stream, nil)
		in.Name, in.Process, in.Thread = "Main", 1, 2
		got := in.Rewrite(first, tt.fold)
		checkCalls(t, got)
		if text := described(got); text != tt.want || got.Self() != in.Self() || got.Name != "Main" ||
			got.Process != 1 || got.Thread != 2 {
			t.Errorf("%s: got\n%s%+v, want\n%s", tt.name, text, got.Name, tt.want)
		}
	}
	foreign := callsOf(t, sampled("a", "a;(unknown);(unknown);b", "a"), nil).Rewrite(nil, false)
	if text := described(foreign); text != "a 100-400\n  (unknown) 200-300\n    b 200-300\n" {
		t.Errorf("foreign frames: got\n%s", text)
	}
	event := []Event{{Frame: Frame{Name: "aTask"}, Start: 150, End: 400}}
	with := callsOf(t, sampled("a1", "a2"), event).Rewrite(first, true)
	checkCalls(t, with)
}

// Renaming keeps the covered time, which equals the time of the merged profile.
func TestTimelineRewriteLaws(t *testing.T) {
	part := func(f Frame) Frame {
		if f.Resource != "" {
			return Frame{Name: f.Resource}
		}
		return f
	}
	for seed := range uint64(300) {
		tr := randomTrace(seed)
		tr.Gapless = true
		if n := len(tr.Samples); n > 0 {
			tr.End = tr.Samples[n-1].Time + 10
		}
		s := &Stream{Trace: tr}
		r := rand.New(rand.NewPCG(seed, 9))
		var events []Event
		for range r.IntN(20) {
			start := r.Int64N(400_000)
			events = append(events, Event{Frame: Frame{Name: []string{"RunTask", "FunctionCall", "Layout",
				"x"}[r.IntN(4)]}, Start: start, End: start + r.Int64N(100_000)})
		}
		events, _, _ = Nest(events)
		in := callsOf(t, s, events)
		for _, fold := range []bool{false, true} {
			got := in.Rewrite(part, fold)
			checkCalls(t, got)
			if got.Self() != in.Self() {
				t.Errorf("seed %d, fold %v: %d µs, not %d", seed, fold, got.Self(), in.Self())
			}
			m := NewMerger()
			if err := m.AddCalls(s, events, m.Group(nil)); err != nil {
				t.Fatal(err)
			}
			p := m.Profile().Coalesce(part)
			if fold {
				p = m.Profile().Fold(part)
			}
			want, have := map[Frame]int64{}, map[Frame]int64{}
			flat, _ := p.Flat()
			for n, w := range flat {
				if w.Self != 0 {
					want[p.Frame(NodeID(n))] += w.Self
				}
			}
			for x := range got.Segments() {
				if x.Node != Root {
					have[got.Frame(x.Node)] += x.End - x.Start
				}
			}
			if !maps.Equal(have, want) {
				t.Errorf("seed %d, fold %v: got %v, merged %v", seed, fold, have, want)
			}
		}
		if t.Failed() {
			return
		}
	}
}
