package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

func TestSplitJSON(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       []string
		err        string // a part of it
	}{
		{name: "nothing", data: ""},
		{name: "white space", data: " \r\n\t"},
		{name: "one object", data: ` {"a":1} `, want: []string{`{"a":1}`}},
		{name: "one object over several lines", data: "{\n\"a\":\n1}\n", want: []string{"{\n\"a\":\n1}"}},
		{name: "lines", data: "{\"a\":1}\n{\"b\":2}\n", want: []string{`{"a":1}`, `{"b":2}`}},
		{name: "lines of Windows", data: "{\"a\":1}\r\n\r\n{\"b\":2}", want: []string{`{"a":1}`, `{"b":2}`}},
		{name: "no separator", data: `{"a":"}{"}{"b":2}`, want: []string{`{"a":"}{"}`, `{"b":2}`}},
		{name: "array", data: ` [ {"a":1} , {"b":[{}]} ] `, want: []string{`{"a":1}`, `{"b":[{}]}`}},
		{name: "array of other things", data: `[null,"x",[]]`, want: []string{`null`, `"x"`, `[]`}},
		{name: "empty array", data: `[]`},
		{name: "byte order mark", data: "\ufeff{}", want: []string{`{}`}},
		{name: "at the limit", data: `{}{}{}`, want: []string{`{}`, `{}`, `{}`}},

		{name: "too many objects", data: `{}{}{}{}`, err: "too many"},
		{name: "too many elements", data: `[{},{},{},{}]`, err: "too many"},
		{name: "truncated", data: `{"a":1}{"b":`, err: "document ends"},
		{name: "truncated array", data: `[{"a":1},`, err: "document ends"},
		{name: "comma after the last", data: `[{},]`, err: `byte 4: ']'`},
		{name: "comma between lines", data: `{},{}`, err: `byte 2: ','`},
		{name: "text", data: `hello`, err: `byte 0: 'h'`},
		{name: "text after an object", data: `{}x`, err: `byte 2: 'x'`},
		{name: "text after an array", data: `[{}]{}`, err: `byte 4: '{'`},
		{name: "numbers", data: `1 2`, err: `byte 0: '1'`},
		{name: "NUL", data: "{}\x00", err: "byte 2"},
		{name: "deep", data: strings.Repeat(`[`, 1_000_000), err: "nested deeper"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := SplitJSON([]byte(c.data), 3)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got %q and %v, want an error with %q", got, err, c.err)
				}
				if got != nil {
					t.Errorf("got %q and the error %v", got, err)
				}
				if !errors.Is(err, ErrTooMany) && KindOf(err) != input.Malformed {
					t.Errorf("%v does not have the kind malformed", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, c.want, func(a []byte, b string) bool { return string(a) == b }) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// splitWithJSON is SplitJSON, implemented with encoding/json.
func splitWithJSON(data []byte) ([]string, error) {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	d := json.NewDecoder(bytes.NewReader(data))
	var out []string
	if bytes.HasPrefix(data, []byte("[")) {
		var all []json.RawMessage
		if err := d.Decode(&all); err != nil {
			return nil, err
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("more after the array: %v", err)
		}
		for _, m := range all {
			out = append(out, string(m))
		}
		return out, nil
	}
	for {
		var m json.RawMessage
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if m[0] != '{' {
			return nil, errors.New("not an object")
		}
		out = append(out, string(m))
	}
}

func FuzzSplitJSON(f *testing.F) {
	for _, s := range fixture.JsonCases {
		if len(s) < 1000 {
			f.Add([]byte(s))
			f.Add([]byte(s + "\n" + s))
			f.Add([]byte("[" + s + "," + s + "]"))
			f.Add([]byte(`{"a":` + s + `}{"b":` + s + `}`))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 20
		got, err := SplitJSON(data, most)
		want, wantErr := splitWithJSON(data)
		if errors.Is(err, ErrTooMany) {
			// Data after the maximum number of documents is not parsed.
			if wantErr == nil && len(want) <= most {
				t.Fatalf("%q: got too many, want %q", data, want)
			}
			return
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: got %v, encoding/json: %v", data, err, wantErr)
		}
		if err == nil && !slices.EqualFunc(got, want, func(a []byte, b string) bool { return string(a) == b }) {
			t.Fatalf("%q: got %q, want %q", data, got, want)
		}
	})
}

func TestDecodeTraceJSON(t *testing.T) {
	const trace = `"resources":["https://x.example/app.js"],"frames":[{"name":"main","resourceId":0,"line":1,` +
		`"column":2}],` +
		`"stacks":[{"frameId":0}],"samples":[{"timestamp":1,"stackId":0},{"timestamp":11,"stackId":0}]`
	const proposal = `"version":1,"options":{"sampleInterval":10},"profile":{"strings":["main @ ` +
		`https://x.example/app.js:1:2"],` +
		`"stackFrames":{"7":{"name":0}},"main-thread":[{"type":"stack","timestamp":1,"stack":7},{"type":"stack",` +
		`"timestamp":11,"stack":7}]}`
	want := &trie.Trace{Trie: *trie.New(), Context: trie.Context{Interval: 10_000}}
	leaf := want.Insert(trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 1, Column: 2})
	want.Samples = []trie.Sample{{Time: 1000, Node: leaf}, {Time: 11_000, Node: leaf}}
	for _, c := range []struct{ name, data string }{
		{"bare", `{` + trace + `}`},
		{"envelope", `{"interval":10,"trace":{` + trace + `}}`},
		{"envelope, other keys first", `{"x":{"profile":{}},"interval":10,"trace":{"y":[],` + trace + `}}`},
		{"proposal", `{` + proposal + `}`},
		{"proposal, other keys first", `{"x":{"frames":[1]},` + proposal + `}`},
	} {
		got, err := DecodeTraceJSON([]byte(c.data), Limits{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !got.Equal(want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
	for _, c := range []struct {
		name, data string
		kind       input.Kind
		err        string
	}{
		{"nothing", ``, input.Malformed, "byte 0: the document ends where an object should be"},
		{"other JSON", `{"hello":"world"}`, input.Malformed, "resources: missing"},
		{"two objects", `{` + trace + `}{}`, input.Malformed, "the end of the document"},
		{"trace", `{"trace":{` + strings.Replace(trace, `"stackId":0`, `"stackId":9`, 1) + `}}`, input.Invalid,
			"trace.samples[0].stackId"},
		{"proposal", `{` + strings.Replace(proposal, `"stack":7`, `"stack":9`, 1) + `}`, input.Invalid,
			"profile.main-thread[0].stack"},
		{"over a limit", `{` + trace + `}`, input.TooLarge, "samples: more than 1"},
	} {
		_, err := DecodeTraceJSON([]byte(c.data), Limits{Samples: map[bool]int{true: 1}[c.kind == input.TooLarge]})
		if KindOf(err) != c.kind || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, want kind %d with %q", c.name, err, c.kind, c.err)
		}
	}
}

// TestRealTracesSplit splits a batch of all real traces.
func TestRealTracesSplit(t *testing.T) {
	var all [][]byte
	for _, data := range fixture.RealTraces(t) {
		all = append(all, bytes.TrimSpace(data))
	}
	for name, data := range map[string][]byte{
		"lines":        bytes.Join(all, []byte("\n")),
		"no separator": bytes.Join(all, nil),
		"array":        slices.Concat([]byte("["), bytes.Join(all, []byte(",")), []byte("]")),
	} {
		got, err := SplitJSON(data, len(all))
		if err != nil || !slices.EqualFunc(got, all, bytes.Equal) {
			t.Errorf("%s: got %d traces and %v, want %d", name, len(got), err, len(all))
		}
	}
}
