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

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	v8 "github.com/fieldtrie/fieldtrie/encode/v8"
	"github.com/fieldtrie/fieldtrie/trie"
)

// described returns what a recording holds as text: for each thread its streams, with
// their stacks and times, and its events; then the warnings.
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

// importCase is a document and what is made of it, or the error.
type importCase struct {
	name, in, want string
}

func checkImports(t *testing.T, cases []importCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Decode(strings.NewReader(c.in), input.FileLimits())
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

// flatNode returns a node of a .cpuprofile.
func flatNode(id int, name, more string) string {
	url := "a.js"
	if strings.HasPrefix(name, "(") {
		url = ""
	}
	return fmt.Sprintf(`{"id":%d,"callFrame":{"functionName":%q,"scriptId":"7","url":%q,"lineNumber":%d,"columnNumber":4}%s}`, id, name, url, id, more)
}

// flatProfile returns a .cpuprofile.
func flatProfile(samples, deltas string, nodes ...string) string {
	return `{"nodes":[` + strings.Join(nodes, ",") + `],"startTime":1000,"endTime":2000,"samples":` + samples + `,"timeDeltas":` + deltas + `}`
}

func TestDecodeCPUProfile(t *testing.T) {
	tree := []string{
		flatNode(1, "(root)", `,"children":[2,4,5,6]`), flatNode(2, "a", `,"children":[3]`), flatNode(3, "b", ""),
		flatNode(4, "(idle)", ""), flatNode(5, "(program)", ""), flatNode(6, "(garbage collector)", ""),
	}
	checkImports(t, []importCase{
		{"the rule", flatProfile("[2,3,6,4,6,5,1,3]", "[100,10,10,10,10,10,10,10]", tree...), `
0/0 
 profile  
  100+10 a (a.js:3:5)
  110+10 a (a.js:3:5);b (a.js:4:5)
  120+10 a (a.js:3:5);b (a.js:4:5);[gc]
  130+10 [idle]
  140+10 [gc]
  150+10 (program)
  160+10 
  170+10 a (a.js:3:5);b (a.js:4:5)
`},
		{"negative deltas are summed and then sorted", flatProfile("[2,3,2]", "[100,-40,90]", tree...), `
0/0 
 profile  
  60+40 a (a.js:3:5);b (a.js:4:5)
  100+50 a (a.js:3:5)
  150+45 a (a.js:3:5)
`},
		{"deltas that are no whole numbers", flatProfile("[2,2,2]", "[0.4,0.4,0.4]", tree...), `
0/0 
 profile  
  0+1 a (a.js:3:5)
  1+0 a (a.js:3:5)
  1+1 a (a.js:3:5)
`},
		{"one sample", flatProfile("[2]", "[5]", tree...), `
0/0 
 profile  
  5+0 a (a.js:3:5)
`},
		{"no sample", flatProfile("[]", "[]", tree...), "0/0 \n profile  \n"},
		{"parents instead of children", flatProfile("[3]", "[5]", flatNode(1, "(root)", ""), flatNode(3, "b", `,"parent":2`), flatNode(2, "a", `,"parent":1`)), `
0/0 
 profile  
  5+0 a (a.js:3:5);b (a.js:4:5)
`},
		{"root last, id 0, other functions at the root", flatProfile("[0,8]", "[5,5]", flatNode(0, "a", ""), flatNode(8, "b", ""), flatNode(9, "(root)", `,"children":[0]`)), `
0/0 
 profile  
  5+5 a (a.js:1:5)
  10+5 b (a.js:9:5)
`},
		{"a circle", flatProfile("[2,3]", "[5,5]", flatNode(1, "(root)", `,"children":[2]`), flatNode(2, "a", `,"children":[3]`), flatNode(3, "b", `,"children":[2]`)), `
0/0 
 profile  
  5+5 b (a.js:4:5);a (a.js:3:5)
  10+5 b (a.js:4:5)
warning: 1 nodes are their own ancestors; their stacks were cut there
`},
		{"its own child", flatProfile("[2,2]", "[5,5]", flatNode(1, "(root)", `,"children":[2]`), flatNode(2, "a", `,"children":[2]`)), `
0/0 
 profile  
  5+5 a (a.js:3:5)
  10+5 a (a.js:3:5)
warning: 1 nodes are their own ancestors; their stacks were cut there
`},
		{"what does not exist", flatProfile("[2,77,3]", "[5,5,5]", flatNode(1, "(root)", `,"children":[2,99]`), flatNode(2, "a", ""), flatNode(3, "b", `,"parent":44`)), `
0/0 
 profile  
  5+5 a (a.js:3:5)
  10+5 
  15+5 b (a.js:4:5)
warning: 1 children do not exist
warning: 1 nodes name a parent that does not exist; they were put at the root
warning: 1 samples are of nodes that do not exist; they count as time without a stack
`},
		{"one id twice", flatProfile("[2,2]", "[5,5]", flatNode(1, "(root)", `,"children":[2]`), flatNode(2, "a", ""), flatNode(2, "b", "")), `
0/0 
 profile  
  5+5 a (a.js:3:5)
  10+5 a (a.js:3:5)
warning: 1 nodes have the id of another node; samples with it are taken for those of the first
`},
		{"huge and negative ids", flatProfile("[-5,9007199254740991]", "[5,5]", flatNode(-5, "a", ""), strings.Replace(flatNode(3, "b", ""), `"id":3`, `"id":9007199254740991`, 1)), `
0/0 
 profile  
  5+5 a (a.js)
  10+5 b (a.js:4:5)
`},
		{"fewer times than samples", flatProfile("[2,2,2]", "[5,5]", tree...), `
0/0 
 profile  
  5+5 a (a.js:3:5)
  10+5 a (a.js:3:5)
warning: 1 samples have no time and were dropped
`},
		{"no times", flatProfile("[2,3]", "[]", tree...), `
0/0 
 profile  
  0+500 a (a.js:3:5)
  500+500 a (a.js:3:5);b (a.js:4:5)
warning: 2 samples have no times; they were spread evenly over the profile
`},
		{"no times at all", `{"nodes":[` + flatNode(1, "a", "") + `],"samples":[1]}`, "error: read as cpuprofile: invalid: timeDeltas: missing, and so are startTime and endTime: nobody can say how long anything took\n"},
		{"the older tree", `{"typeId":"CPU","head":{"functionName":"(root)","url":"","lineNumber":0,"id":1,"hitCount":0,"children":[
			{"functionName":"","url":"a.js","lineNumber":3,"callUID":1,"id":2,"children":[{"id":3,"functionName":"b","url":"a.js","lineNumber":9,"children":[]}]}]},
			"startTime":12,"endTime":13,"samples":[2,3],"timestamps":[12500000,12500100]}`, `
0/0 
 profile  
  0+100 (anonymous) (a.js:3)
  100+100 (anonymous) (a.js:3);b (a.js:9)
`},
		{"the older tree without times", `{"head":{"functionName":"(root)","id":1,"children":[{"functionName":"a","url":"a.js","lineNumber":0,"id":2,"children":[]}]},
			"startTime":"12","endTime":12.5,"samples":[2,2]}`, `
0/0 
 profile  
  0+250000 a (a.js)
  250000+250000 a (a.js)
warning: 2 samples have no times; they were spread evenly over the profile
`},
		{"as the protocol returns it", `{"id":3,"result":{"profile":` + flatProfile("[2]", "[5]", tree...) + `}}`, `
0/0 
 profile  
  5+0 a (a.js:3:5)
`},
		{"members in another order", `{"timeDeltas":[5,5],"samples":[2,2],"endTime":9,"startTime":1,"nodes":[` + strings.Join(tree, ",") + `]}`, `
0/0 
 profile  
  5+5 a (a.js:3:5)
  10+5 a (a.js:3:5)
`},
		{"scripts without a URL", flatProfile("[1,2,3]", "[1,1,1]",
			`{"id":1,"callFrame":{"functionName":"f","scriptId":"12","url":"","lineNumber":0,"columnNumber":0}}`,
			`{"id":2,"callFrame":{"functionName":"f","scriptId":13,"lineNumber":0,"columnNumber":0}}`,
			`{"id":3,"callFrame":{"functionName":"log","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}`), `
0/0 
 profile  
  1+1 f (VM12:1:1)
  2+1 f (VM13:1:1)
  3+1 log
`},
		{"cut off", flatProfile("[2]", "[5]", tree...)[:300], "error: read as cpuprofile: malformed: byte 300: the document ends where the end of a string should be\n"},
		{"a text for a time", flatProfile("[2]", `["x"]`, tree...), "error: read as cpuprofile: invalid: timeDeltas[0]: not a number\n"},
		{"a time out of range", flatProfile("[2]", `[1e300]`, tree...), "error: read as cpuprofile: invalid: samples[0]: its time 1e+300 µs is out of range\n"},
		{"a fraction for an id", flatProfile("[2.5]", `[1]`, tree...), "error: read as cpuprofile: malformed: byte 722: 2.5 is not a whole number within ±2^53\n"},
	})
}

// A stack of 20,000 calls, and one that is nested as deep, are read without trouble.
func TestDecodeCPUProfileDeep(t *testing.T) {
	const depth = 20_000
	var nodes []string
	for i := 1; i <= depth; i++ {
		nodes = append(nodes, flatNode(i, "f", fmt.Sprintf(`,"children":[%d]`, i+1)))
	}
	nodes = append(nodes, flatNode(depth+1, "leaf", ""))
	nested := strings.Repeat(`{"functionName":"f","url":"a.js","id":1,"children":[`, depth) + strings.Repeat("]}", depth)
	for _, in := range []string{
		flatProfile(fmt.Sprintf("[%d,%d]", depth+1, depth+1), "[1,1]", nodes...),
		`{"samples":[1,1],"timestamps":[1,2],"head":` + nested + `}`,
	} {
		doc, err := Decode(strings.NewReader(in), input.FileLimits())
		if err != nil {
			t.Fatal(err)
		}
		trace := doc.Recording.Threads[0].Streams[0].Trace
		if n := slices.Max(trace.Depths()); n < depth {
			t.Errorf("depth %d", n)
		}
		p := trace.Profile()
		for _, f := range All() {
			if f.Encode != nil {
				if err := f.Encode(io.Discard, p, output.Options{}); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
			if f.EncodeTimed != nil {
				lines := []*trie.Timeline{trie.Calls(&doc.Recording.Threads[0].Streams[0], nil)}
				if err := f.EncodeTimed(io.Discard, lines, output.Options{}); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
		}
	}
	_, err := Decode(strings.NewReader(`{"head":`+strings.Repeat(`{"functionName":"f","children":[`, 100_002)), input.FileLimits())
	if input.KindOf(err) != input.TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestDecodeChromeTrace(t *testing.T) {
	head := func(pid, tid int, id string, ts int, more string) string {
		return fmt.Sprintf(`{"name":"Profile","ph":"P","cat":"disabled-by-default-v8.cpu_profiler","pid":%d,"tid":%d,"id":"%s","ts":%d,"args":{"data":{"startTime":%d%s}}}`, pid, tid, id, ts, ts+3, more)
	}
	chunk := func(pid int, id string, ts int, data string) string {
		return fmt.Sprintf(`{"args":{"data":%s},"name":"ProfileChunk","ph":"P","pid":%d,"tid":99,"id":"%s","ts":%d}`, data, pid, id, ts)
	}
	nodes := `"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},{"id":2,"parent":1,"callFrame":{"functionName":"a","url":"a.js","scriptId":7,"lineNumber":2}}]`
	one := `{"cpuProfile":{` + nodes + `,"samples":[2,2]},"timeDeltas":[10,20],"lines":[3,4]}`
	checkImports(t, []importCase{
		{"a profile in chunks", "[" + head(1, 5, "0x1", 1000, `,"source":"Internal"`) + "," + chunk(1, "0x1", 1100, one) + "," +
			chunk(1, "0x1", 1200, `{"cpuProfile":{"nodes":[{"id":3,"parent":2,"callFrame":{"functionName":"b","url":"a.js","lineNumber":5,"columnNumber":1}}],"samples":[3]},"timeDeltas":[5]}`) +
			"," + chunk(1, "0x1", 1300, `{"endTime":1300}`) + "]", `
1/5 
 profile Internal 0x1
  0+20 a (a.js:3)
  20+5 a (a.js:3)
  25+13 a (a.js:3);b (a.js:6:2)
`},
		{"chunks out of order, and before the head", "[" + chunk(1, "0x1", 1200, `{"cpuProfile":{"samples":[2]},"timeDeltas":[5]}`) + "," +
			chunk(1, "0x1", 1100, one) + "," + head(1, 5, "0x1", 1000, "") + "]", `
1/5 
 profile  0x1
  0+20 a (a.js:3)
  20+5 a (a.js:3)
  25+13 a (a.js:3)
`},
		{"the same id in two processes", "[" + head(1, 5, "0x1", 1000, "") + "," + head(2, 5, "0x1", 1010, "") + "," + chunk(1, "0x1", 1100, one) + "," +
			chunk(2, "0x1", 1100, strings.ReplaceAll(one, `"a"`, `"z"`)) + "]", `
1/5 
 profile  0x1
  0+20 a (a.js:3)
  20+20 a (a.js:3)
2/5 
 profile  0x1
  10+20 z (a.js:3)
  30+20 z (a.js:3)
`},
		{"no head", "[" + chunk(1, "0x1", 1100, one) + "]", `
1/99 
 profile  0x1
  0+20 a (a.js:3)
  20+20 a (a.js:3)
warning: 1 profiles have no beginning; their samples were placed by the time of the first chunk
`},
		{"a head alone", "[" + head(1, 5, "0x1", 1000, "") + "]", ""},
		{"a whole profile", `[{"name":"CpuProfile","ph":"I","pid":1,"tid":5,"ts":2000,"args":{"data":{"cpuProfile":` + flatProfile("[1]", "[7]", flatNode(1, "a", "")) + `}}},
			{"name":"CpuProfile","ph":"I","pid":1,"tid":6,"ts":2000,"args":{}}]`, `
1/5 
 profile  CpuProfile 0
  0+0 a (a.js:2:5)
`},
		{"events", `{"traceEvents":[{},
			{"ph":"M","name":"thread_name","pid":"1","tid":2,"args":{"name":"CrRendererMain"}},
			{"ph":"X","name":"outer","pid":1,"tid":2,"ts":100,"dur":50},
			{"ph":"X","name":"late","pid":1,"tid":2,"ts":"140.0","dur":"20"},
			{"ph":"B","name":"b","pid":1,"tid":2,"ts":110,"cat":["x"]},{"ph":"B","name":"b","pid":1,"tid":3,"ts":111},
			{"ph":"E","pid":1,"tid":2,"ts":120},{"ph":"E","name":"b","pid":1,"tid":3,"ts":131},
			{"ph":"E","name":"nobody","pid":1,"tid":2,"ts":125},{"ph":"B","name":"endless","pid":1,"tid":2,"ts":126},
			{"ph":"I","name":"instant","pid":1,"tid":2,"ts":100},{"ph":"b","cat":"x","name":"async","pid":1,"tid":2,"ts":100},
			{"ph":"X","name":"thread time","pid":1,"tid":4,"ts":100,"tdur":3},{"ph":"X","name":"nothing","pid":1,"tid":4,"ts":100,"dur":0,"tdur":3},
			null, 5
		], "metadata":{"traceEvents":[]}}`, `
1/2 CrRendererMain
 event 0-50 outer
 event 10-20 b
 event 40-50 late
1/3 
 event 11-31 b
1/4 
 event 0-3 thread time
warning: 1 events begin and do not end; they were dropped
warning: 1 events end and did not begin; they were dropped
warning: 1 events outlive the event that they began in; they were clipped
`},
		{"a list without its end", `[{"ph":"X","name":"a","ts":0,"dur":5},
			{"ph":"X","name":"b","ts":6,"dur":5},`, "\n0/0 \n event 0-5 a\n event 6-11 b\nwarning: the file ends in the middle; what stands before that was read\n"},
		{"cut off in an event", `{"traceEvents":[{"ph":"X","name":"a","ts":0,"dur":5},{"ph":"X","na`,
			"\n0/0 \n event 0-5 a\nwarning: the file ends in the middle; what stands before that was read\n"},
		{"a comma too many", `[{"ph":"X","name":"a","ts":0,"dur":5},]`, "\n0/0 \n event 0-5 a\n"},
		{"broken in the middle", `[{"ph":"X","name":"a","ts":0,"dur":5},{"ph":"X" "name":"b"}]`, "error: read as chrometrace: malformed: byte 48: '\"' where a comma or the end of the object should be\n"},
		{"Hermes samples", `{"traceEvents":[],"samples":[{"cpu":"-1","name":"","ts":"100","pid":3,"tid":"4","weight":"1","sf":2},{"ts":"130","pid":3,"tid":"4","sf":1}],
			"stackFrames":{"1":{"category":"root","name":"[root]"},"2":{"line":"9","column":"2","funcLine":"7","funcColumn":"1","name":"render(http://localhost:8081/index.bundle:9:2)","category":"JavaScript","parent":1}}}`, `
3/4 
 profile  
  0+30 [root];render (http://localhost:8081/index.bundle:7:1)
  30+30 [root]
`},
		{"Hermes events", `[{"ph":"B","name":"f","ts":0,"pid":0,"tid":0,"args":{"line":5,"column":2,"name":"f","category":"JavaScript","url":"/a.js","params":null,"allocatedCategory":"JavaScript","allocatedName":"f"}},{"ph":"E","name":"f","ts":9,"pid":0,"tid":0}]`,
			"\n0/0 \n event 0-9 f (/a.js:5:2)\n"},
		{"measures", `[{"ph":"X","name":"task","ts":0,"dur":100,"pid":1,"tid":1},{"cat":"blink.user_timing","ph":"b","name":"m","id":"0x7","ts":10,"pid":1,"tid":1},{"cat":"blink.user_timing,rail","ph":"e","name":"m","id":"0x7","ts":20,"pid":1,"tid":1},
			{"cat":"blink.user_timing","ph":"b","name":"wide","id2":{"local":"0x8"},"ts":50,"pid":1,"tid":1},{"cat":"blink.user_timing","ph":"e","name":"wide","id2":{"local":"0x8"},"ts":200,"pid":1,"tid":1}]`,
			"\n1/1 \n event 0-100 task\n event 10-20 m\nwarning: 1 measures cross other events; they were left out\n"},
		{"B and E of the same time", `[{"ph":"B","name":"outer","ts":1},{"ph":"B","name":"inner","ts":1},{"ph":"E","name":"inner","ts":5},{"ph":"E","name":"outer","ts":5}]`,
			"\n0/0 \n event 0-4 outer\n event 0-4 inner\n"},
		{"tasks that overlap by a microsecond", `[{"ph":"X","name":"RunTask","ts":1000,"dur":1001},{"ph":"X","name":"FunctionCall","ts":1500,"dur":501},{"ph":"X","name":"RunTask","ts":2000,"dur":1000}]`,
			"\n0/0 \n event 0-1000 RunTask\n event 500-1000 FunctionCall\n event 1000-2000 RunTask\nwarning: 2 events outlive the event that they began in; they were clipped\n"},
		{"a call that outlives its task by a microsecond", `[{"ph":"X","name":"FunctionCall","ts":1000,"dur":1001},{"ph":"X","name":"RunTask","ts":1000,"dur":1000}]`,
			"\n0/0 \n event 0-1000 RunTask\n event 0-1000 FunctionCall\nwarning: 1 events outlive the event that they began in; they were clipped\n"},
		{"an id that is used again", "[" + head(1, 5, "0x1", 1000, "") + "," + chunk(1, "0x1", 1100, one) + "," + head(1, 6, "0x1", 2000, "") + "," + chunk(1, "0x1", 2100, one) + "]", `
1/5 
 profile  0x1
  0+20 a (a.js:3)
  20+20 a (a.js:3)
1/6 
 profile  0x1
  1000+20 a (a.js:3)
  1020+20 a (a.js:3)
`},
		{"one profile is broken", "[" + head(1, 5, "0x1", 1000, "") + "," + chunk(1, "0x1", 1100, one) + "," + head(1, 6, "0x2", 1000, "") + "," + chunk(1, "0x2", 1100, strings.Replace(one, "[10,20]", "[1e18,1]", 1)) + "]", `
1/5 
 profile  0x1
  0+20 a (a.js:3)
  20+20 a (a.js:3)
warning: profile 0x2 of process 1: invalid: samples[0]: its time 1.000000000000001e+18 µs is out of range; it was left out
`},
		{"a stray event long ago", `[{"ph":"X","name":"stray","ts":0,"dur":5},{"ph":"X","name":"a","ts":1795000000000000,"dur":5},{"ph":"X","name":"b","ts":1795000000000010,"dur":5}]`,
			"\n0/0 \n event 0-5 a\n event 10-15 b\nwarning: 1 events have times out of range; they were dropped\n"},
		{"what is no event comes first", `[null,1,[],{},{"ph":"X","name":"a","ts":7,"dur":5}]`, "\n0/0 \n event 0-5 a\n"},
		{"nothing", `[]`, "error: read as chrometrace: invalid: traceEvents: there are none\n"},
	})
}

// A line break in front of a long file is no field of a pprof.
func TestDetectLeadingSpace(t *testing.T) {
	long := `[{"ph":"X","name":"a","ts":0,"dur":5,"args":{"x":"` + strings.Repeat("y", 100<<10) + `"}}]`
	for _, space := range []string{"\n", "\n\n", " ", "\r\n", "\t"} {
		doc, err := Decode(strings.NewReader(space+long), input.FileLimits())
		if err != nil || doc.Recording == nil {
			t.Errorf("%q: %v", space, err)
		}
	}
}

// A file may be gzipped, once or twice, begin with a byte order mark, or be UTF-16; and a
// gzipped trace may be cut off.
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
	doc, err := Decode(strings.NewReader(long[:len(long)*3/4]), input.FileLimits())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(doc.Recording.Threads[0].Events); n < 10_000 || n >= 20_000 || len(doc.Recording.Warnings) != 1 {
		t.Errorf("%d events, %q", n, doc.Recording.Warnings)
	}
}

// However a file is cut into pieces, it is read as the same.
func TestStreamedInPieces(t *testing.T) {
	inputs := []string{
		flatProfile("[2,3,2]", "[100,-40,90]", flatNode(1, "(root)", `,"children":[2]`), flatNode(2, "a", `,"children":[3]`), flatNode(3, "b", "")),
		`{"head":{"functionName":"(root)","id":1,"children":[{"functionName":"a","url":"x.js","lineNumber":4,"id":2,"children":[]}]},"startTime":1,"endTime":2,"samples":[1,2]}`,
		`{"metadata":{"a":[1,"]"]},"traceEvents":[{"name":"Profile","ph":"P","pid":1,"tid":2,"id":"0x1","ts":5,"args":{"data":{"startTime":1,"source":"Internal"}}},
{"name":"ProfileChunk","ph":"P","pid":1,"id":"0x1","ts":9,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"a\u00e9","url":"y.js"}}],"samples":[1,1],"trace_ids":{"7":1}},"timeDeltas":[1,2.5]}}},
{"ph":"X","name":"Layout","pid":1,"tid":2,"ts":6,"dur":1,"args":{"beginData":{"sampleTraceId":7}}},{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"Main"}}]}`,
		`{"traceEvents":[],"samples":[{"ts":"100","pid":3,"tid":"4","sf":2}],"stackFrames":{"1":{"name":"[root]"},"2":{"line":"9","name":"f(http://l/i.js:9:2)","parent":1}}}`,
	}
	for _, in := range inputs {
		doc, err := Decode(strings.NewReader(in), input.FileLimits())
		if err != nil {
			t.Fatal(err)
		}
		want := described(doc.Recording)
		decode := v8.DecodeCPUProfile
		if v8.IsChromeTrace([]byte(in)) {
			decode = v8.DecodeChromeTrace
		}
		for k := range in {
			r, err := decode(io.MultiReader(strings.NewReader(in[:k]), strings.NewReader(in[k:])), input.FileLimits())
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
		`{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0,"children":[]},"samples":[{"size":5,"nodeId":1}]}`: "a heap profile",
		`{"snapshot":{"meta":{}},"nodes":[1,2]}`:            "a heap snapshot",
		`{"samples":[{"size":24,"nodeId":1,"ordinal":2}]}`:  "an allocation profile",
		`{"code":[],"functions":[],"ticks":[{"tm":1}]}`:     "the processed log of node --prof",
		"v8-version,11,3,244,8,-node.26,0\nshared-library,": "the log of node --prof",
		"PK\x03\x04whatever":                                "a zip archive",
		`{"log":{"version":"1.2","entries":[]}}`:            "an HTTP archive",
		`{"nodes":[1,2,3],"edges":[]}`:                      "not in a known format",
		`[1,2,3]`:                                           "not in a known format",
	} {
		_, err := Decode(strings.NewReader(in), input.FileLimits())
		if input.KindOf(err) == 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %s", in, err, want)
		}
	}
}

func FuzzCPUProfile(f *testing.F) {
	f.Add([]byte(flatProfile("[2,1]", "[5,-3]", flatNode(1, "(root)", `,"children":[2,2,9]`), flatNode(2, "a", `,"parent":2`))))
	f.Add([]byte(`{"head":{"functionName":"(root)","id":1,"children":[{"functionName":"a","id":1,"children":[]}]},"startTime":1,"endTime":2,"samples":[1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := v8.DecodeCPUProfile(bytes.NewReader(data), input.Limits{})
		checkRecording(t, r, err)
	})
}

func FuzzChromeTrace(f *testing.F) {
	f.Add([]byte(`[{"name":"Profile","ph":"P","pid":1,"tid":2,"id":"0x1","ts":5,"args":{"data":{"startTime":1,"source":"Internal"}}},
{"name":"ProfileChunk","ph":"P","pid":1,"id":"0x1","ts":9,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"a"}}],"samples":[1,1],"trace_ids":{"7":1}},"timeDeltas":[1,2]}}},
{"ph":"X","name":"Layout","pid":1,"tid":2,"ts":6,"dur":1,"args":{"beginData":{"sampleTraceId":7}}},{"ph":"B","name":"RunTask","pid":1,"tid":2,"ts":4},{"ph":"E","pid":1,"tid":2,"ts":9}]`))
	f.Add([]byte(`{"traceEvents":[],"samples":[{"ts":"1","tid":"1","sf":1}],"stackFrames":{"1":{"name":"f(a:1:2)","parent":1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := v8.DecodeChromeTrace(bytes.NewReader(data), input.Limits{})
		checkRecording(t, r, err)
	})
}

// checkRecording checks that r is valid, and its calls conserve time.
func checkRecording(t *testing.T, r *trie.Recording, err error) {
	if err != nil {
		if input.KindOf(err) == 0 {
			t.Fatalf("an error of no kind: %v", err)
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
