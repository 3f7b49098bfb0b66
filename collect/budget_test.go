package collect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

func TestPageBudget(t *testing.T) {
	var now atomic.Int64
	now.Store(noon.UnixMicro())
	var log bytes.Buffer
	col, s := newCollector(Options{
		Proxies: Proxies{Direct: true}, // all from one network
		Limits:  Limits{Pages: 5}, KnownPages: []string{"/known", PageUnknown},
		Now:    func() time.Time { return time.UnixMicro(now.Load()).UTC() },
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	// Concurrent requests: exactly three new pages get a place, each for all of its traces.
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for n := range 40 {
				page := fmt.Sprintf("/page-%c%c", 'a'+n/8, 'a'+n%8)
				if got := post(t, col, traceJSON("f", fmt.Sprintf(`"page":"%s","viewId":"%d-%d",`, page, i,
					n))); got.status != 202 {
					t.Errorf("got %d %q", got.status, got.Error)
				}
			}
		})
	}
	clients.Wait()
	count := func() map[string]int {
		pages := map[string]int{}
		for _, r := range s.records {
			if len(r.Pages) != 1 || traceOf(t, r).Context.Page != r.Pages[0] {
				t.Errorf("record of %q, trace of %q", r.Pages, traceOf(t, r).Context.Page)
			}
			pages[r.Pages[0]]++
		}
		return pages
	}
	pages := count()
	if len(pages) != 4 || pages[PageOther] != 8*37 {
		t.Errorf("pages: %v", pages)
	}
	if n := s.metric(t, "folded_total", "page"); n != 8*37 {
		t.Errorf("%v are counted as folded, want %d", n, 8*37)
	}
	if n := strings.Count(log.String(), "too many distinct pages this hour"); n != 1 {
		t.Errorf("the log has the line %d times:\n%s", n, log.String())
	}
	// Known pages and placeholders still have a place.
	clear(s.records)
	post(t, col, traceJSON("f", `"page":"/known?x",`))
	post(t, col, traceJSON("f", ""))
	post(t, col, traceJSON("f", `"page":"/new",`))
	if pages := count(); pages["/known"] != 1 || pages[PageUnknown] != 1 || pages[PageOther] != 1 {
		t.Errorf("pages: %v", pages)
	}
	// The next hour starts empty, also for clocks that go back afterwards.
	clear(s.records)
	now.Add(time.Hour.Microseconds())
	post(t, col, traceJSON("f", `"page":"/new",`))
	now.Add(-time.Hour.Microseconds())
	for i := range 6 {
		post(t, col, traceJSON("f", fmt.Sprintf(`"page":"/other-%c",`, 'a'+i)))
	}
	if pages := count(); pages["/new"] != 1 || pages[PageOther] != 2 {
		t.Errorf("pages in the next hour: %v", pages)
	}
}

// TestSpans checks the pages and features of a trace that has several.
func TestSpans(t *testing.T) {
	col, s := newCollector(Options{Limits: Limits{Pages: 3}})
	got := post(t, col, traceJSON("f", `"page":"/start/1?x","release":"r1","environment":"production","spans":[`+
		`{"page":"/user/8123?tab=1","start":5,"end":10},{"page":"https://www.example.com/user/9","start":10,"end":12},`+
		`{"page":"/third","start":12,"end":13},{"page":"/fourth","start":13,"end":14},{"page":"/later","start":20,`+
		`"end":30},`+
		`{"feature":"before","start":-20,"end":-10},{"feature":"search","start":0,"end":6},{"feature":"search",`+
		`"start":3,"end":7},{"feature":"edit","start":7,"end":8},`+
		`{"feature":"before","start":-20,"end":-10},{"feature":"nothing","start":8,"end":8},{"feature":"later",`+
		`"start":20,"end":30}],`))
	if got.status != 202 {
		t.Fatalf("got %d %q", got.status, got.Error)
	}
	r := s.only(t)
	tr := traceOf(t, r)
	// The first three by name get a place.
	if want := []string{PageOther, "/fourth", "/start/:id", "/third"}; !slices.Equal(r.Pages, want) ||
		!slices.Equal(tr.Pages(), want) {
		t.Errorf("pages %q, of the trace %q, want %q", r.Pages, tr.Pages(), want)
	}
	if want := []store.Tag{{Key: "release", Value: "r1"}, {Key: "environment", Value: "production"},
		{Key: "feature", Value: "search"}, {Key: "feature", Value: "edit"}}; !slices.Equal(r.Tags, want) {
		t.Errorf("tags %v, want %v", r.Tags, want)
	}
	features := map[string]bool{}
	for _, p := range tr.Pages() {
		for _, f := range tr.Features(p) {
			features[f] = true
		}
	}
	if got := slices.Sorted(maps.Keys(features)); !slices.Equal(got, []string{"edit", "search"}) {
		t.Errorf("the trace has features %q", got)
	}
	if n := s.metric(t, "folded_total", "page"); n != 1 {
		t.Errorf("%v traces are counted as folded", n)
	}
}

// TestLabelSpans checks that label spans stay labels after redaction.
func TestLabelSpans(t *testing.T) {
	for name, want := range map[string]string{
		"phase=load":                     "phase=load",
		"phase=a=b":                      "phase=a=b",
		"ref=https://www.example.com/?q": "ref=https://www.example.com/",
		"q=?secret":                      "q=(unknown)",
		"#a=b":                           "#a=b",
		"?a=b":                           "(unknown)=b",
		"Bearer x=y":                     "(token)=y",
		"bob@example.com=eyJhbGciOiJI":   "(email)=(token)",
	} {
		col, s := newCollector(Options{})
		if got := post(t, col, traceJSON("f", `"spans":[{"label":"`+name+`","start":0,"end":5}],`)); got.status != 202 {
			t.Errorf("%s: got %d %q", name, got.status, got.Error)
			continue
		}
		r := s.only(t)
		if got := traceOf(t, r).Context.Spans[0]; got.Name != want || got.Kind != trie.SpanLabel || len(r.Tags) > 0 {
			t.Errorf("%s: stored as %+v with tags %v, want %s", name, got, r.Tags, want)
		}
	}
}

// TestManyPages sends a trace of more pages than one record may have.
func TestManyPages(t *testing.T) {
	var spans []string
	for i := range 300 {
		spans = append(spans, fmt.Sprintf(`{"page":"/page-%c%c","start":%d,"end":%d}`, 'a'+i/20, 'a'+i%20,
			i*10, i*10+10))
	}
	body := strings.Replace(traceJSON("f", `"spans":[`+strings.Join(spans, ",")+`],`), `"timestamp":10`,
		`"timestamp":3000`, 1)
	col, s := newCollector(Options{})
	if got := post(t, col, body); got.status != 202 {
		t.Fatalf("got %d %q", got.status, got.Error)
	}
	r := s.only(t)
	if len(r.Pages) != store.MaxPages || !slices.Contains(r.Pages, PageOther) ||
		!slices.Contains(r.Pages, PageUnknown) {
		t.Errorf("%d pages: %q", len(r.Pages), r.Pages)
	}
	if pages := traceOf(t, r).Pages(); !slices.Equal(pages, r.Pages) {
		t.Errorf("the trace has pages %q, the record %q", pages, r.Pages)
	}
}

// TestTagLimits checks that names beyond the limits of a catalogue record are stored in the trace,
// and that names beyond the limits of an hour become (other).
func TestTagLimits(t *testing.T) {
	var spans []string
	for i := range 40 {
		spans = append(spans, fmt.Sprintf(`{"feature":"f%d","start":%d,"end":%d}`, i, i/4, i/4+1))
	}
	col, s := newCollector(Options{Limits: Limits{Tags: 35}})
	send := func(more string) (tags []store.Tag, tr *trie.Trace) {
		clear(s.records)
		if got := post(t, col, traceJSON("f", more)); got.status != 202 {
			t.Fatalf("%.80s: got %d %q", more, got.status, got.Error)
		}
		return s.only(t).Tags, traceOf(t, s.only(t))
	}
	tags, tr := send(`"spans":[` + strings.Join(spans, ",") + `],`)
	if got := tr.Features(PageUnknown); len(tags) != store.MaxTags || len(got) != 35+1 || got[0] != PageOther {
		t.Errorf("%d tags, features %q", len(tags), got)
	}
	if n := s.metric(t, "uncounted_tags_total"); n != 40-store.MaxTags {
		t.Errorf("%v tags are not counted, want %d", n, 40-store.MaxTags)
	}
	if n := s.metric(t, "folded_total", "feature"); n != 1 {
		t.Errorf("%v traces are counted as folded", n)
	}
	long := strings.Repeat("é", store.MaxTagValue/2+1)
	cut := strings.Repeat("é", store.MaxTagValue/2-2) + "…"
	if tags, tr := send(`"release":"` + long + `","labels":{"a":"` + long + `"},`); len(tags) != 1 ||
		tr.Context.Release != cut || tr.Context.Labels.Value("a") != cut {
		t.Errorf("long: %d tags, release %q", len(tags), tr.Context.Release)
	}
	if tags, tr := send(`"release":"a\u0000b",`); len(tags) != 0 || tr.Context.Release != "a\x00b" {
		t.Errorf("NUL: %d tags, release %q", len(tags), tr.Context.Release)
	}
	for i := range 36 { // features do not displace the release
		name := fmt.Sprintf("r%d", i)
		want := name
		if i >= 33 {
			want = PageOther
		}
		tags, tr := send(`"release":"` + name + `","environment":"production",`)
		if tr.Context.Release != want || tr.Context.Environment != "production" ||
			!slices.Contains(tags, store.Tag{Key: "release", Value: want}) {
			t.Errorf("release %s: tags %v, release %q", name, tags, tr.Context.Release)
		}
	}
	if _, tr := send(`"release":"r0",`); tr.Context.Release != "r0" {
		t.Error("a known release is folded")
	}
	if n := s.metric(t, "folded_total", "release"); n != 3 {
		t.Errorf("%v traces are counted as folded", n)
	}
}

// TestNamesInTheLog checks that browsers cannot add fields to the log, and that names in it are
// short and printable.
func TestNamesInTheLog(t *testing.T) {
	var log bytes.Buffer
	col, _ := newCollector(Options{Limits: Limits{Labels: 1}, Now: func() time.Time { return noon },
		Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	for _, key := range []string{"msg", "level", "k\u202e\x1b[2J\n"} {
		for _, value := range []string{"first", "audit\u202e\x1b[2J"} {
			text, err := json.Marshal(map[string]string{key: value})
			if err != nil {
				t.Fatal(err)
			}
			post(t, col, traceJSON("f", `"labels":`+string(text)+`,`))
		}
	}
	lines := 0
	for line := range strings.Lines(log.String()) {
		lines++
		for _, field := range []string{"time", "level", "msg", "of", "most", "key", "name", "from"} {
			if strings.Count(line, `"`+field+`":`) != 1 {
				t.Errorf("want one field %s in %s", field, line)
			}
		}
		if strings.Count(line, `":`) != 10 || strings.ContainsAny(line, "\u202e\x1b") ||
			strings.Contains(line, `\u001b`) || !strings.Contains(line, `"name":"audit`) {
			t.Errorf("got %s", line)
		}
	}
	if lines == 0 {
		t.Error("the log is empty")
	}
	if got := logged(strings.Repeat("x", 1<<20)); len(got) > 2*mostRefusedMessage {
		t.Errorf("a name is logged with %d bytes", len(got))
	}
}

// TestLabelLimits checks that too many values of labels, and too many labels, become (other).
func TestLabelLimits(t *testing.T) {
	now := noon
	var log bytes.Buffer
	col, s := newCollector(Options{Limits: Limits{Labels: 3}, Now: func() time.Time { return now },
		Logger: slog.New(slog.NewTextHandler(&log, nil))})
	send := func(label string) (of, span trie.Label) {
		t.Helper()
		clear(s.records)
		key, value, _ := strings.Cut(label, "=")
		body := traceJSON("f", `"labels":{"`+key+`":"`+value+`"},"spans":[{"label":"`+label+`","start":0,"end":5}],`)
		if got := post(t, col, body); got.status != 202 {
			t.Fatalf("%s: got %d %q", label, got.status, got.Error)
		}
		x := traceOf(t, s.only(t)).Context
		return x.Labels[0], x.Spans[0].Label()
	}
	want := func(label string, want trie.Label) {
		t.Helper()
		if of, span := send(label); of != want || span != want {
			t.Errorf("%s: stored as %v and %v, want %v", label, of, span, want)
		}
	}
	for i := range 5 {
		value := fmt.Sprint("v", i)
		if i >= 3 {
			value = PageOther
		}
		want(fmt.Sprintf("plan=v%d", i), trie.Label{Key: "plan", Value: value})
	}
	want("plan=v1", trie.Label{Key: "plan", Value: "v1"})
	want("cart=v9", trie.Label{Key: "cart", Value: "v9"})
	for i := range 64 - 2 {
		send(fmt.Sprintf("key%d=x", i))
	}
	want("more=x", trie.Label{Key: PageOther, Value: PageOther})
	want("evenmore=x", trie.Label{Key: PageOther, Value: PageOther})
	want("key0=y", trie.Label{Key: "key0", Value: "y"})
	if n := s.metric(t, "folded_total", "label"); n != 4 {
		t.Errorf("%v traces are counted as folded", n)
	}
	if n := strings.Count(log.String(), "too many distinct names"); n != 2 {
		t.Errorf("the log has the line %d times:\n%s", n, log.String())
	}
	now = now.Add(time.Hour)
	want("more=x", trie.Label{Key: "more", Value: "x"})
}

func TestThin(t *testing.T) {
	feature := func(start, length int64) trie.Span {
		return trie.Span{Kind: trie.SpanFeature, Name: "f", Start: start, Length: length}
	}
	var long []trie.Span // 40 overlapping features, and one that begins after their end
	for i := range int64(40) {
		long = append(long, feature(i, 100))
	}
	long = append(long, trie.Span{Kind: trie.SpanPage, Name: "/a", Start: 50, Length: 10}, feature(200, 1))
	var short []trie.Span
	for i := range int64(1000) {
		short = append(short, feature(10*i, 10))
	}
	for _, c := range []struct {
		name  string
		spans []trie.Span
		want  int
	}{
		{"none", nil, 0},
		{"one after the other", short, 1000},
		{"at the same time", long, 31 + 2},
	} {
		got := thin(slices.Clone(c.spans))
		if len(got) != c.want {
			t.Errorf("%s: got %d of %d spans, want %d", c.name, len(got), len(c.spans), c.want)
		}
	}
	kept := thin(slices.Clone(long))
	if last := kept[len(kept)-2:]; last[0].Kind != trie.SpanPage || last[1].Start != 200 {
		t.Errorf("the page or the span after the others is missing: %v", last)
	}
}

// TestManySpans sends a trace with more overlapping spans than are kept.
func TestManySpans(t *testing.T) {
	col, s := newCollector(Options{})
	one := `{"feature":"f","start":0,"end":20},`
	body := traceJSON("f", `"spans":[`+strings.TrimSuffix(strings.Repeat(one, maxAtOnce+5), ",")+`],`)
	if r := post(t, col, body); r.status != http.StatusAccepted {
		t.Fatalf("got %d %s", r.status, r.Error)
	}
	if got := len(traceOf(t, s.only(t)).Context.Spans); got != maxAtOnce-1 {
		t.Errorf("%d spans stored, want %d", got, maxAtOnce-1)
	}
	if got := s.metric(t, "dropped_spans_total"); got != 6 {
		t.Errorf("%v spans counted as dropped, want 6", got)
	}
}
