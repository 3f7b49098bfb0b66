package collect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// TestRoundTrip sends all real traces to a real store, in both formats, and compares the stored
// traces with the originals.
func TestRoundTrip(t *testing.T) {
	s := storetest.Open(t, storetest.Options{})
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
		if got.status != 202 || got.Accepted != 1 || got.Duplicates != 0 || len(got.IDs) != 1 ||
			got.header.Get("Ingest-Durability") != string(storetest.Durability()) {
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
		tr, err := encode.DecodeTraceJSON([]byte(lines[i]), encode.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want[id] = tr
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
			t.Errorf("trace %s of %s was changed", r.ID, exp.Context.Page)
		}
		if !slices.Equal(r.Pages, []string{exp.Context.Page}) {
			t.Errorf("trace %s has the pages %q, want %q", r.ID, r.Pages, exp.Context.Page)
		}
		return nil
	})
	if err != nil || !stats.Complete() || found != 2*len(sent) {
		t.Errorf("found %d traces of %d: %+v, %v", found, 2*len(sent), stats, err)
	}
	// A client that got no response sends everything again.
	for range 2 {
		again := post(t, col, compress(t, "gzip", strings.Join(lines, "\n")), "Content-Encoding", "gzip")
		if again.status != 202 || again.Accepted != len(lines) || !slices.Equal(again.IDs, got.IDs) {
			t.Errorf("again: got %d %+v", again.status, again.answer)
		}
	}
	stored := 0
	if _, err := s.Scan(t.Context(), store.Query{}, func(store.Record) error {
		stored++
		return nil
	}); err != nil || stored != 2*len(sent) {
		t.Errorf("%d traces stored, want %d: %v", stored, 2*len(sent), err)
	}
	// A closed store accepts nothing.
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := post(t, col, traceJSON("f", "")); got.status != 503 || !strings.Contains(got.Error, "shutting down") {
		t.Errorf("closed: got %d %q", got.status, got.Error)
	}
}

// TestTooLargeForStore sends a trace that is too large for the store together with one that is not.
func TestTooLargeForStore(t *testing.T) {
	s := storetest.Open(t, storetest.Options{MaxPayload: 1 << 10})
	col, _ := newCollector(Options{Store: s})
	got := post(t, col, traceJSON(strings.Repeat("f", 2<<10), "")+traceJSON("f", ""))
	if got.status != 202 || got.Accepted != 1 || len(got.Rejected) != 1 || got.Rejected[0].Index != 0 ||
		got.Rejected[0].Status != 413 {
		t.Errorf("got %d %+v", got.status, got.answer)
	}
	stored := 0
	if _, err := s.Scan(t.Context(), store.Query{}, func(store.Record) error {
		stored++
		return nil
	}); err != nil || stored != 1 {
		t.Errorf("%d stored, %v", stored, err)
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
		{"lines", strings.Join([]string{traceJSON("a", ""), "{}", traceJSON("b", ""), withStacks(`{"frameId":9}`),
			missing}, "\n"), "", 202, 2,
			"1 400 resources: missing|3 422 trace.stacks[0].frameId|4 400 trace.samples[1].timestamp: missing", ""},
		{"array", `[` + strings.Join([]string{"null", traceJSON("a", ""), "[]"}, ",") + `]`, "", 202, 1,
			"0 400 an object should be|2 400 an object should be", ""},
		{"documents", delimited(good(1), "", good(2), "hello", good(3)[:len(good(3))-3]),
			"application/x-protobuf", 202, 2,
			"1 400 not in the binary format|3 400 not in the binary format|4 400 unexpected EOF", ""},
		{"JSON among documents", delimited(good(1), traceJSON("a", "")), "application/x-protobuf", 202, 1,
			"1 400 not in the binary format", ""},
		{"none is valid", withStacks(`{"frameId":9}`) + "{}", "", 422, 0,
			"0 422 trace.stacks[0].frameId|1 400 resources: missing",
			"none of 2 traces is acceptable; the first: invalid: trace.stacks[0].frameId"},
		{"the same twice", traceJSON("a", "") + traceJSON("a", ""), "", 202, 2, "", ""},
		{"truncated", traceJSON("a", "") + `{"a":`, "", 400, 0, "", "the document ends"},
	} {
		col, s := newCollector(Options{})
		got := post(t, col, c.body, "Content-Type", c.media)
		if got.status != c.status || len(got.IDs) != c.ids || got.Accepted != c.ids || !strings.Contains(got.Error,
			c.err) || (c.err == "") != (got.Error == "") {
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

// TestIdentity checks when two deliveries count as one trace.
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
	// The id in the trace equals the id in the key.
	for _, view := range []string{hex, `"viewId":"bob@example.com",`, `"viewId":"sixteen bytes ok",`} {
		col, s := newCollector(Options{})
		post(t, col, traceJSON("a", view))
		r := s.only(t)
		if got := traceOf(t, r).Context.ViewID; got != string(r.ID.View[:]) {
			t.Errorf("%s: the trace has the view %x, the record %x", view, got, r.ID.View)
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

// TestMetrics checks every metric and its value after a few requests.
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
		{"in_flight_bytes", "", 0}, {"folded_total", "page", 0}, {"uncounted_tags_total", "", 0},
		{"skewed_clocks_total", "", 0},
		{"marked_traces_total", "", 0},
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
	if err != nil || len(families) != 19 { // one has no value without page views
		t.Errorf("%d metrics, %v", len(families), err)
	}
}
