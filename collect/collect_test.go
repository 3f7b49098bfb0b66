package collect

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestRoundTrip sends all real traces to a real store, in both formats, and compares
// what is read back with what was sent.
func TestRoundTrip(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{MemTableSize: 8 << 20, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	col, _ := newCollector(Options{Store: s})
	sent := realTraces(t)
	want := map[string]*trie.Trace{} // by id
	var lines []string
	for name, text := range sent {
		tr, err := encode.DecodeTraceJSON([]byte(text), encode.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		got := post(t, col, string(b), "Content-Type", "application/x-protobuf")
		if got.status != 202 || got.Accepted != 1 || got.Duplicates != 0 || len(got.IDs) != 1 || got.header.Get("Ingest-Durability") != "local" {
			t.Errorf("%s: got %d %+v", name, got.status, got.answer)
			continue
		}
		want[got.IDs[0]] = tr
		lines = append(lines, text)
	}
	got := post(t, col, compress(t, "gzip", strings.Join(lines, "\n")), "Content-Encoding", "gzip")
	if got.status != 202 || got.Accepted != len(lines) || got.Duplicates != 0 || len(got.IDs) != len(lines) {
		t.Errorf("all as lines: got %d %+v", got.status, got.answer)
	}
	for i, id := range got.IDs {
		if want[id], err = encode.DecodeTraceJSON([]byte(lines[i]), encode.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	stats, err := s.Scan(t.Context(), store.Query{}, func(r store.Record) error {
		found++
		tr, exp := traceOf(t, r), want[r.ID.String()]
		if exp == nil {
			return fmt.Errorf("trace %s was not sent", r.ID)
		}
		exp.Context.Page = PageRules{}.Page(exp.Context.Page)
		if !tr.Equal(exp) {
			t.Errorf("trace %s of %s came back changed", r.ID, exp.Context.Page)
		}
		if !slices.Equal(r.Pages, []string{exp.Context.Page}) {
			t.Errorf("trace %s is of pages %q, want %q", r.ID, r.Pages, exp.Context.Page)
		}
		return nil
	})
	if err != nil || !stats.Complete() || found != 2*len(sent) {
		t.Errorf("found %d traces of %d: %+v, %v", found, 2*len(sent), stats, err)
	}
	// A client that got no answer sends it all again.
	for range 2 {
		again := post(t, col, compress(t, "gzip", strings.Join(lines, "\n")), "Content-Encoding", "gzip")
		if again.status != 202 || again.Accepted != len(lines) || again.Duplicates != len(lines) || !slices.Equal(again.IDs, got.IDs) {
			t.Errorf("again: got %d %+v", again.status, again.answer)
		}
	}
	if n := s.Counters().Stored; n != uint64(2*len(sent)) {
		t.Errorf("%d traces stored, want %d", n, 2*len(sent))
	}
	// A store that is closed has no room either.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := post(t, col, traceJSON("f", "")); got.status != 503 || !strings.Contains(got.Error, "shutting down") {
		t.Errorf("closed: got %d %q", got.status, got.Error)
	}
}

// TestTooLargeForStore sends a trace whose copies, one for each page, do not fit a
// commit, beside one that does.
func TestTooLargeForStore(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{MemTableSize: 8 << 20, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	col, _ := newCollector(Options{Store: s, Limits: Limits{Body: 1 << 20}})
	var spans, frames []string
	for i := range 60 {
		spans = append(spans, fmt.Sprintf(`{"page":"/page-%c%c","start":%d,"end":%d}`, 'a'+i/10, 'a'+i%10, i*10, i*10+10))
	}
	hard := uint64(1) // text that does not compress
	for range 2000 {
		var name []byte
		for range 40 {
			hard = hard*6364136223846793005 + 1442695040888963407
			name = append(name, 'A'+byte(hard>>60), 'a'+byte(hard>>55&15))
		}
		frames = append(frames, fmt.Sprintf(`{"name":"%s"}`, name))
	}
	large := `{"viewId":"large","interval":10,"spans":[` + strings.Join(spans, ",") + `],"trace":{"resources":[],"frames":[` +
		strings.Join(frames, ",") + `],"stacks":[`
	for i := range frames {
		large += fmt.Sprintf(`{"frameId":%d},`, i)
	}
	large = strings.TrimSuffix(large, ",") + `],"samples":[{"timestamp":0},{"timestamp":600}]}}`
	got := post(t, col, large+traceJSON("f", ""))
	if got.status != 202 || got.Accepted != 1 || len(got.Rejected) != 1 || got.Rejected[0].Index != 0 || got.Rejected[0].Status != 413 {
		t.Errorf("got %d %+v", got.status, got.answer)
	}
	if n := s.Counters().Stored; n != 1 || s.Err() != nil {
		t.Errorf("%d stored, %v", n, s.Err())
	}
}

func TestBatch(t *testing.T) {
	good := func(n int) string { return traceBinary(t, "f", fmt.Sprintf(`"viewId":"%d",`, n)) }
	missing := strings.Replace(traceJSON("f", ""), `"timestamp":10,`, "", 1)
	for _, c := range []struct {
		name, body, media string
		status            int
		ids               int
		rejected          string // index, status and a part of the message of each
		err               string
	}{
		{"lines", strings.Join([]string{traceJSON("a", ""), "{}", traceJSON("b", ""), withStacks(`{"frameId":9}`), missing}, "\n"), "", 202, 2,
			"1 400 resources: missing|3 422 trace.stacks[0].frameId|4 400 trace.samples[1].timestamp: missing", ""},
		{"array", `[` + strings.Join([]string{"null", traceJSON("a", ""), "[]"}, ",") + `]`, "", 202, 1,
			"0 400 an object should be|2 400 an object should be", ""},
		{"documents", delimited(good(1), "", good(2), "hello", good(3)[:len(good(3))-3]), "application/x-protobuf", 202, 2,
			"1 400 not in the binary format|3 400 not in the binary format|4 400 unexpected EOF", ""},
		{"JSON among documents", delimited(good(1), traceJSON("a", "")), "application/x-protobuf", 202, 1, "1 400 not in the binary format", ""},
		{"none is good", withStacks(`{"frameId":9}`) + "{}", "", 422, 0,
			"0 422 trace.stacks[0].frameId|1 400 resources: missing", "none of 2 traces is acceptable; the first: invalid: trace.stacks[0].frameId"},
		{"the same twice", traceJSON("a", "") + traceJSON("a", ""), "", 202, 2, "", ""},
		{"cut off", traceJSON("a", "") + `{"a":`, "", 400, 0, "", "the document ends"},
	} {
		col, s := newCollector(Options{})
		got := post(t, col, c.body, "Content-Type", c.media)
		if got.status != c.status || len(got.IDs) != c.ids || got.Accepted != c.ids || !strings.Contains(got.Error, c.err) || (c.err == "") != (got.Error == "") {
			t.Errorf("%s: got %d %+v", c.name, got.status, got.answer)
		}
		var want []string
		if c.rejected != "" {
			want = strings.Split(c.rejected, "|")
		}
		if len(want) != len(got.Rejected) {
			t.Errorf("%s: rejected: %+v, want %d", c.name, got.Rejected, len(want))
			continue
		}
		for i, r := range got.Rejected {
			place := fmt.Sprintf("%d %d ", r.Index, r.Status)
			if part, ok := strings.CutPrefix(want[i], place); !ok || !strings.Contains(r.Error, part) {
				t.Errorf("%s: rejected: %+v, want %s", c.name, r, want[i])
			}
		}
		if n := s.metric(t, "traces_total", "rejected"); int(n) != len(want) {
			t.Errorf("%s: %v are counted as rejected, want %d", c.name, n, len(want))
		}
		if s.appends > 1 {
			t.Errorf("%s: %d calls of the store", c.name, s.appends)
		}
	}
}

// TestIdentity checks what makes two deliveries one trace.
func TestIdentity(t *testing.T) {
	const hex = `"viewId":"000102030405060708090a0b0c0d0eff",`
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"same bytes", traceJSON("a", ""), traceJSON("a", ""), true},
		{"other bytes", traceJSON("a", ""), traceJSON("b", ""), false},
		{"same view and chunk", traceJSON("a", hex+`"chunk":1,`), traceJSON("b", hex+`"chunk":1,`), true},
		{"same view, other chunk", traceJSON("a", hex+`"chunk":1,`), traceJSON("a", hex+`"chunk":2,`), false},
		{"other view", traceJSON("a", `"viewId":"x",`), traceJSON("a", `"viewId":"y",`), false},
		{"same view in the other format", traceJSON("a", hex), traceBinary(t, "b", hex), true},
		{"same text", traceJSON("a", `"viewId":"x",`), traceBinary(t, "b", `"viewId":"x",`), true},
	} {
		col, s := newCollector(Options{})
		first, second := post(t, col, c.a), post(t, col, c.b)
		if first.status != 202 || second.status != 202 || first.Duplicates != 0 {
			t.Errorf("%s: got %+v and %+v", c.name, first, second)
		}
		if same := second.Duplicates == 1 && len(s.records) == 1 && first.IDs[0] == second.IDs[0]; same != c.same {
			t.Errorf("%s: got %v and %v, %d stored", c.name, first.IDs, second.IDs, len(s.records))
		}
		if n := s.metric(t, "traces_total", "duplicate"); (n == 1) != c.same {
			t.Errorf("%s: %v duplicates are counted", c.name, n)
		}
	}
	col, s := newCollector(Options{})
	post(t, col, traceJSON("a", hex))
	if id := s.only(t).ID.String(); id != "000102030405060708090a0b0c0d0eff/0" {
		t.Errorf("id is %s", id)
	}
	// What is in the trace is what is in the key.
	for _, view := range []string{hex, `"viewId":"bob@example.com",`, `"viewId":"sixteen bytes ok",`} {
		col, s := newCollector(Options{})
		post(t, col, traceJSON("a", view))
		r := s.only(t)
		if got := traceOf(t, r).Context.ViewID; got != string(r.ID.View[:]) {
			t.Errorf("%s: the trace is of view %x, the record of %x", view, got, r.ID.View)
		}
	}
}

func TestSkew(t *testing.T) {
	for _, c := range []struct {
		name   string
		origin time.Time
		sample time.Duration // after the origin
		kept   bool
	}{
		{"now", noon, 0, true},
		{"an hour ago", noon.Add(-time.Hour), 0, true},
		{"a page that is open for a week", noon.Add(-7 * 24 * time.Hour), 7 * 24 * time.Hour, true},
		{"two days ago", noon.Add(-48 * time.Hour), 0, false},
		{"in two days", noon.Add(48 * time.Hour), 0, false},
		{"in a week, if the samples are right", noon, 7 * 24 * time.Hour, false},
		{"1970", time.UnixMicro(1), 0, false},
		{"the end of time", time.UnixMicro(1 << 62), 0, false},
		{"the beginning of time", time.UnixMicro(-1 << 62), 0, false},
	} {
		col, s := newCollector(Options{})
		got := post(t, col, traceBinary(t, "f", "", func(tr *trie.Trace) {
			tr.Context.TimeOrigin = c.origin.UnixMicro()
			for i := range tr.Samples {
				tr.Samples[i].Time = c.sample.Microseconds()
			}
		}))
		if got.status != 202 {
			t.Errorf("%s: got %d %q", c.name, got.status, got.Error)
			continue
		}
		want, skewed := c.origin.UnixMicro(), 0.0
		if !c.kept {
			want, skewed = 0, 1
		}
		if origin := traceOf(t, s.only(t)).Context.TimeOrigin; origin != want {
			t.Errorf("%s: time origin %d, want %d", c.name, origin, want)
		}
		if n := s.metric(t, "skewed_clocks_total"); n != skewed {
			t.Errorf("%s: %v skewed clocks, want %v", c.name, n, skewed)
		}
	}
	col, s := newCollector(Options{})
	post(t, col, traceJSON("f", ""))
	if n := s.metric(t, "skewed_clocks_total"); n != 0 {
		t.Errorf("without a time origin: %v skewed clocks", n)
	}
}

func TestPageBudget(t *testing.T) {
	var now atomic.Int64
	now.Store(noon.UnixMicro())
	var log bytes.Buffer
	col, s := newCollector(Options{
		Limits: Limits{Pages: 5}, KnownPages: []string{"/known", PageUnknown},
		Now:    func() time.Time { return time.UnixMicro(now.Load()).UTC() },
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	// Many at once: exactly three new pages find room, each for all of its traces.
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for n := range 40 {
				page := fmt.Sprintf("/page-%c%c", 'a'+n/8, 'a'+n%8)
				if got := post(t, col, traceJSON("f", fmt.Sprintf(`"page":"%s","viewId":"%d-%d",`, page, i, n))); got.status != 202 {
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
	if n := s.metric(t, "folded_pages_total"); n != 8*37 {
		t.Errorf("%v are counted as folded, want %d", n, 8*37)
	}
	if n := strings.Count(log.String(), "too many distinct pages this hour"); n != 1 {
		t.Errorf("the log says so %d times:\n%s", n, log.String())
	}
	// What is known, and what is no page, still has a place.
	clear(s.records)
	post(t, col, traceJSON("f", `"page":"/known?x",`))
	post(t, col, traceJSON("f", ""))
	post(t, col, traceJSON("f", `"page":"/new",`))
	if pages := count(); pages["/known"] != 1 || pages[PageUnknown] != 1 || pages[PageOther] != 1 {
		t.Errorf("pages: %v", pages)
	}
	// The next hour begins anew, also for clocks that go back afterwards.
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
		`{"page":"/third","start":12,"end":13},{"page":"/fourth","start":13,"end":14},{"page":"/later","start":20,"end":30},`+
		`{"feature":"search","start":0,"end":6},{"feature":"search","start":3,"end":7},{"feature":"edit","start":7,"end":8},`+
		`{"feature":"nothing","start":8,"end":8},{"feature":"later","start":20,"end":30}],`))
	if got.status != 202 {
		t.Fatalf("got %d %q", got.status, got.Error)
	}
	r := s.only(t)
	tr := traceOf(t, r)
	// The first three in the order of their names have room.
	if want := []string{PageOther, "/fourth", "/start/:id", "/third"}; !slices.Equal(r.Pages, want) || !slices.Equal(tr.Pages(), want) {
		t.Errorf("pages %q, of the trace %q, want %q", r.Pages, tr.Pages(), want)
	}
	if want := []store.Tag{{Key: "release", Value: "r1"}, {Key: "environment", Value: "production"}, {Key: "feature", Value: "search"}, {Key: "feature", Value: "edit"}}; !slices.Equal(r.Tags, want) {
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
	if n := s.metric(t, "folded_pages_total"); n != 1 {
		t.Errorf("%v traces are counted as folded", n)
	}
}

// TestManyPages sends a trace of more pages than one record may have.
func TestManyPages(t *testing.T) {
	var spans []string
	for i := range 300 {
		spans = append(spans, fmt.Sprintf(`{"page":"/page-%c%c","start":%d,"end":%d}`, 'a'+i/20, 'a'+i%20, i*10, i*10+10))
	}
	body := strings.Replace(traceJSON("f", `"spans":[`+strings.Join(spans, ",")+`],`), `"timestamp":10`, `"timestamp":3000`, 1)
	col, s := newCollector(Options{})
	if got := post(t, col, body); got.status != 202 {
		t.Fatalf("got %d %q", got.status, got.Error)
	}
	r := s.only(t)
	if len(r.Pages) != store.MaxPages || !slices.Contains(r.Pages, PageOther) || !slices.Contains(r.Pages, PageUnknown) {
		t.Errorf("%d pages: %q", len(r.Pages), r.Pages)
	}
	if pages := traceOf(t, r).Pages(); !slices.Equal(pages, r.Pages) {
		t.Errorf("the trace has pages %q, the record %q", pages, r.Pages)
	}
}

// TestTagLimits checks that what the catalogue can not count is stored all the same.
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
	if len(tags) != store.MaxTags || len(tr.Features(PageUnknown)) != 40 {
		t.Errorf("%d tags, %d features", len(tags), len(tr.Features(PageUnknown)))
	}
	if n := s.metric(t, "uncounted_tags_total"); n != 8 {
		t.Errorf("%v tags are not counted, want 8", n)
	}
	long := strings.Repeat("r", store.MaxTagValue+1)
	if tags, tr := send(`"release":"` + long + `",`); len(tags) != 0 || tr.Context.Release != long {
		t.Errorf("long: %d tags, release %q", len(tags), tr.Context.Release)
	}
	if tags, tr := send(`"release":"a\u0000b",`); len(tags) != 0 || tr.Context.Release != "a\x00b" {
		t.Errorf("NUL: %d tags, release %q", len(tags), tr.Context.Release)
	}
	for i := range 6 {
		tags, tr := send(fmt.Sprintf(`"release":"r%d",`, i))
		if want := i < 35-store.MaxTags; (len(tags) == 1) != want || tr.Context.Release == "" {
			t.Errorf("release %d: tags %v, release %q", i, tags, tr.Context.Release)
		}
	}
	if tags, _ := send(`"release":"r0",`); len(tags) != 1 {
		t.Error("a release that is known is not counted")
	}
}

func TestForeign(t *testing.T) {
	const own = "https://www.example.com/app.js"
	frames := func(resources ...string) string {
		var names, frames, stacks []string
		for i, r := range resources {
			names = append(names, `"`+r+`"`)
			frames = append(frames, fmt.Sprintf(`{"name":"f%d","resourceId":%d,"line":1,"column":%d}`, i, i, i+1))
			parent := ""
			if i > 0 {
				parent = fmt.Sprintf(`,"parentId":%d`, i-1)
			}
			stacks = append(stacks, fmt.Sprintf(`{"frameId":%d%s}`, i, parent))
		}
		return fmt.Sprintf(`{"interval":10,"trace":{"resources":[%s],"frames":[%s],"stacks":[%s],"samples":[{"timestamp":0,"stackId":%d}]}}`,
			strings.Join(names, ","), strings.Join(frames, ","), strings.Join(stacks, ","), len(resources)-1)
	}
	first := []string{"www.example.com", "*.cdn.Example.net", "localhost:3000"}
	for _, c := range []struct {
		name      string
		first     []string
		resources []string
		want      string // names, root first
	}{
		{"all are shown", nil, []string{own, "https://ads.example/x.js", "https://ads.example/y.js"}, "f0 f1 f2"},
		{"run of another host", first, []string{own, "https://ads.example/x.js", "https://ads.example/y.js", own}, "f0 (third-party ads.example) f3"},
		{"two hosts", first, []string{"https://ads.example/x.js", "https://Ads2.example:8443/y.js"}, "(third-party ads.example) (third-party ads2.example)"},
		{"below a wildcard", first, []string{"https://a.b.cdn.example.net/x.js", "https://cdn.example.net/y.js"}, "f0 (third-party cdn.example.net)"},
		{"no wildcard", first, []string{"https://evilwww.example.com/x.js", "https://example.com/y.js"}, "(third-party evilwww.example.com) (third-party example.com)"},
		{"ports", first, []string{"http://localhost:3000/x.js", "http://localhost:3001/x.js", "https://www.example.com:8443/y.js"}, "f0 (third-party localhost) f2"},
		{"other spellings", first, []string{"HTTPS://WWW.Example.COM/x.js", "https://www.example.com./y.js"}, "f0 f1"},
		{"user in front", first, []string{"https://www.example.com@ads.example/x.js"}, "(third-party ads.example)"},
		{"blobs", first, []string{"blob:https://ads.example/1-2-3", "blob:https://www.example.com/1-2-3"}, "(third-party ads.example) f1"},
		{"no host", first, []string{"data:text/javascript,1", "about:blank", "file:///app.js"}, "f0 f1 f2"},
		{"not a URL", first, []string{"https://ads.example/%zz", "https://a b/"}, "(unknown)"},
		{"extensions", nil, []string{own, "chrome-extension://abc/x.js", "moz-extension://def/y.js", own}, "f0 (unknown) f3"},
	} {
		col, s := newCollector(Options{FirstParty: c.first})
		if got := post(t, col, frames(c.resources...)); got.status != 202 {
			t.Errorf("%s: got %d %q", c.name, got.status, got.Error)
			continue
		}
		tr := traceOf(t, s.only(t))
		var names []string
		for n := range tr.Stack(tr.Samples[0].Node) {
			names = append(names, tr.Frame(n).Name)
		}
		slices.Reverse(names)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAtOnce(t *testing.T) {
	for _, c := range []struct {
		spans [][2]int64 // start and length
		want  int
	}{
		{nil, 0},
		{[][2]int64{{0, 10}}, 1},
		{[][2]int64{{0, 10}, {10, 10}, {20, 0}}, 1},
		{[][2]int64{{0, 10}, {9, 10}, {18, 10}}, 2},
		{[][2]int64{{0, 100}, {1, 1}, {2, 1}, {3, 1}}, 2},
		{[][2]int64{{0, 100}, {0, 100}, {0, 100}, {50, 1}}, 4},
		{[][2]int64{{0, 0}, {0, 0}, {0, 0}}, 1},
	} {
		var spans []trie.Span
		for _, s := range c.spans {
			spans = append(spans, trie.Span{Kind: trie.SpanFeature, Name: "f", Start: s[0], Length: s[1]})
		}
		if got := atOnce(spans); got != c.want {
			t.Errorf("%v: got %d, want %d", c.spans, got, c.want)
		}
	}
}

// TestMetrics looks for every metric and its value after a few requests.
func TestMetrics(t *testing.T) {
	col, s := newCollector(Options{})
	body := traceJSON("a", "")
	post(t, col, body)
	post(t, col, body+"{}")
	post(t, col, "x")
	for _, c := range []struct {
		name, label string
		want        float64
	}{
		{"requests_total", "202", 2}, {"requests_total", "400", 1},
		{"refused_total", "malformed", 1},
		{"traces_total", "accepted", 1}, {"traces_total", "duplicate", 1}, {"traces_total", "rejected", 1},
		{"rejected_total", "malformed", 1},
		{"bytes_total", "", float64(2*len(body) + 3)},
		{"request_seconds", "", 3},
		{"in_flight_bytes", "", 0}, {"folded_pages_total", "", 0}, {"uncounted_tags_total", "", 0}, {"skewed_clocks_total", "", 0},
	} {
		var label []string
		if c.label != "" {
			label = []string{c.label}
		}
		if got := s.metric(t, c.name, label...); got != c.want {
			t.Errorf("%s %s: got %v, want %v", c.name, c.label, got, c.want)
		}
	}
	families, err := s.metrics.Gather()
	if err != nil || len(families) != 10 {
		t.Errorf("%d metrics, %v", len(families), err)
	}
}
