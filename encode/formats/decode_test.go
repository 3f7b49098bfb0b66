package formats

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"

	v8 "github.com/fieldtrie/fieldtrie/encode/v8"
)

// described returns the contents of a recording as text: for each thread its streams with stacks
// and times, and its events, followed by the warnings.
func described(r *trie.Recording) string {
	var b strings.Builder
	for _, t := range r.Threads {
		fmt.Fprintf(&b, "%d/%d %s\n", t.Process, t.ID, t.Name)
		for _, s := range t.Streams {
			fmt.Fprintf(&b, " profile %s %s\n", s.Source, s.ID)
			for i, x := range s.Trace.Samples {
				end := s.Trace.End
				if i+1 < len(s.Trace.Samples) {
					end = s.Trace.Samples[i+1].Time
				}
				var names []string
				for n := range s.Trace.Stack(x.Node) {
					names = append(names, output.Location(s.Trace.Frame(n)))
				}
				slices.Reverse(names)
				if x.Marker != trie.MarkerNone {
					names = append(names, "["+x.Marker.String()+"]")
				}
				fmt.Fprintf(&b, "  %d+%d %s\n", x.Time, end-x.Time, strings.Join(names, ";"))
			}
		}
		for _, e := range t.Events {
			fmt.Fprintf(&b, " event %d-%d %s\n", e.Start, e.End, output.Location(e.Frame))
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

// importCase is a document and its decoded content, or the error.
type importCase struct {
	name, in, want string
}

func checkImports(t *testing.T, cases []importCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Decode(strings.NewReader(c.in), encode.FileLimits())
			got := ""
			switch {
			case err != nil:
				got = "error: " + err.Error() + "\n"
			case doc.Recording != nil:
				got = described(doc.Recording)
				for _, thread := range doc.Recording.Threads {
					for _, s := range thread.Streams {
						if err := s.Trace.Validate(); err != nil {
							t.Error(err)
						}
					}
				}
			default:
				got = fmt.Sprintf("%+v", doc)
			}
			want := strings.TrimPrefix(c.want, "\n")
			if got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// A line break before a long file must not be taken for a field of a pprof.
func TestDetectLeadingSpace(t *testing.T) {
	long := `[{"ph":"X","name":"a","ts":0,"dur":5,"args":{"x":"` + strings.Repeat("y", 100<<10) + `"}}]`
	for _, space := range []string{"\n", "\n\n", " ", "\r\n", "\t"} {
		doc, err := Decode(strings.NewReader(space+long), encode.FileLimits())
		if err != nil || doc.Recording == nil {
			t.Errorf("%q: %v", space, err)
		}
	}
}

// A file may be gzipped once or twice, begin with a byte order mark, or be UTF-16. A gzipped trace
// may be truncated.
func TestContainers(t *testing.T) {
	text := `[{"ph":"X","name":"é","ts":0,"dur":5}]`
	want := "0/0 \n event 0-5 é\n"
	zip := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(s))
		_ = z.Close()
		return b.String()
	}
	wide := func(s string, big bool) string {
		var b []byte
		for _, c := range utf16.Encode([]rune("\ufeff" + s)) {
			if big {
				b = append(b, byte(c>>8), byte(c))
			} else {
				b = append(b, byte(c), byte(c>>8))
			}
		}
		return string(b)
	}
	checkImports(t, []importCase{
		{"gzip", zip(text), want},
		{"gzip twice", zip(zip(text)), want},
		{"byte order mark", "\ufeff" + text, want},
		{"gzip with byte order mark", zip("\ufeff" + text), want},
		{"UTF-16", wide(text, false), want},
		{"UTF-16, big end first", wide(text, true), want},
	})
	var events []string
	for i := range 20_000 {
		events = append(events, fmt.Sprintf(`{"ph":"X","name":"event %d","ts":%d,"dur":5}`, i*7919%10007, i*10))
	}
	long := zip("[" + strings.Join(events, ",") + "]")
	doc, err := Decode(strings.NewReader(long[:len(long)*3/4]), encode.FileLimits())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(doc.Recording.Threads[0].Events); n < 10_000 || n >= 20_000 || len(doc.Recording.Warnings) != 1 {
		t.Errorf("%d events, %q", n, doc.Recording.Warnings)
	}
}

// A file decodes to the same result however it is split into pieces.
func TestStreamedInPieces(t *testing.T) {
	inputs := []string{
		flatProfile("[2,3,2]", "[100,-40,90]", flatNode(1, "(root)", `,"children":[2]`),
			flatNode(2, "a", `,"children":[3]`), flatNode(3, "b", "")),
		`{"head":{"functionName":"(root)","id":1,"children":[{"functionName":"a","url":"x.js","lineNumber":4,"id":2,` +
			`"children":[]}]},"startTime":1,"endTime":2,"samples":[1,2]}`,
		`{"metadata":{"a":[1,"]"]},"traceEvents":[{"name":"Profile","ph":"P","pid":1,"tid":2,"id":"0x1","ts":5,` +
			`"args":{"data":{"startTime":1,"source":"Internal"}}},
{"name":"ProfileChunk","ph":"P","pid":1,"id":"0x1","ts":9,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,` +
			`"callFrame":{"functionName":"a\u00e9","url":"y.js"}}],"samples":[1,1],"trace_ids":{"7":1}},` +
			`"timeDeltas":[1,2.5]}}},
{"ph":"X","name":"Layout","pid":1,"tid":2,"ts":6,"dur":1,"args":{"beginData":{"sampleTraceId":7}}},{"ph":"M",` +
			`"name":"thread_name","pid":1,"tid":2,"args":{"name":"Main"}}]}`,
		`{"traceEvents":[],"samples":[{"ts":"100","pid":3,"tid":"4","sf":2}],"stackFrames":{"1":{"name":"[root]"},` +
			`"2":{"line":"9","name":"f(http://l/i.js:9:2)","parent":1}}}`,
	}
	for _, in := range inputs {
		doc, err := Decode(strings.NewReader(in), encode.FileLimits())
		if err != nil {
			t.Fatal(err)
		}
		want := described(doc.Recording)
		decode := v8.DecodeCPUProfile
		if v8.IsChromeTrace([]byte(in)) {
			decode = v8.DecodeChromeTrace
		}
		for k := range in {
			r, err := decode(io.MultiReader(strings.NewReader(in[:k]), strings.NewReader(in[k:])), encode.FileLimits())
			if err != nil {
				t.Fatalf("cut at %d (%q): %v", k, in[max(k-10, 0):k], err)
			}
			if got := described(r); got != want {
				t.Fatalf("cut at %d (%q): got\n%swant\n%s", k, in[max(k-10, 0):k], got, want)
			}
		}
	}
}

func TestNeighbours(t *testing.T) {
	for in, want := range map[string]string{
		`{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0,"children":[]},` +
			`"samples":[{"size":5,"nodeId":1}]}`: "a heap profile",
		`{"snapshot":{"meta":{}},"nodes":[1,2]}`:            "a heap snapshot",
		`{"samples":[{"size":24,"nodeId":1,"ordinal":2}]}`:  "an allocation profile",
		`{"code":[],"functions":[],"ticks":[{"tm":1}]}`:     "the processed log of node --prof",
		"v8-version,11,3,244,8,-node.26,0\nshared-library,": "the log of node --prof",
		"PK\x03\x04whatever":                                "a zip archive",
		`{"log":{"version":"1.2","entries":[]}}`:            "an HTTP archive",
		`{"nodes":[1,2,3],"edges":[]}`:                      "not in a known format",
		`[1,2,3]`:                                           "not in a known format",
	} {
		_, err := Decode(strings.NewReader(in), encode.FileLimits())
		if encode.KindOf(err) == 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %s", in, err, want)
		}
	}
}

// checkRecording checks that r is valid, and its calls conserve time.
func checkRecording(t *testing.T, r *trie.Recording, err error) {
	if err != nil {
		if encode.KindOf(err) == 0 {
			t.Fatalf("an error without a kind: %v", err)
		}
		return
	}
	for i := range r.Threads {
		thread := &r.Threads[i]
		checkConserved(t, "events", nil, thread.Events)
		for k := range thread.Streams {
			if err := thread.Streams[k].Trace.Validate(); err != nil {
				t.Fatal(err)
			}
			checkConserved(t, "merged", &thread.Streams[k], thread.Events)
		}
	}
}

// Input that is gzipped too many times, or that expands enormously, is rejected before it is in
// memory. A file that is merely well compressed is decoded.
func TestDecodeCompressed(t *testing.T) {
	zip := func(content []byte, times int) []byte {
		for range times {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write(content); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			content = b.Bytes()
		}
		return content
	}
	few := `{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1,1],"timeDeltas":[1,1]}`
	profile := func(bytes int) []byte { return []byte(few[:len(few)-1] + strings.Repeat(" ", bytes) + "}") }
	for name, c := range map[string]struct {
		data []byte
		err  string
	}{
		"three times":    {zip([]byte(few), 3), ""},
		"four times":     {zip([]byte(few), 4), "gzipped more than 3 times"},
		"small":          {zip(profile(32<<20), 1), ""},
		"bomb":           {zip(profile(200<<20), 1), "unpack it first"},
		"bomb in a bomb": {zip(profile(200<<20), 2), "unpack it first"},
		"bomb for a pprof": {zip(append([]byte("\x0a\x04\x08\x01\x10\x02"), bytes.Repeat([]byte("\x32\x00"),
			50<<20)...), 1), "unpack it first"},
	} {
		_, err := Decode(bytes.NewReader(c.data), encode.FileLimits())
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) ||
			encode.KindOf(err) != encode.TooLarge) {
			t.Errorf("%s (%d bytes): got %v, want %q", name, len(c.data), err, c.err)
		}
	}
}
