package firefox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// firefoxFiles are the files in testdata/imports with their contents.
var firefoxFiles = []struct {
	name            string
	lines, warnings []string
}{
	// All tables are part of the thread. The last two samples are out of order, and the profiler
	// was paused before them.
	{"firefox-processed-17.json", []string{
		"GeckoMain 41/42 until 7000",
		"0;0x100000f84;frobnicate (chrome://blargh:34:35)",
		"1000;0x100000f84;frobnicate (chrome://blargh:34:35)",
		"2000;0x100000f84;(anonymous) (https://x.example/a.js:1)",
		"3000", "4000", "4500", "5000", "6000 [idle]",
	}, []string{`thread 42 of process 41 ("GeckoMain"): 1 samples have stacks that are not there, taken as without a ` +
		`stack`}},
	// Texts and sources are shared, and samples weigh milliseconds: there is time between the first
	// two samples and the third, and time 0 is the start of the recording.
	{"firefox-processed-58.json", []string{
		"main 7/8 until 10500",
		"0;main (https://x.example/app.js);render (https://x.example/app.js:20:5)",
		"2000;main (https://x.example/app.js)",
		"4000",
		"7000;main (https://x.example/app.js);render (https://x.example/app.js:20:5)",
	}, []string{`thread 9 of process 7 ("heap"): weighs skipped an allocation profile in bytes`}},
	// All tables are shared; flags mark the cells with values.
	{"firefox-processed-80.json", []string{
		"A 1/1 until 3000",
		"1000;main (https://x.example/app.js:10:3)",
		"1500;main (https://x.example/app.js:10:3);libc_read",
		"2000 [idle]", "2500",
		"B 1/2 until 2750",
		"2250;main (https://x.example/app.js:10:3);libc_read",
	}, []string{`thread 2 of process 1 ("B"): 1 samples stand for another number of samples than 1; the time to the ` +
		`next is what counts`}},
	// The second process began half a second after the first.
	{"firefox-gecko.json", []string{
		"GeckoMain 100/101 until 18000",
		"10000;(anonymous) (https://x.example/app.js:1:1);render (https://x.example/app.js:20:5);js::RunScript",
		"12500;(anonymous) (https://x.example/app.js:1:1)",
		"14000", "16000 [idle]",
		"GeckoMain 200/201 until 503000",
		"501000;load (https://x.example/lib.js:7)",
		"502000;load (https://x.example/lib.js:7)",
	}, nil},
}

func TestDecodeFirefox(t *testing.T) {
	for _, c := range firefoxFiles {
		t.Run(c.name, func(t *testing.T) {
			r, err := Decode(fixture.ImportFile(t, c.name), input.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			fixture.CheckLines(t, r, c.lines, c.warnings)
		})
	}
}

func TestParseGeckoLocation(t *testing.T) {
	for s, want := range map[string]trie.Frame{
		"":                                 {},
		"(root)":                           {Name: "(root)"},
		"0x7fff":                           {Name: "0x7fff"},
		"js::RunScript":                    {Name: "js::RunScript"},
		"nsTimer:12":                       {Name: "nsTimer:12"},
		"f (in libxul.dylib) (+ 12)":       {Name: "f (in libxul.dylib) (+ 12)"},
		"f (https://x/a.js:3:4)":           {Name: "f", Resource: "https://x/a.js", Line: 3, Column: 4},
		"f/< (https://x:80/a b (c).js:3)":  {Name: "f/<", Resource: "https://x:80/a b (c).js", Line: 3},
		"f (a.js:3:4)[12]":                 {Name: "f", Resource: "a.js", Line: 3, Column: 4},
		"f[12]":                            {Name: "f[12]"},
		"https://x/a.js:3":                 {Resource: "https://x/a.js", Line: 3},
		" (self-hosted:3:4)":               {Resource: "self-hosted", Line: 3, Column: 4},
		"f (a.js -> resource://b.js:3:4)":  {Name: "f", Resource: "resource://b.js", Line: 3, Column: 4},
		"wasm-function[12] (x.wasm:1:200)": {Name: "wasm-function[12]", Resource: "x.wasm", Line: 1, Column: 200},
	} {
		if got := parseGeckoLocation(s); got != want {
			t.Errorf("%q: got %+v, want %+v", s, got, want)
		}
	}
}

// firefoxDoc returns a document with one thread made of the given parts.
func firefoxDoc(parts string) string {
	return `{"meta":{"preprocessedProfileVersion":50},"threads":[{"name":"t","stringArray":["a"],
"funcTable":{"name":[0]},"frameTable":{"func":[0]},"stackTable":{"frame":[0,0],"prefix":[null,0]},
"samples":{"stack":[1],"time":[1]},` + parts + `}]}`
}

func TestDecodeFirefoxRefuses(t *testing.T) {
	if r, err := Decode([]byte(firefoxDoc(`"x":0`)), input.Limits{}); err != nil || len(r.Threads) != 1 {
		t.Fatal(r, err) // the base of the others
	}
	for _, c := range []struct{ in, err string }{
		{``, "malformed"},
		{`{}`, "no meta or no threads"},
		{`{"meta":{"sampleUnits":{"time":"bytes"}},"threads":[]}`, "a profile of sizes"},
		{"\xdc\xdfJSLB\x01\x00", "save it as JSON"},
		{`{"meta":{},"threads":[{"samples":{"stack":[0],"time":[0],"weight":[1],"weightType":"bytes"}}]}`,
			"only of bytes"},
		{`{"meta":{},"threads":[],"processes":[{"meta":{},"threads":[],"processes":[{"meta":{},"threads":[],` +
			`"processes":[{"meta":{},"threads":[],"processes":[{}]}]}]}]}`, "too large: processes: nested deeper"},
		{firefoxDoc(`"samples":{"stack":[0],"time":[0],"weight":[-1]}`), "samples.weight[0]: below zero"},
		{firefoxDoc(`"samples":{"stack":[0],"time":[]}`), "1 stacks, 0 times"},
		{firefoxDoc(`"samples":{"stack":[0],"time":[1e300]}`), "out of range"},
		{firefoxDoc(`"samples":{"stack":[0],"time":[1e300],"weight":[1e300],"weightType":"tracing-ms"}`),
			"out of range"},
		{firefoxDoc(`"stackTable":{"frame":[0,0],"prefix":[null,1]}`),
			"stackTable.prefix[1]: 1 does not come before it"},
		{firefoxDoc(`"stackTable":{"frame":[0,0],"prefix":[1,null]}`),
			"stackTable.prefix[0]: 1 does not come before it"},
		{firefoxDoc(`"stackTable":{"frame":[0,0],"prefixOffset":[0,2]}`), "stackTable.prefixOffset[1]"},
		{firefoxDoc(`"stackTable":{"frame":[0,1],"prefix":[null,0]}`), "stackTable.frame[1]: not one of 1 frames"},
		{firefoxDoc(`"frameTable":{"func":[7]}`), "frameTable.func[0]: not one of 1"},
		{firefoxDoc(`"frameTable":{"func":[0.5]}`), "frameTable.func[0]"},
		{firefoxDoc(`"frameTable":{"schema":{"location":0},"data":[[1]]}`), "frameTable.location[0]: not one of 1"},
		{firefoxDoc(`"funcTable":{"name":[1]}`), "funcTable.name[0]: not one of 1 texts"},
		{firefoxDoc(`"funcTable":{"name":[0],"source":[3]}`), "funcTable.source[0]: there is no source 3"},
		{firefoxDoc(`"stackTable":{"frame":[0,0,0,0,0],"prefix":[null,0,1,2,3]}`), "too large: stackTable.frame"},
		{firefoxDoc(`"samples":{"schema":{"stack":0,"time":1},"data":[[0,1],[0,1],[0,1],[0,1],[0,1]]}`),
			"too large: samples"},
		{firefoxDoc(`"stringArray":["` + strings.Repeat("x", 101) + `"]`), "too large: funcTable.name[0]"},
	} {
		_, err := Decode([]byte(c.in), input.Limits{Samples: 4, Nodes: 4, Frames: 4, StringBytes: 100})
		if err == nil || !strings.Contains(err.Error(), c.err) || input.KindOf(err) == 0 {
			t.Errorf("%.300s: got %v, want %s", c.in, err, c.err)
		}
	}
}

// TestDecodeFirefoxTime has many threads that share a large table of stacks, of which each thread
// uses one: no thread may cost a scan of the whole table.
func TestDecodeFirefoxTime(t *testing.T) {
	const stacks, threads = 300_000, 1_500
	doc := `{"meta":{},"shared":{"stringArray":["a"],"funcTable":{"name":[0]},"frameTable":{"func":[0]},` +
		`"stackTable":{"frame":[` +
		strings.TrimSuffix(strings.Repeat("0,", stacks), ",") + `],"prefixOffset":[` +
		strings.TrimSuffix(strings.Repeat("0,", stacks), ",") + `]}},"threads":[` +
		strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"samples":{"stack":[%d],"time":[1]}},`, stacks-1), threads),
			",") + `]}`
	r, err := Decode([]byte(doc), input.FileLimits())
	if err != nil || len(r.Threads) != threads {
		t.Fatal(err)
	}
}

func TestIsFirefox(t *testing.T) {
	for _, c := range firefoxFiles {
		data := fixture.ImportFile(t, c.name)
		for _, n := range []int{len(data), 250, 600} {
			if !Detect(data[:n]) {
				t.Errorf("%s: %d bytes are not recognised", c.name, n)
			}
		}
	}
	for in, want := range map[string]bool{
		`{"meta":{"version":3,"source":"other"},"threads":[]}`:  false,
		`{"meta":{"interval":1,"preprocessedProfileVersion":60`: true,
		`{"libs":[{"start":1,"breakpadId":"`:                    true,
		`{"libs":[],"shared":{"stringArray":["`:                 true,
		`{"shared":{"frames":[]},"profiles":[]}`:                false,
		`{"nodes":[],"samples":[],"timeDeltas":[]}`:             false,
		`{"metadata":{"source":"DevTools"},"traceEvents":[]}`:   false,
		`{"meta":3,"libs":{},"threads":[3]}`:                    false,
		"\xdc\xdfJSLB\x01\x00":                                  true, "": false, "a;b 1": false, "[]": false,
	} {
		if Detect([]byte(in)) != want {
			t.Errorf("%s: want %v", in, want)
		}
	}
}

func FuzzDecodeFirefox(f *testing.F) {
	for _, c := range firefoxFiles {
		f.Add(fixture.ImportFile(f, c.name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Detect(data)
		fixture.FuzzRecording(t, data, Decode, input.KindOf)
	})
}
