package encode

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Parts of the documents in these tests.
const (
	noTrace = `{"resources":[],"frames":[],"stacks":[],"samples":[]}`
)

func envelope(keys string) string {
	if keys != "" {
		keys += ","
	}
	return "{" + keys + `"trace":` + noTrace + "}"
}

func mustDecode(t *testing.T, doc string) *trie.Trace {
	t.Helper()
	tr, err := DecodeProfilerTrace([]byte(doc), Limits{})
	if err != nil {
		t.Fatalf("%.200s: %v", doc, err)
	}
	checkDecoded(t, tr)
	return tr
}

// checkDecoded checks the invariants of every decoded trace.
func checkDecoded(t *testing.T, tr *trie.Trace) {
	t.Helper()
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	if tr.Context.Interval == 0 || tr.Context.Interval > maxInterval {
		t.Fatalf("interval %d", tr.Context.Interval)
	}
	seen := map[string]bool{}
	for _, s := range tr.Strings {
		if seen[s] {
			t.Fatalf("string %q occurs twice", s)
		}
		seen[s] = true
	}
	checkRepaired(t, tr)
}

func TestProfilerTrace(t *testing.T) {
	doc := `{"page":"/feed?user=17","timeOrigin":1795216764503.8,"interval":10.0004,"throttle":3,` +
		`"ua":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 ` +
		`Safari/537.36",` +
		`"viewId":"000102030405060708090a0b0c0d0eff","chunk":2,"release":"2026.11.3","environment":"production",` +
		`"labels":{"device":"low","phase":"load"},"samplingShare":0.25,` +
		`"spans":[{"feature":"search","start":105.5,"end":120},{"start":90,"page":"/results?q=x","end":105.5}],` +
		`"trace":` + fixture.OneTrace + `}`
	tr := mustDecode(t, doc)
	want := trie.Context{
		Page: "/feed", TimeOrigin: 1795216764503800, Interval: 10_000,
		ViewID: "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\xff",
		Chunk:  2, Release: "2026.11.3", Environment: "production", SamplingShare: 0.25,
		Labels: trie.MakeLabels("browser", "Chrome 156", "device", "low", "phase", "load"),
		Spans: []trie.Span{
			{Kind: trie.SpanPage, Name: "/results", Start: 90_000, Length: 15_500},
			{Kind: trie.SpanFeature, Name: "search", Start: 105_500, Length: 14_500},
		},
	}
	if !reflect.DeepEqual(tr.Context, want) {
		t.Errorf("got context %+v\nwant %+v", tr.Context, want)
	}
	samples := []trie.Sample{{Time: 101_400, Node: 3}, {Time: 111_450}, {Time: 121_500, Node: 1},
		{Time: 131_000, Node: 2, Marker: trie.MarkerGC}}
	if !slices.Equal(tr.Samples, samples) {
		t.Errorf("got samples %v, want %v", tr.Samples, samples)
	}
	stack := []trie.Frame{
		{Name: "main", Resource: "https://example.com/app.js", Line: 1, Column: 1},
		{Resource: "https://example.com/app.js", Line: 12, Column: 3},
		{Name: "querySelector"},
	}
	if got := fixture.FramesOf(&tr.Trie, 3); !slices.Equal(got, stack) {
		t.Errorf("got stack %v, want %v", got, stack)
	}
}

// TestProfilerTraceForms checks that equivalent documents decode to equal traces.
func TestProfilerTraceForms(t *testing.T) {
	bare := mustDecode(t, fixture.OneTrace)
	if bare.Context.Interval != 10_000 || len(bare.Samples) != 4 {
		t.Fatalf("got %+v", bare)
	}
	var tables map[string]json.RawMessage
	if err := json.Unmarshal([]byte(fixture.OneTrace), &tables); err != nil {
		t.Fatal(err)
	}
	other := fmt.Sprintf("\ufeff\r\n{ \"samples\" : %s,\t\"stacks\":%s, \"x\": {\"samples\": [[]]}, "+
		"\"frames\":%s,\"resources\":%s } ",
		tables["samples"], tables["stacks"], tables["frames"], tables["resources"])
	for _, doc := range []string{
		other,
		`{"trace":` + fixture.OneTrace + `}`,
		`{"trace":` + fixture.OneTrace + `,"interval":10}`,
		`{"page":null,"timeOrigin":null,"ua":null,"labels":null,"spans":null,"interval":null,"trace":` +
			fixture.OneTrace + `}`,
		`{"trace":` + noTrace + `,"trace":` + fixture.OneTrace + `}`, // the last of two keys
		strings.ReplaceAll(fixture.OneTrace, `{"name"`, `{"n\u0061me":"x","nam\u0065"`),
		strings.ReplaceAll(fixture.OneTrace, `{"frameId"`, `{"other":[{"a":[1,"]"]}],"parentId":null,"frameId"`),
		strings.ReplaceAll(fixture.OneTrace, `:0}`, `:0.0}`),
		strings.ReplaceAll(fixture.OneTrace, `:12,`, `:1.2e1,`),
	} {
		if got := mustDecode(t, doc); !got.Equal(bare) {
			t.Errorf("%s:\n got %+v\nwant %+v", doc, got, bare)
		}
	}
}

func TestProfilerTraceContext(t *testing.T) {
	labels := func(pairs ...string) func(*trie.Context) bool {
		return func(c *trie.Context) bool { return slices.Equal(c.Labels, trie.MakeLabels(pairs...)) }
	}
	for keys, ok := range map[string]func(c *trie.Context) bool{
		``: func(c *trie.Context) bool {
			return reflect.DeepEqual(*c, trie.Context{Interval: 10_000})
		},
		`"page":"https://h/a/b?c#d"`:   func(c *trie.Context) bool { return c.Page == "/a/b" },
		`"page":"/\ud800\udc00\ud800"`: func(c *trie.Context) bool { return c.Page == "/\U00010000\ufffd" },
		"\"page\":\"/\xff\xc3\xa9\"":   func(c *trie.Context) bool { return c.Page == "/\ufffdé" },
		`"viewId":"abc"`:               func(c *trie.Context) bool { return c.ViewID == "abc" },
		`"viewId":"0123456789abcdef"`:  func(c *trie.Context) bool { return c.ViewID == "0123456789abcdef" },
		`"interval":0.0005`:            func(c *trie.Context) bool { return c.Interval == 1 },
		`"interval":60000`:             func(c *trie.Context) bool { return c.Interval == 60_000_000 },
		`"interval":16,"interval":8`:   func(c *trie.Context) bool { return c.Interval == 8_000 },
		`"timeOrigin":-1.5`:            func(c *trie.Context) bool { return c.TimeOrigin == -1500 },
		`"samplingShare":1`:            func(c *trie.Context) bool { return c.SamplingShare == 1 },
		`"chunk":4294967295`:           func(c *trie.Context) bool { return c.Chunk == math.MaxUint32 },
		`"ua":"curl/8"`:                labels(),
		`"ua":"x Firefox/150.0"`:       labels("browser", "Firefox 150"),
		`"ua":"Firefox/150","labels":{"browser":"mine","a":"","a":"b"}`: labels("a", "b", "browser", "mine"),
		`"spans":[{"page":"/b","start":5,"end":9},{"page":"?x","start":1,"end":5}]`: func(c *trie.Context) bool {
			return slices.Equal(c.Spans, []trie.Span{{Name: "/", Start: 1000, Length: 4000}, {Name: "/b", Start: 5000,
				Length: 4000}})
		},
		`"spans":[{"label":"phase=x=y","start":1,"end":2},{"start":1,"feature":"phase=x","end":2},` +
			`{"label":"a=\u00e9","start":0.5,"end":0.5}]`: func(c *trie.Context) bool {
			return slices.Equal(c.Spans, []trie.Span{{Kind: trie.SpanLabel, Name: "a=é", Start: 500},
				{Kind: trie.SpanFeature, Name: "phase=x", Start: 1000, Length: 1000}, {Kind: trie.SpanLabel,
					Name: "phase=x=y", Start: 1000, Length: 1000}})
		},
		`"spans":[]`: func(c *trie.Context) bool { return len(c.Spans) == 0 },
	} {
		if c := mustDecode(t, envelope(keys)).Context; !ok(&c) {
			t.Errorf("%s: got %+v", keys, c)
		}
	}
}

func TestProfilerTraceCost(t *testing.T) {
	const most = math.MaxUint32
	for keys, want := range map[string]trie.Cost{
		``:            {},
		`"cost":null`: {},
		`"cost":{}`:   {},
		`"cost":{"start":1.9,"stop":2.4,"encode":1.1,"bytes":5120,"dropped":1}`:            fixture.CostTrace().Cost,
		`"cost":{"stop":4294967.295,"bytes":4294967295,"start":0.0004,"later":[1]}`:        {Stop: most, Bytes: most},
		`"cost":{"start":null,"stop":null,"encode":null,"bytes":null,"dropped":null}`:      {},
		`"cost":{"start":5,"bytes":9},"cost":{"encode":2,"encode":0.0005,"dropped":3.0e0}`: {Encode: 1, Dropped: 3},
	} {
		if got := mustDecode(t, envelope(keys)).Cost; got != want {
			t.Errorf("%s: got %+v, want %+v", keys, got, want)
		}
	}
	mustDecode(t, envelope(`"cost":{"dropped":1}`))
	if got := mustDecode(t, fixture.OneTrace).Cost; got != (trie.Cost{}) {
		t.Errorf("got %+v from the previous trace", got)
	}
}

func TestBrowserOf(t *testing.T) {
	const webkit = "Mozilla/5.0 (X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
	for ua, want := range map[string]string{
		"": "", "curl/8.1": "", "Chrome/": "", "Chrome/x": "", "Chrome/12345.1": "",
		webkit + "Chrome/156.0.0.0 Safari/537.36":                                 "Chrome 156",
		webkit + "HeadlessChrome/156.0.0.0 Safari/537.36":                         "Chrome 156",
		webkit + "Chrome/156.0.0.0 Mobile Safari/537.36 EdgA/155.0.1":             "Edge 155",
		webkit + "Chrome/156.0.0.0 Safari/537.36 Edg/155.0.1":                     "Edge 155",
		webkit + "Chrome/156.0.0.0 Safari/537.36 OPR/130.0":                       "Opera 130",
		webkit + "SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36":      "SamsungBrowser 28",
		webkit + "Version/19.1 Safari/605.1.15":                                   "Safari 19",
		webkit + "CriOS/156.0.1 Mobile/15E148 Safari/604.1":                       "Chrome 156",
		webkit + "Version/4.0 Chrome/156.0.0.0 Mobile Safari/537.36":              "Chrome 156",
		"Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0":  "Firefox 150",
		"Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18":               "",
		"Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko 1": "",
	} {
		if got := BrowserOf(ua); got != want {
			t.Errorf("%s: got %q, want %q", ua, got, want)
		}
	}
}

// TestProfilerTraceKeepsNothing checks that a trace keeps no part of its input, which the caller
// reuses, and no discarded data.
func TestProfilerTraceKeepsNothing(t *testing.T) {
	const secret = "5ec7e7"
	doc := []byte(`{"page":"/feed?` + secret + `","ua":"Firefox/150 ` + secret +
		`","release":"r1","labels":{"k":"v"},"spans":[{"feature":"f","start":0,"end":1}],"viewId":"abc",` +
		`"trace":{"resources":["https://u:` + secret + `@h/a.js?` + secret + `","data:text/javascript,` +
		strings.Repeat(secret, 9000) + `","chrome-extension://` + secret + `/x","/unused` + secret + `"],` +
		`"frames":[{"name":"f","resourceId":0},{"name":"g","resourceId":1},{"name":"` + secret + `","resourceId":2}],` +
		`"stacks":[{"frameId":0},{"frameId":1},{"frameId":2}],"samples":[{"timestamp":1,"stackId":1}]}}`)
	tr, err := DecodeProfilerTrace(doc, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprintf("%+v", tr)
	for i := range doc {
		doc[i] = 'X'
	}
	mustDecode(t, fixture.OneTrace) // reuses the scratch space
	if after := fmt.Sprintf("%+v", tr); after != before || strings.Contains(after, secret) {
		t.Errorf("got %s\nthen %s", before, after)
	}
}

func TestProfilerTraceRepairs(t *testing.T) {
	doc := fmt.Sprintf(`{"resources":["/a?1","/a?2","chrome-extension://x/y.js","blob:https://h/1","","https://h/?x"],`+
		`"frames":[{"name":%q,"resourceId":0,"line":1},{"name":"f","resourceId":1,"line":1},{"name":"f",`+
		`"resourceId":0,"line":1},`+
		`{"name":"x","resourceId":2,"line":5},{"name":"g","resourceId":3},{"name":"g","resourceId":4,"line":7},`+
		`{"name":"/a","line":3}],`+
		`"stacks":[{"frameId":0},{"frameId":1},{"frameId":2},{"frameId":3},{"frameId":4},{"frameId":5},`+
		`{"frameId":6}],"samples":[]}`, latin1("é"))
	tr := mustDecode(t, doc)
	want := []trie.Frame{{Name: "é", Resource: "/a", Line: 1}, {Name: "f", Resource: "/a", Line: 1},
		{Name: "f", Resource: "/a", Line: 1},
		{Name: trie.FrameUnknown}, {Name: "g", Resource: "blob:https://h"}, {Name: "g"}, {Name: "/a"}}
	for i, f := range want {
		if got := tr.Frame(trie.NodeID(i + 1)); got != f {
			t.Errorf("frame %d: got %v, want %v", i, got, f)
		}
	}
	if len(tr.Frames) != len(want)-1 {
		t.Errorf("got %d frames, want equal ones merged", len(tr.Frames))
	}
}

// TestProfilerTraceLarge tests tables that outgrow their initial scratch space.
func TestProfilerTraceLarge(t *testing.T) {
	const n = 5000
	var frames, stacks strings.Builder
	for i := range n {
		fmt.Fprintf(&frames, `{"name":"f%d"},{"name":"f%d","line":null},`, i, n-1-i)
		fmt.Fprintf(&stacks, `{"frameId":%d},{"frameId":%d},`, 2*i, 2*i+1)
	}
	doc := fmt.Sprintf(`{"trace":{"resources":[],"x":[1],"frames":[%s{"name":""}],"stacks":[%s{"frameId":0}],`+
		`"samples":[]}}`, &frames, &stacks)
	for range 2 {
		tr := mustDecode(t, doc)
		for i := range n {
			for k, want := range []string{fmt.Sprint("f", i), fmt.Sprint("f", n-1-i)} {
				if got := tr.Frame(trie.NodeID(2*i + k + 1)); got != (trie.Frame{Name: want}) {
					t.Fatalf("stack %d: got %v, want %s", 2*i+k, got, want)
				}
			}
		}
		if len(tr.Strings) != n+1 {
			t.Fatalf("got %d strings, want %d", len(tr.Strings), n+1)
		}
		mustDecode(t, fixture.OneTrace)
	}
}

func TestEstimateInterval(t *testing.T) {
	for _, c := range []struct {
		times []int64
		want  uint32
	}{
		{nil, 10_000},
		{[]int64{0, 5000, 10000, 15000}, 10_000},
		{[]int64{0, 5000, 10000, 15000, 20000}, 5_000},
		{[]int64{0, 0, 0, 0, 0, 5000}, 10_000},
		{[]int64{0, 16100, 16100, 32000, 48600, 48601, 65000, 90000}, 16_000},
		{[]int64{0, 10, 20, 30, 40}, 1_000},
		{[]int64{0, 1e9, 2e9, 3e9, 4e9}, 60_000_000},
		{[]int64{0, 9000, 18000, 29000, 40000}, 10_000}, // the mean of 9 and 11
	} {
		var samples []trie.Sample
		for _, x := range c.times {
			samples = append(samples, trie.Sample{Time: x})
		}
		if got := estimateInterval(samples); got != c.want {
			t.Errorf("%v: got %d, want %d", c.times, got, c.want)
		}
	}
}

// badTraces are documents that must be rejected, with the error.
var badTraces = []struct{ doc, want string }{
	{``, `malformed: byte 0: the document ends where an object should be`},
	{`[]`, `malformed: byte 0: '[' where an object should be`},
	{`{}`, `malformed: resources: missing`},
	{`{"trace":{}}`, `malformed: trace.resources: missing`},
	{`{"trace":null}`, `malformed: resources: missing`},
	{`{"trace":[]}`, `malformed: byte 9: '[' where an object should be`},
	{`{"resources":[],"stacks":[],"samples":[]}`, `malformed: frames: missing`},
	{`{"trace":{"resources":[],"frames":[],"samples":[]}}`, `malformed: trace.stacks: missing`},
	{`{"resources":[],"frames":[],"stacks":[]}`, `malformed: samples: missing`},
	{noTrace + `x`, `malformed: byte 53: 'x' where the end of the document should be`},
	{`{"resources":[],"frames":null}`, `malformed: frames: missing`},
	{`{"frames":{}}`, `malformed: frames: byte 10: '{' where an array should be`},
	{`{"frames":[1]}`, `malformed: frames[0]: byte 11: '1' where an object should be`},
	{`{"frames":[{}]}`, `malformed: frames[0].name: missing`},
	{`{"frames":[{"name":null}]}`, `malformed: frames[0]: byte 19: 'n' where a string should be`},
	{`{"trace":{"frames":[{"name":""},{"name":"","line":"1"}]}}`,
		`malformed: trace.frames[1]: byte 50: '"' where a number should be`},
	{`{"frames":[{"name":"","line":-1}]}`, `invalid: frames[0].line: not a whole number from 0 to 4294967295`},
	{`{"frames":[{"name":"","line":1.5}]}`, `invalid: frames[0].line: not a whole number from 0 to 4294967295`},
	{`{"frames":[{"name":"","column":4294967296}]}`,
		`invalid: frames[0].column: not a whole number from 0 to 4294967295`},
	{`{"frames":[{"name":"","column":1e300}]}`, `invalid: frames[0].column: not a whole number from 0 to 4294967295`},
	{`{"frames":[{"name":"","column":99999999999999999999}]}`,
		`invalid: frames[0].column: not a whole number from 0 to 4294967295`},
	{`{"frames":[{"name":"","resourceId":4294967295}]}`,
		`invalid: frames[0].resourceId: not a whole number from 0 to 4294967294`},
	{`{"resources":["a"],"frames":[{"name":""},{"name":"","resourceId":1}],"stacks":[],"samples":[]}`,
		`invalid: frames[1].resourceId: 1, but there are 1 resources`},
	{`{"resources":[{}]}`, `malformed: resources[0]: byte 14: '{' where a string should be`},
	{`{"stacks":[{}]}`, `malformed: stacks[0].frameId: missing`},
	{`{"stacks":[{"frameId":null}]}`, `malformed: stacks[0].frameId: missing`},
	{`{"stacks":[{"frameId":0,"parentId":0}]}`, `invalid: stacks[0].parentId: 0 does not come before it`},
	{`{"trace":{"stacks":[{"frameId":0},{"frameId":0},{"frameId":0},{"frameId":0,"parentId":5}]}}`,
		`invalid: trace.stacks[3].parentId: 5 does not come before it`},
	{`{"stacks":[{"frameId":0},{"frameId":0,"parentId":2},{"frameId":0,"parentId":1}]}`,
		`invalid: stacks[1].parentId: 2 does not come before it`},
	{`{"stacks":[{"frameId":0},{"frameId":0,"parentId":4294967294}]}`,
		`invalid: stacks[1].parentId: 4294967294 does not come before it`},
	{`{"stacks":[{"frameId":0},{"frameId":0,"parentId":-1}]}`,
		`invalid: stacks[1].parentId: not a whole number from 0 to 4294967294`},
	{`{"resources":[],"frames":[],"stacks":[{"frameId":0}],"samples":[]}`,
		`invalid: stacks[0].frameId: 0, but there are 0 frames`},
	{`{"resources":[],"frames":[],"stacks":[{"frameId":4294967294}],"samples":[]}`,
		`invalid: stacks[0].frameId: 4294967294, but there are 0 frames`},
	{`{"resources":[],"frames":[],"stacks":[],"samples":[{"timestamp":1},{"timestamp":1,"stackId":0}]}`,
		`invalid: samples[1].stackId: 0, but there are 0 stacks`},
	{`{"samples":[{}]}`, `malformed: samples[0].timestamp: missing`},
	{`{"samples":[{"timestamp":null}]}`, `malformed: samples[0]: byte 25: 'n' where a number should be`},
	{`{"samples":[{"timestamp":NaN}]}`, `malformed: samples[0]: byte 25: 'N' where a number should be`},
	{`{"samples":[{"timestamp":1e999}]}`, `invalid: samples[0].timestamp: out of range`},
	{`{"samples":[{"timestamp":-1e999}]}`, `invalid: samples[0].timestamp: out of range`},
	{`{"samples":[{"timestamp":1125899906843}]}`, `invalid: samples[0].timestamp: out of range`},
	{`{"samples":[{"timestamp":1,"marker":7}]}`, `malformed: samples[0]: byte 36: '7' where a string should be`},
	{envelope(`"interval":0`), `invalid: interval: not over 0 to 60000 ms`},
	{envelope(`"interval":0.0004`), `invalid: interval: not over 0 to 60000 ms`},
	{envelope(`"interval":-10`), `invalid: interval: not over 0 to 60000 ms`},
	{envelope(`"interval":60000.001`), `invalid: interval: not over 0 to 60000 ms`},
	{envelope(`"timeOrigin":1e300`), `invalid: timeOrigin: out of range`},
	{envelope(`"samplingShare":0`), `invalid: samplingShare: not over 0 to 1`},
	{envelope(`"samplingShare":1.01`), `invalid: samplingShare: not over 0 to 1`},
	{envelope(`"viewId":"0123456789abcdefg"`), `invalid: viewId: neither up to 16 bytes nor 32 hexadecimal digits`},
	{envelope(`"viewId":"000102030405060708090a0b0c0d0exx"`),
		`invalid: viewId: neither up to 16 bytes nor 32 hexadecimal digits`},
	{envelope(`"chunk":-1`), `invalid: chunk: not a whole number from 0 to 4294967295`},
	{envelope(`"labels":{"":"x"}`), `invalid: labels: a label has no name`},
	{envelope(`"labels":{"a":1}`), `malformed: byte 15: '1' where a string should be`},
	{envelope(`"cost":7`), `malformed: byte 8: '7' where an object should be`},
	{envelope(`"cost":{"start":-0.001}`), `invalid: cost.start: out of range`},
	{envelope(`"cost":{"stop":4294967.296}`), `invalid: cost.stop: out of range`},
	{envelope(`"cost":{"encode":"1"}`), `malformed: byte 18: '"' where a number should be`},
	{envelope(`"cost":{"bytes":1.5}`), `invalid: cost.bytes: not a whole number from 0 to 4294967295`},
	{envelope(`"cost":{"dropped":4294967296}`), `invalid: cost.dropped: not a whole number from 0 to 4294967295`},
	{envelope(`"spans":[{"start":1,"end":2}]`), `malformed: spans[0].feature: missing`},
	{envelope(`"spans":[{"page":"/","start":1}]`), `malformed: spans[0].end: missing`},
	{envelope(`"spans":[{"page":"/","end":1}]`), `malformed: spans[0].start: missing`},
	{envelope(`"spans":[{"page":"/","feature":"f","start":1,"end":2}]`),
		`invalid: spans[0].feature: a span has one name`},
	{envelope(`"spans":[{"feature":"","start":1,"end":2}]`), `invalid: spans[0].feature: empty`},
	{envelope(`"spans":[{"label":"","start":1,"end":2}]`), `invalid: spans[0].label: "" is not KEY=VALUE`},
	{envelope(`"spans":[{"label":"a","start":1,"end":2}]`), `invalid: spans[0].label: "a" is not KEY=VALUE`},
	{envelope(`"spans":[{"label":"=a","start":1,"end":2}]`), `invalid: spans[0].label: "=a" is not KEY=VALUE`},
	{envelope(`"spans":[{"label":"a=","start":1,"end":2}]`), `invalid: spans[0].label: "a=" is not KEY=VALUE`},
	{envelope(`"spans":[{"label":"a=b","feature":"f","start":1,"end":2}]`),
		`invalid: spans[0].feature: a span has one name`},
	{envelope(`"spans":[{"feature":"f","start":2,"end":1}]`), `invalid: spans[0].end: before start`},
	{envelope(`"spans":[{"feature":"f","start":1,"end":1e99}]`), `invalid: spans[0].end: out of range`},
	{`{"x":` + strings.Repeat("[", 20_000), `malformed: byte 10005: nested deeper than 10000`},
}

func TestProfilerTraceRefuses(t *testing.T) {
	for _, c := range badTraces {
		tr, err := DecodeProfilerTrace([]byte(c.doc), Limits{})
		if err == nil || err.Error() != c.want || tr != nil {
			t.Errorf("%.120s:\n got %v\nwant %s", c.doc, err, c.want)
		}
		if KindOf(err) == 0 {
			t.Errorf("%.120s: got %T, want an *Error", c.doc, err)
		}
	}
}

func TestProfilerTraceInvalidTrace(t *testing.T) {
	doc := envelope(`"spans":[{"page":"/a","start":1,"end":3},{"page":"/b","start":2,"end":4}]`)
	if _, err := DecodeProfilerTrace([]byte(doc), Limits{}); KindOf(err) != input.Invalid ||
		!strings.Contains(err.Error(), "overlaps") {
		t.Errorf("got %v, want the error of the trace's validation", err)
	}
}

// TestProfilerTraceLimits checks that an exceeded limit is reported immediately: the text after it
// is not JSON and would otherwise be reported.
func TestProfilerTraceLimits(t *testing.T) {
	lim := Limits{Samples: 2, Nodes: 2, Frames: 2, Resources: 2, StringBytes: 4, Spans: 2, Labels: 2}
	for doc, want := range map[string]string{
		`{"samples":[{"timestamp":1},{"timestamp":1},{`: `too large: samples: more than 2`,
		`{"trace":{"stacks":[{"frameId":1},` +
			`{"frameId":1},{`: `too large: trace.stacks: more than 2`,
		`{"frames":[{"name":"abcd"},{"name":""},{`: `too large: frames: more than 2`,
		`{"resources":["abcd?efg","a",`:            `too large: resources: more than 2`,
		`{"resources":["abc","abcde"?`: `too large: resources[1]: 5 ` +
			`bytes, the most is 4`,
		`{"frames":[{"name":"abcde"?`: `too large: frames[0].name: 5 ` +
			`bytes, the most is 4`,
		`{"page":"/abc?d","page":"/abcd"?`: `too large: page: 5 bytes, the ` +
			`most is 4`,
		`{"release":"abcde"?`: `too large: release: 5 bytes, ` +
			`the most is 4`,
		`{"environment":"abcde"?`: `too large: environment: 5 ` +
			`bytes, the most is 4`,
		`{"labels":{"abcde":"a"?`: `too large: labels: 5 bytes, ` +
			`the most is 4`,
		`{"labels":{"a":"abcde"?`: `too large: labels: 5 bytes, ` +
			`the most is 4`,
		`{"labels":{"a":"","b":"","b":"","c":""?`:                                   `too large: labels: more than 2`,
		`{"spans":[{"page":"a","start":1,"end":1},{"page":"a","start":1,"end":1},?`: `too large: spans: more than 2`,
		`{"spans":[{"label":"a=bcd"?`: `too large: spans[0].label: 5 ` +
			`bytes, the most is 4`,
		`{"spans":[{"feature":"abcde"?`: `too large: spans[0].feature: 5 ` +
			`bytes, the most is 4`,
	} {
		_, err := DecodeProfilerTrace([]byte(doc), lim)
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", doc, err, want)
		}
	}
	if _, err := DecodeProfilerTrace([]byte(envelope(`"labels":{"a":"","b":""}`)), lim); err != nil {
		t.Error(err)
	}
}

func TestIsProfilerTrace(t *testing.T) {
	for doc, want := range map[string]bool{
		fixture.OneTrace: true, noTrace: true, envelope(""): true, envelope(`"page":"/","x":{"y":[]}`): true,
		"\ufeff \n" + fixture.OneTrace:                   true,
		`{"samples":[{"stackId":1},`:                     true, // truncated: decoding returns the error
		`{"stacks":[{"parentId":1,"frameId":1}]}`:        true,
		`{"interval":10,"trace":{"resources":["/a.js"],`: true,
		``:                                       false,
		`{}`:                                     false,
		`[]`:                                     false,
		`{"samples":[]}`:                         false,
		`{"samples":[1,2,3],"nodes":[{"id":1}]}`: false, // a .cpuprofile
		`{"traceEvents":[{"name":"x"}]}`:         false,
		`{"shared":{"frames":[{"name":"x"}]},"profiles":[]}`: false, // speedscope
		`{"version":1,"profile":{"strings":["a"]}}`:          false,
		`{"trace":"x"}`: false,
		`main;render 5`: false,
		"\x1f\x8b":      false,
	} {
		if got := IsProfilerTrace([]byte(doc)); got != want {
			t.Errorf("%s: got %v, want %v", doc, got, want)
		}
	}
	for _, c := range proposalCases {
		if IsProfilerTrace([]byte(c.doc)) {
			t.Errorf("%s: detected as a ProfilerTrace", c.doc)
		}
	}
}

// FuzzProfilerTrace checks that decoded traces are valid, repaired and deterministic, and that no
// input decodes that encoding/json rejects as JSON.
func FuzzProfilerTrace(f *testing.F) {
	f.Add([]byte(fixture.OneTrace))
	f.Add([]byte(envelope(`"labels":{"a":"b"},"spans":[{"page":"/a","start":1,"end":3},{"feature":"f","start":1,` +
		`"end":3},{"label":"k=v","start":1,"end":2}],"viewId":"x"`)))
	f.Add([]byte(`{"trace":` + fixture.OneTrace +
		`,"interval":5,"page":"https://h/x?y","ua":"Edg/1 Chrome/2","samplingShare":0.5,"cost":{"start":1.5,"stop":2,` +
		`"encode":0,"bytes":7,"dropped":1}}`))
	f.Add([]byte(`{"resources":["chrome-extension://a","blob:https://h/1","/a?b","/a"],"frames":[{"name":"Ã©",` +
		`"resourceId":2},{"name":"","resourceId":3},{"name":"x","resourceId":0},{"name":"","resourceId":1}],` +
		`"stacks":[{"frameId":3},{"frameId":2,"parentId":0}],"samples":[{"timestamp":5,"stackId":1,"marker":"x"},` +
		`{"timestamp":-1e2}]}`))
	for _, c := range badTraces {
		if len(c.doc) < 1000 {
			f.Add([]byte(c.doc))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := DecodeProfilerTrace(data, Limits{})
		again, errAgain := DecodeProfilerTrace(data, Limits{})
		if err != nil {
			if _, ok := errors.AsType[*input.Error](err); !ok || tr != nil || errAgain == nil ||
				errAgain.Error() != err.Error() {
				t.Fatalf("got %v, then %v", err, errAgain)
			}
			return
		}
		if errAgain != nil || !reflect.DeepEqual(tr, again) {
			t.Fatalf("got %v, then %v and %v", tr, again, errAgain)
		}
		checkDecoded(t, tr)
		text := strings.TrimPrefix(string(data), "\ufeff")
		if !json.Valid([]byte(text)) {
			t.Fatalf("this is not JSON: %q", data)
		}
		var e jsonEnvelope
		if json.Unmarshal([]byte(text), &e) == nil && strings.Count(text, `"samples"`) == 1 &&
			strings.Contains(text, `"trace"`) &&
			e.Trace.Samples != nil && len(e.Trace.Samples) != len(tr.Samples) {
			t.Fatalf("got %d samples, want %d", len(tr.Samples), len(e.Trace.Samples))
		}
	})
}
