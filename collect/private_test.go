package collect

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// secrets generates texts that must never be stored. Each contains a unique word, which the test
// searches for in the stored data.
type secrets struct {
	r     *rand.Rand
	words []string
}

func (s *secrets) word() string {
	b := []byte("zq")
	for range 8 {
		b = append(b, 'a'+byte(s.r.IntN(26)))
	}
	s.words = append(s.words, string(b))
	return string(b)
}

// suffix returns a random rest of a URL or path.
func (s *secrets) suffix() string {
	switch s.r.IntN(4) {
	case 0:
		return "?user=" + s.word() + "&t=" + s.word()
	case 1:
		return "#access_token=" + s.word()
	case 2:
		return "?" + s.word() + "#" + s.word()
	}
	return ";jsessionid=" + s.word() + "?" + s.word()
}

// inside returns a secret for any text; segment is true if it must fit a URL segment.
func (s *secrets) inside(segment bool) string {
	kinds := 5
	if segment {
		kinds = 3
	}
	switch s.r.IntN(kinds) {
	case 0:
		return s.word() + "@example.com"
	case 1:
		return s.word() + "." + s.word() + "%40mail.example.com"
	case 2:
		return "eyJhbGciOi" + s.word() + "." + s.word() + "." + s.word()
	case 3:
		return "Bearer " + s.word()
	}
	return "Mozilla/5.0 (X11; " + s.word() + ") AppleWebKit/537.36 Chrome/156.0.0.0 " + s.word()
}

func (s *secrets) url() string {
	host := "https://"
	if s.r.IntN(3) == 0 {
		host += s.word() + ":" + s.word() + "@"
	}
	switch s.r.IntN(6) {
	case 0:
		return "blob:" + host + "www.example.com/" + s.word()
	case 1:
		return "data:text/javascript," + s.word()
	case 2:
		return "chrome-extension://" + s.word() + "/x.js"
	case 3:
		return host + "www.example.com/u/" + s.inside(true) + "/app.js" + s.suffix()
	}
	return host + "www.example.com/app.js" + s.suffix()
}

func (s *secrets) page() string {
	page := "/feed/"
	switch s.r.IntN(5) {
	case 0:
		page += s.word() + "@example.com"
	case 1:
		page += s.word() + "%2540example.com"
	case 2:
		page += "eyJ" + s.word()
	case 3:
		page += s.word() + "12345678"
	}
	if s.r.IntN(3) == 0 {
		page = "https://" + s.word() + "@www.example.com" + page
	}
	return page + strings.ReplaceAll(s.suffix(), "?", []string{"?", "%3F", "%253f"}[s.r.IntN(3)])
}

// viewID returns a view id of up to 16 bytes, like a random one or shorter.
func (s *secrets) viewID() string {
	return []string{"", "abc"}[s.r.IntN(2)] + "@" + s.word()[:8] + ".com"
}

// trace returns a trace with secrets in every text field.
func (s *secrets) trace() map[string]any {
	text := func() string {
		if s.r.IntN(2) == 0 {
			return "x https://www.example.com/x" + s.suffix()
		}
		return "x " + s.inside(false)
	}
	var resources []string
	var frames, stacks, samples []map[string]any
	for i := range 8 {
		resources = append(resources, s.url())
		frames = append(frames, map[string]any{"name": text(), "resourceId": i, "line": 1, "column": 1})
		stacks = append(stacks, map[string]any{"frameId": i})
		samples = append(samples, map[string]any{"timestamp": i, "stackId": i})
	}
	return map[string]any{
		"page": s.page(), "viewId": s.viewID(), "release": text(), "environment": text(), "ua": s.inside(false) +
			" Chrome/156.0.0.0",
		"labels": map[string]string{s.word() + "@example.com": "x", s.word() + "@example.org": "x", "a": text(),
			"b": "?q=" + s.word(), "ua": "Mozilla/5.0 (" + s.word() + ")"},
		"spans": []map[string]any{
			{"page": s.page(), "start": 1, "end": 2}, {"page": s.page(), "start": 100, "end": 200},
			{"feature": text(), "start": 1, "end": 3}, {"feature": "/search?q=" + s.word(), "start": 1, "end": 3},
			{"feature": "?q=" + s.word(), "start": 100, "end": 200},
			{"label": "phase=" + text(), "start": 1, "end": 3}, {"label": "a=?q=" + s.word(), "start": 1, "end": 3},
			{"label": "#" + s.word() + "@example.com=x", "start": 1, "end": 3}, {"label": "Bearer " + s.word() + "=x",
				"start": 1, "end": 3},
		},
		"unknown": s.word(), "interval": 1,
		"trace": map[string]any{"resources": append(resources, s.url()), "frames": frames, "stacks": stacks,
			"samples": samples, "more": s.word()},
	}
}

// TestPrivate sends traces full of personal data, in both formats, and searches for it in
// everything that reaches the store.
func TestPrivate(t *testing.T) {
	for seed := range uint64(300) {
		s := &secrets{r: rand.New(rand.NewPCG(seed, 1))}
		text, err := json.Marshal(s.trace())
		if err != nil {
			t.Fatal(err)
		}
		body := string(text)
		if seed%2 == 1 {
			body = asBinary(t, text, s)
		}
		o := Options{}
		if seed%3 == 0 {
			o.FirstParty = []string{"www.example.com"}
		}
		col, st := newCollector(o)
		if got := post(t, col, body); got.status != 202 {
			t.Fatalf("seed %d: got %d %q", seed, got.status, got.Error)
		}
		r := st.only(t)
		tr := traceOf(t, r) // stored payloads are readable
		stored := fmt.Sprintf("%s %q %q %q %+v", r.Payload, r.Pages, r.Tags, tr.Strings, tr.Context)
		for _, w := range s.words {
			if strings.Contains(stored, w) || strings.Contains(stored, w[:8]) {
				t.Errorf("seed %d: %s is stored:\n%q\nof\n%s", seed, w, stored, text)
			}
		}
		for _, w := range []string{"Mozilla", "jsessionid", "access_token", "user=", "@www", "@example", "@mail"} {
			if strings.Contains(stored, w) {
				t.Errorf("seed %d: %s is stored:\n%q", seed, w, stored)
			}
		}
		if !strings.Contains(stored, "www.example.com") {
			t.Errorf("seed %d: the whole trace was redacted:\n%q", seed, stored)
		}
		if t.Failed() {
			return
		}
	}
}

// asBinary returns a trace as a client without redaction would send it, with fields of a later
// version of the format.
func asBinary(t *testing.T, text []byte, s *secrets) string {
	t.Helper()
	var e struct {
		Page, Release, Environment string
		Labels                     map[string]string
		Spans                      []struct {
			Page, Feature, Label string
			Start, End           int64
		}
		Trace struct {
			Resources []string
			Frames    []struct{ Name string }
		}
	}
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	tr := &trie.Trace{Trie: *trie.New(), Context: trie.Context{
		Page: e.Page, Release: e.Release, Environment: e.Environment, Interval: 1000, ViewID: s.viewID(),
	}}
	for k, v := range e.Labels {
		tr.Context.Labels = append(tr.Context.Labels, trie.Label{Key: k, Value: v})
	}
	tr.Context.Labels = tr.Context.Labels.Sort()
	for _, x := range e.Spans {
		span := trie.Span{Kind: trie.SpanPage, Name: x.Page, Start: 1000 * x.Start, Length: 1000 * (x.End - x.Start)}
		if x.Feature != "" {
			span.Kind, span.Name = trie.SpanFeature, x.Feature
		}
		if x.Label != "" {
			span.Kind, span.Name = trie.SpanLabel, x.Label
		}
		tr.Context.Spans = append(tr.Context.Spans, span)
	}
	trie.SortSpans(tr.Context.Spans)
	for i, f := range e.Trace.Frames {
		n := tr.Insert(trie.Frame{Name: f.Name, Resource: e.Trace.Resources[i], Line: 1, Column: uint32(i)})
		tr.Samples = append(tr.Samples, trie.Sample{Time: int64(1000 * i), Node: n})
	}
	field := func() []byte { w := s.word(); return append([]byte{0xa2, 0x3f, byte(len(w))}, w...) } // number 1012
	tr.Unknown, tr.Context.Unknown = field(), field()
	b, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), s.words[len(s.words)-1]) {
		t.Fatal("the unknown field was not sent")
	}
	return string(b)
}

// TestPrivateVitals sends reports full of personal data, and searches for it in the store and the
// metrics.
func TestPrivateVitals(t *testing.T) {
	for seed := range uint64(300) {
		s := &secrets{r: rand.New(rand.NewPCG(seed, 2))}
		text := func() string { return "x " + s.inside(false) }
		body, err := json.Marshal(map[string]any{
			"page": s.page(), "outcome": "unsampled", "release": text(), "environment": text(), "viewId": s.viewID(),
			"ua":     text(),
			"labels": map[string]any{"device": text(), "connection": text(), "navigation": text(), s.word(): s.word()},
			"vitals": map[string]float64{"lcp": 1000, "inp": 8, s.word(): 1}, "unknown": s.word(),
		})
		if err != nil {
			t.Fatal(err)
		}
		col, st := newCollector(Options{})
		if got := postView(t, col, string(body), "User-Agent", "Mozilla/5.0 ("+s.word()+") Chrome/156.0.0.0", "Referer",
			"https://www.example.com/"+s.word()); got.status != 204 {
			t.Fatalf("seed %d: got %d %q", seed, got.status, got.Error)
		}
		if len(st.vitals) != 2 {
			t.Fatalf("seed %d: got %v", seed, st.vitals)
		}
		stored := fmt.Sprint(st.vitals, st.views(t))
		for _, w := range append(s.words, "Mozilla", "jsessionid", "access_token", "user=", "@www",
			"@example", "@mail") {
			if strings.Contains(stored, w[:min(len(w), 8)]) {
				t.Errorf("seed %d: %s is stored: %s\nof %s", seed, w, stored, body)
			}
		}
		if t.Failed() {
			return
		}
	}
}
