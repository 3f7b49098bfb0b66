package query

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// noon is when the first traces are received; the others come an hour later.
var noon = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

const later = time.Hour

// fixture is a store and what is in it.
type fixture struct {
	store         storetest.Store
	first, second []*trie.Trace // by the hour of receipt, in the order of their ids
}

// newFixture returns a store with all real traces in its first hour, and traces with
// spans, labels and chunks in both.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	now := noon
	s := storetest.Open(t, local.Options{MemTableSize: 8 << 20, MinFree: -1, Now: func() time.Time { return now }})
	f := &fixture{store: s}
	f.first = append(realTraces(t), spanTraces(0)...)
	f.append(t, 0, f.first)
	now = noon.Add(later)
	f.second = spanTraces(1)
	f.append(t, 1000, f.second)
	return f
}

func (f *fixture) append(t testing.TB, number int, traces []*trie.Trace) {
	t.Helper()
	var recs []store.Record
	for i, tr := range traces {
		payload, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		r := store.Record{Pages: tr.Pages(), Payload: payload}
		copy(r.ID.View[:], tr.Context.ViewID)
		if tr.Context.ViewID == "" {
			copy(r.ID.View[:], fmt.Sprintf("trace%08d", number+i))
		}
		r.ID.Chunk = tr.Context.Chunk
		if tr.Context.Release != "" {
			r.Tags = append(r.Tags, store.Tag{Key: "release", Value: tr.Context.Release})
		}
		for _, p := range r.Pages {
			for _, name := range tr.Features(p) {
				r.Tags = append(r.Tags, store.Tag{Key: "feature", Value: name})
			}
		}
		recs = append(recs, r)
	}
	res, err := f.store.Append(t.Context(), recs)
	if err != nil || res.Stored != len(recs) {
		t.Fatalf("stored %d of %d: %v", res.Stored, len(recs), err)
	}
}

func (f *fixture) local() Local { return Local{Reader: f.store} }

// spanTraces returns traces of pages /a and /b with features, releases and labels, some
// of which hold for a time only. Two traces after the other are of one page view.
func spanTraces(hour int) []*trie.Trace {
	var out []*trie.Trace
	for i := range 24 {
		tr := &trie.Trace{Trie: *trie.New()}
		tr.Context = trie.Context{
			Page: "/a", ViewID: fmt.Sprintf("view %d %d", hour, i/2), Chunk: uint32(i % 2), Interval: 10_000,
			Release: fmt.Sprintf("r%d", i/4%3), Environment: []string{"", "production"}[i/8%2],
		}
		if i/2%3 != 0 {
			tr.Context.Labels = trie.MakeLabels("team", fmt.Sprintf("t%d", i/2%3))
		}
		at := func(ms int) int64 { return int64(1000 * ms) }
		feature := func(name string, from, to int) {
			tr.Context.Spans = append(tr.Context.Spans, trie.Span{Kind: trie.SpanFeature, Name: name, Start: at(from), Length: at(to - from)})
		}
		if i%3 > 0 {
			tr.Context.Spans = append(tr.Context.Spans, trie.Span{Kind: trie.SpanPage, Name: "/b", Start: at(33), Length: at(40)})
			feature("edit", 5, 50)
		}
		if i%4 > 0 {
			feature("search", 27, 48)
			feature("search", 90, 95)
		}
		label := func(name string, from, to int) {
			tr.Context.Spans = append(tr.Context.Spans, trie.Span{Kind: trie.SpanLabel, Name: name, Start: at(from), Length: at(to - from)})
		}
		if i%5 > 0 {
			label("phase=load", 0, 42)
			label("team=t1", 37, 61) // in place of that of the context, if it has one
			label("release=r1", 0, 500)
		}
		if i%5 > 2 {
			label("phase=typing", 25, 31)
			label("phase=typing", 70, 90)
		}
		trie.SortSpans(tr.Context.Spans)
		var nodes []trie.NodeID
		for _, stack := range []string{"main", "main render", "main render row", "main fetch", "idle"} {
			var frames []trie.Frame
			for name := range strings.FieldsSeq(stack) {
				frames = append(frames, trie.Frame{Name: name, Resource: "https://x.example/app.js", Line: uint32(len(name)), Column: uint32(name[0])})
			}
			nodes = append(nodes, tr.Insert(frames...))
		}
		nodes = append(nodes, trie.Root)
		for k := range 12 {
			// Bursts, gaps, and times that no span begins at.
			tr.Samples = append(tr.Samples, trie.Sample{Time: at(10*k+i%7) + int64(k*k*(i%5)*100), Node: nodes[(i*5+k*k)%len(nodes)]})
		}
		trie.SortSamples(tr.Samples)
		out = append(out, tr)
	}
	return out
}

// realTraces returns the traces of real browsers.
func realTraces(t testing.TB) []*trie.Trace {
	t.Helper()
	names, err := filepath.Glob(filepath.FromSlash("../testdata/traces/*.json.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no real traces: %v", err)
	}
	var out []*trie.Trace
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		_ = file.Close()
		if err != nil {
			t.Fatal(err)
		}
		tr, err := encode.DecodeTraceJSON(data, encode.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, tr)
	}
	return out
}

// sums are self times in µs by stack, and the stackless and the unsampled time.
type sums map[string]int64

// naive sums the time of traces that sel asks for, sample by sample.
func naive(traces []*trie.Trace, sel Selection) sums {
	out := sums{}
	for _, tr := range traces {
		interval := int64(tr.Context.Interval)
		names := stackTexts(&tr.Trie)
		names[trie.Root] = "stackless"
		for i, s := range tr.Samples {
			end := s.Time + interval
			if i+1 < len(tr.Samples) {
				end = tr.Samples[i+1].Time
			}
			clip := min(end, s.Time+3*interval)
			stack := names[s.Node]
			for time := s.Time; time < end; { // up to the next bound of a span
				next := end
				page, features := tr.Context.Page, map[string]bool{}
				labels := map[string]string{}
				for _, l := range tr.Context.Labels {
					labels[l.Key] = l.Value
				}
				for _, x := range tr.Context.Spans {
					for _, bound := range [...]int64{x.Start, x.End()} {
						if bound > time {
							next = min(next, bound)
						}
					}
					if x.Start <= time && time < x.End() {
						switch key, value, _ := strings.Cut(x.Name, "="); x.Kind {
						case trie.SpanPage:
							page = x.Name
						case trie.SpanFeature:
							features[x.Name] = true
						case trie.SpanLabel:
							labels[key] = value
						}
					}
				}
				labels["release"], labels["environment"] = tr.Context.Release, tr.Context.Environment
				labelled := true
				labels["page"] = page
				for _, m := range sel.Where {
					labelled = labelled && holds(m, labels[m.Key], features)
				}
				if (sel.Page == "" || sel.Page == page) && (sel.Feature == "" || features[sel.Feature]) && labelled {
					out[stack] += max(0, min(next, clip)-time)
					out["unsampled"] += max(0, next-max(time, clip))
				}
				time = next
			}
		}
	}
	for k, v := range out {
		if v == 0 {
			delete(out, k)
		}
	}
	return out
}

// holds is what a matcher says of the value of a label, or of features.
func holds(m Matcher, value string, features map[string]bool) bool {
	values := []string{value}
	if m.Key == "feature" {
		values = slices.Collect(maps.Keys(features))
		if len(values) == 0 {
			values = []string{""}
		}
	}
	hit := false
	for _, v := range values {
		if m.Op == Matches || m.Op == MatchesNo {
			hit = hit || regexp.MustCompile("^(?:"+m.Value+")$").MatchString(v)
		} else {
			hit = hit || v == m.Value
		}
	}
	return hit == (m.Op == Equal || m.Op == Matches)
}

// stackTexts returns the stack of each node of t as a text, the leaf first.
func stackTexts(t *trie.Trie) []string {
	frames := make([]string, len(t.Frames))
	for i := range frames {
		f := t.FrameOf(trie.FrameID(i))
		frames[i] = f.Name + " " + f.Resource + " " + strconv.Itoa(int(f.Line)) + " " + strconv.Itoa(int(f.Column)) + "\n"
	}
	out := make([]string, len(t.Nodes))
	for i, n := range t.Nodes[1:] {
		out[i+1] = frames[n.Frame] + out[n.Parent]
	}
	return out
}

// sumsOf returns what naive returns, from a profile.
func sumsOf(p *trie.Profile) sums {
	out := sums{}
	flat, c := p.Flat()
	names := stackTexts(&p.Trie)
	for n, w := range flat {
		if w.Self != 0 {
			out[names[n]] += w.Self
		}
	}
	if c.Stackless != 0 {
		out["stackless"] = c.Stackless
	}
	if c.Unsampled != 0 {
		out["unsampled"] = c.Unsampled
	}
	return out
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
