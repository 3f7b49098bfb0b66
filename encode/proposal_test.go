package encode

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// proposalDoc returns a document from the parts of its profile.
func proposalDoc(strings, stacks, samples string) string {
	return `{"version":1,"options":{"sampleInterval":5},"profile":{"strings":[` + strings +
		`],"stackFrames":{` + stacks + `},"main-thread":[` + samples + `]}}`
}

const fourStrings = `"main @ app.js:1:2","render @ newsfeed.js:56:78","unknown","(anonymous)"`

// proposalCases are documents with the stacks of their samples.
var proposalCases = []struct {
	name, doc string
	times     []int64
	stacks    []string
}{
	{"one stack", proposalDoc(fourStrings, `"101":{"name":0},"102":{"name":1,"parent":101}`,
		`{"type":"stack","timestamp":12345.678,"stack":102}`),
		[]int64{12345678}, []string{"main app.js:1:2;render newsfeed.js:56:78"}},
	{"callers behind callees", proposalDoc(fourStrings,
		`"9":{"parent":"8","name":3},"8":{"name":1,"parent":7},"7":{"name":0}`,
		`{"stack":9,"timestamp":1,"type":"stack"},{"stack":"8","timestamp":2,"type":"stack"}`),
		[]int64{1000, 2000}, []string{"main app.js:1:2;render newsfeed.js:56:78; :0:0",
			"main app.js:1:2;render newsfeed.js:56:78"}},
	{"unknown runs", proposalDoc(fourStrings,
		`"1":{"name":2},"2":{"name":2,"parent":1},"3":{"name":1,"parent":2},"4":{"name":2,"parent":3}`,
		`{"type":"stack","timestamp":2,"stack":4},{"type":"stack","timestamp":1,"stack":2}`),
		[]int64{1000, 2000}, []string{"(unknown) :0:0", "(unknown) :0:0;render newsfeed.js:56:78;(unknown) :0:0"}},
	{"other entries", proposalDoc(fourStrings, `"a":{"name":0}`,
		`{"type":"gc","timestamp":"x","stack":{"a":[1]}},{"timestamp":1,"stack":"a"},{"type":"stack","timestamp":3},`+
			`{"type":"stack","timestamp":4,"stack":null},{"type":null,"x":1},{"type":"stack","timestamp":5,`+
			`"stack":"a"}`),
		[]int64{3000, 4000, 5000}, []string{"", "", "main app.js:1:2"}},
	{"extension", proposalDoc(`"a @ chrome-extension://x/y.js:1:2","b @ https://u@h:80/z.js?q:3:4"`,
		`"1":{"name":0},"2":{"name":0,"parent":1},"3":{"name":1,"parent":2}`,
		`{"type":"stack","timestamp":0,"stack":3}`),
		[]int64{0}, []string{"(unknown) :0:0;b https://h:80/z.js:3:4"}},
	{"order of keys", `{"x":{"profile":1},"profile":{"y":[],"main-thread":[],"stackFrames":{"1":{"name":0}},` +
		`"strings":["a"]},"options":{"timeInterval":5,"z":{}}}`, nil, nil},
}

func TestProposal(t *testing.T) {
	for _, c := range proposalCases {
		t.Run(c.name, func(t *testing.T) {
			tr, err := DecodeProposal([]byte(c.doc), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			checkDecoded(t, tr)
			if tr.Context.Interval != 5000 {
				t.Errorf("got an interval of %d µs", tr.Context.Interval)
			}
			var times []int64
			var stacks []string
			for _, s := range tr.Samples {
				var frames []string
				for _, f := range fixture.FramesOf(&tr.Trie, s.Node) {
					b, _ := json.Marshal([]uint32{f.Line, f.Column})
					frames = append(frames, f.Name+" "+f.Resource+":"+strings.Trim(strings.ReplaceAll(string(b), ",",
						":"), "[]"))
				}
				times, stacks = append(times, s.Time), append(stacks, strings.Join(frames, ";"))
			}
			if !slices.Equal(times, c.times) || !slices.Equal(stacks, c.stacks) {
				t.Errorf("got %v %q\nwant %v %q", times, stacks, c.times, c.stacks)
			}
			if !IsProposal([]byte("\ufeff\n" + c.doc)) {
				t.Error("not recognised")
			}
		})
	}
}

func TestParseFrame(t *testing.T) {
	for s, want := range map[string]trie.Frame{
		"":                                {},
		"render":                          {Name: "render"},
		"(anonymous)":                     {},
		"unknown":                         {Name: trie.FrameUnknown},
		"unknown @ a.js:1:2":              {Name: "unknown", Resource: "a.js", Line: 1, Column: 2},
		"render @ newsfeed.js:56:78":      {Name: "render", Resource: "newsfeed.js", Line: 56, Column: 78},
		" @ newsfeed.js:56:78":            {Resource: "newsfeed.js", Line: 56, Column: 78},
		"@ newsfeed.js:56:78":             {Resource: "newsfeed.js", Line: 56, Column: 78},
		"(anonymous) @ newsfeed.js:56:78": {Resource: "newsfeed.js", Line: 56, Column: 78},
		"get x @ https://h:8080/a.js:1:2": {Name: "get x", Resource: "https://h:8080/a.js", Line: 1, Column: 2},
		"f @ https://h:8080":              {Name: "f", Resource: "https://h:8080"},
		"a @ b @ c.js:1:2":                {Name: "a @ b", Resource: "c.js", Line: 1, Column: 2},
		"a@b":                             {Name: "a@b"},
		"f @ a.js:1:4294967296":           {Name: "f", Resource: "a.js:1:4294967296"},
		"f @ a.js:-1:2":                   {Name: "f", Resource: "a.js:-1:2"},
		"f @ :1:2":                        {Name: "f", Line: 1, Column: 2},
		"f @ ":                            {Name: "f"},
	} {
		if got := parseFrame(s); got != want {
			t.Errorf("%q: got %+v, want %+v", s, got, want)
		}
	}
}

// badProposals are documents that must be rejected, with the error.
var badProposals = []struct{ doc, want string }{
	{``, `malformed: byte 0: the document ends where an object should be`},
	{`{}`, `malformed: profile: missing`},
	{`{"profile":{"stackFrames":{},"main-thread":[]}}`, `malformed: profile.strings: missing`},
	{`{"profile":{"strings":[],"main-thread":[]}}`, `malformed: profile.stackFrames: missing`},
	{`{"profile":{"stackFrames":{},"strings":[]}}`, `malformed: profile.main-thread: missing`},
	{`{"version":2}`, `invalid: version: not 1`},
	{`{"version":"1"}`, `malformed: byte 11: '"' where a number should be`},
	{`{"options":{"sampleInterval":0}}`, `invalid: options.sampleInterval: not over 0 to 60000 ms`},
	{proposalDoc(`1`, ``, ``), `malformed: byte 66: '1' where a string should be`},
	{proposalDoc(`"a"`, `"1":{}`, ``), `malformed: profile.stackFrames["1"].name: missing`},
	{proposalDoc(`"a"`, `"1":{"name":-1}`, ``), `invalid: profile.stackFrames["1"].name: not the number of a string`},
	{proposalDoc(`"a"`, `"1":{"name":1}`, ``), `invalid: profile.stackFrames["1"].name: 1, but there are 1 strings`},
	{proposalDoc(`"a"`, `"1":{"name":0,"parent":2}`, ``),
		`invalid: profile.stackFrames["1"].parent: there is no stack "2"`},
	{proposalDoc(`"a"`, `"1":{"name":0,"parent":1}`, ``), `invalid: profile.stackFrames["1"].parent: it calls itself`},
	{proposalDoc(`"a"`, `"1":{"name":0,"parent":2},"2":{"name":0,"parent":3},"3":{"name":0,"parent":2}`, ``),
		`invalid: profile.stackFrames["2"].parent: it calls itself`},
	{proposalDoc(`"a"`, `"":{"name":0}`, ``), `invalid: profile.stackFrames: an empty id`},
	{proposalDoc(`"a"`, `"1":{"name":0,"parent":""}`, ``), `malformed: byte 109: an empty id`},
	{proposalDoc(`"a"`, `"1":{"name":0,"parent":[]}`, ``), `malformed: byte 109: '[' where a number should be`},
	{proposalDoc(`"a"`, ``, `{"type":"stack"}`), `malformed: profile.main-thread[0].timestamp: missing`},
	{proposalDoc(`"a"`, ``, `{"type":"stack","timestamp":null}`),
		`malformed: profile.main-thread[0].timestamp: missing`},
	{proposalDoc(`"a"`, ``, `{"type":"stack","timestamp":1e99}`),
		`invalid: profile.main-thread[0].timestamp: out of range`},
	{proposalDoc(`"a"`, ``, `{"type":"gc"},{"type":"stack","timestamp":1,"stack":true}`),
		`malformed: profile.main-thread[1].stack: not an id`},
	{proposalDoc(`"a"`, ``, `{"type":"gc"},{"type":"stack","timestamp":1,"stack":5}`),
		`invalid: profile.main-thread[1].stack: there is no stack "5"`},
}

func TestProposalRefuses(t *testing.T) {
	for _, c := range badProposals {
		tr, err := DecodeProposal([]byte(c.doc), Limits{})
		if err == nil || err.Error() != c.want || tr != nil || KindOf(err) == 0 {
			t.Errorf("%s:\n got %v\nwant %s", c.doc, err, c.want)
		}
	}
}

func TestProposalLimits(t *testing.T) {
	lim := Limits{Samples: 1, Nodes: 1, Frames: 2, StringBytes: 4}
	for doc, want := range map[string]string{
		`{"profile":{"strings":["a","b",?`:    `too large: profile.strings: more than 2`,
		`{"profile":{"strings":["a","abcde"?`: `too large: profile.strings[1]: 5 bytes, the most is 4`,
		`{"profile":{"stackFrames":{"1":{"name":0},"1":{"name":0},` +
			`"2":?`: `too large: profile.stackFrames: more than 1`,
		`{"profile":{"main-thread":[{"type":"stack","timestamp":1},{},` +
			`{"type":"stack","timestamp":1}?`: `too large: profile.main-thread: more than 1`,
	} {
		if _, err := DecodeProposal([]byte(doc), lim); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", doc, err, want)
		}
	}
}

// TestProposalDeep checks that a long chain of callers needs neither a deep Go stack nor quadratic
// time.
func TestProposalDeep(t *testing.T) {
	var b strings.Builder
	const deep = 200_000
	for i := range deep {
		if i > 0 {
			b.WriteByte(',')
		}
		id, _ := json.Marshal(i)
		parent, _ := json.Marshal(i + 1)
		b.WriteString(`"` + string(id) + `":{"name":0`)
		if i < deep-1 {
			b.WriteString(`,"parent":` + string(parent))
		}
		b.WriteString(`}`)
	}
	tr, err := DecodeProposal([]byte(proposalDoc(`"f"`, b.String(), `{"type":"stack","timestamp":1,"stack":0}`)),
		FileLimits())
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.Depths()[tr.Samples[0].Node]; got != deep {
		t.Errorf("got a stack of %d, want %d", got, deep)
	}
}

func TestIsProposal(t *testing.T) {
	for doc, want := range map[string]bool{
		``: false, `{}`: false, `[]`: false, fixture.OneTrace: false, envelope(""): false,
		`{"profile":[]}`: false, `{"profile":{}}`: false, `{"profile":{"x":1,"strings":[]}}`: true,
		`{"profile":{"strings":[],`: true, `{"profile":"x"}`: false, `{"profile":{"samples":[]}}`: false,
	} {
		if got := IsProposal([]byte(doc)); got != want {
			t.Errorf("%s: got %v, want %v", doc, got, want)
		}
	}
}

// FuzzProposal checks that decoded traces are valid, repaired, coalesced and deterministic.
func FuzzProposal(f *testing.F) {
	for _, c := range proposalCases {
		f.Add([]byte(c.doc))
	}
	for _, c := range badProposals {
		f.Add([]byte(c.doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := DecodeProposal(data, Limits{})
		again, errAgain := DecodeProposal(data, Limits{})
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
		if !tr.Coalesce(nil).Equal(tr) {
			t.Fatalf("coalescing again changes %v", tr)
		}
		if !json.Valid([]byte(strings.TrimPrefix(string(data), "\ufeff"))) {
			t.Fatalf("this is not JSON: %q", data)
		}
	})
}
