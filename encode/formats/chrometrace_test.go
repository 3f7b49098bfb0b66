package formats

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"

	v8 "github.com/fieldtrie/fieldtrie/encode/v8"
)

func TestDecodeChromeTrace(t *testing.T) {
	head := func(pid, tid int, id string, ts int, more string) string {
		return fmt.Sprintf(`{"name":"Profile","ph":"P","cat":"disabled-by-default-v8.cpu_profiler","pid":%d,"tid":%d,`+
			`"id":"%s","ts":%d,"args":{"data":{"startTime":%d%s}}}`, pid, tid, id, ts, ts+3, more)
	}
	chunk := func(pid int, id string, ts int, data string) string {
		return fmt.Sprintf(`{"args":{"data":%s},"name":"ProfileChunk","ph":"P","pid":%d,"tid":99,"id":"%s","ts":%d}`,
			data, pid, id, ts)
	}
	nodes := `"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},{"id":2,"parent":1,` +
		`"callFrame":{"functionName":"a","url":"a.js","scriptId":7,"lineNumber":2}}]`
	one := `{"cpuProfile":{` + nodes + `,"samples":[2,2]},"timeDeltas":[10,20],"lines":[3,4]}`
	checkImports(t, []importCase{
		{"a profile in chunks", "[" + head(1, 5, "0x1", 1000, `,"source":"Internal"`) + "," + chunk(1, "0x1", 1100,
			one) + "," +
			chunk(1, "0x1", 1200,
				`{"cpuProfile":{"nodes":[{"id":3,"parent":2,"callFrame":{"functionName":"b","url":"a.js",`+
					`"lineNumber":5,"columnNumber":1}}],"samples":[3]},"timeDeltas":[5]}`) +
			"," + chunk(1, "0x1", 1300, `{"endTime":1300}`) + "]", `
1/5 
 profile Internal 0x1
  0+20 a (a.js:3)
  20+5 a (a.js:3)
  25+13 a (a.js:3);b (a.js:6:2)
`},
		{"chunks out of order, and before the head", "[" + chunk(1, "0x1", 1200,
			`{"cpuProfile":{"samples":[2]},"timeDeltas":[5]}`) + "," +
			chunk(1, "0x1", 1100, one) + "," + head(1, 5, "0x1", 1000, "") + "]", `
1/5 
 profile  0x1
  0+20 a (a.js:3)
  20+5 a (a.js:3)
  25+13 a (a.js:3)
`},
		{"the same id in two processes", "[" + head(1, 5, "0x1", 1000, "") + "," + head(2, 5, "0x1", 1010, "") + "," +
			chunk(1, "0x1", 1100, one) + "," +
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
		{"no ProfileHeader", "[" + chunk(1, "0x1", 1100, one) + "]", `
1/99 
 profile  0x1
  0+20 a (a.js:3)
  20+20 a (a.js:3)
warning: 1 profiles have no beginning; their samples were placed by the time of the first chunk
`},
		{"a header alone", "[" + head(1, 5, "0x1", 1000, "") + "]",
			"warning: none of its 1 events has CPU samples or a length\n"},
		{"a full profile", `[{"name":"CpuProfile","ph":"I","pid":1,"tid":5,"ts":2000,"args":{"data":{"cpuProfile":` +
			flatProfile("[1]", "[7]", flatNode(1, "a", "")) + `}}},
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
			{"ph":"I","name":"instant","pid":1,"tid":2,"ts":100},{"ph":"b","cat":"x","name":"async","pid":1,"tid":2,` +
			`"ts":100},
			{"ph":"X","name":"thread time","pid":1,"tid":4,"ts":100,"tdur":3},{"ph":"X","name":"nothing","pid":1,` +
			`"tid":4,"ts":100,"dur":0,"tdur":3},
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
		{"a list without an end", `[{"ph":"X","name":"a","ts":0,"dur":5},
			{"ph":"X","name":"b","ts":6,"dur":5},`,
			"\n0/0 \n event 0-5 a\n event 6-11 b\nwarning: the file is truncated; the part before that was read\n"},
		{"truncated in an event", `{"traceEvents":[{"ph":"X","name":"a","ts":0,"dur":5},{"ph":"X","na`,
			"\n0/0 \n event 0-5 a\nwarning: the file is truncated; the part before that was read\n"},
		{"one comma too many", `[{"ph":"X","name":"a","ts":0,"dur":5},]`, "\n0/0 \n event 0-5 a\n"},
		{"broken in the middle", `[{"ph":"X","name":"a","ts":0,"dur":5},{"ph":"X" "name":"b"}]`,
			"error: read as chrometrace: malformed: byte 48: '\"' where a comma or the end of the object should be\n"},
		{"Hermes samples", `{"traceEvents":[],"samples":[{"cpu":"-1","name":"","ts":"100","pid":3,"tid":"4",` +
			`"weight":"1","sf":2},{"ts":"130","pid":3,"tid":"4","sf":1}],
			"stackFrames":{"1":{"category":"root","name":"[root]"},"2":{"line":"9","column":"2","funcLine":"7",` +
			`"funcColumn":"1","name":"render(http://localhost:8081/index.bundle:9:2)","category":"JavaScript",` +
			`"parent":1}}}`, `
3/4 
 profile  
  0+30 [root];render (http://localhost:8081/index.bundle:7:1)
  30+30 [root]
`},
		{"Hermes events", `[{"ph":"B","name":"f","ts":0,"pid":0,"tid":0,"args":{"line":5,"column":2,"name":"f",` +
			`"category":"JavaScript","url":"/a.js","params":null,"allocatedCategory":"JavaScript",` +
			`"allocatedName":"f"}},{"ph":"E","name":"f","ts":9,"pid":0,"tid":0}]`,
			"\n0/0 \n event 0-9 f (/a.js:5:2)\n"},
		{"measures", `[{"ph":"X","name":"task","ts":0,"dur":100,"pid":1,"tid":1},{"cat":"blink.user_timing","ph":"b",` +
			`"name":"m","id":"0x7","ts":10,"pid":1,"tid":1},{"cat":"blink.user_timing,rail","ph":"e","name":"m",` +
			`"id":"0x7","ts":20,"pid":1,"tid":1},
			{"cat":"blink.user_timing","ph":"b","name":"wide","id2":{"local":"0x8"},"ts":50,"pid":1,"tid":1},` +
			`{"cat":"blink.user_timing","ph":"e","name":"wide","id2":{"local":"0x8"},"ts":200,"pid":1,` +
			`"tid":1}]`,
			"\n1/1 \n event 0-100 task\n event 10-20 m\nwarning: 1 measures cross other events; they were left out\n"},
		{"B and E at the same time",
			`[{"ph":"B","name":"outer","ts":1},{"ph":"B","name":"inner","ts":1},{"ph":"E","name":"inner","ts":5},` +
				`{"ph":"E","name":"outer","ts":5}]`,
			"\n0/0 \n event 0-4 outer\n event 0-4 inner\n"},
		{"tasks that overlap by a microsecond",
			`[{"ph":"X","name":"RunTask","ts":1000,"dur":1001},{"ph":"X","name":"FunctionCall","ts":1500,"dur":501},` +
				`{"ph":"X","name":"RunTask","ts":2000,"dur":1000}]`,
			"\n0/0 \n event 0-1000 RunTask\n event 500-1000 FunctionCall\n event 1000-2000 RunTask\nwarning: 2 " +
				"events outlive the event that they began in; they were clipped\n"},
		{"a call that outlives its task by a microsecond",
			`[{"ph":"X","name":"FunctionCall","ts":1000,"dur":1001},{"ph":"X","name":"RunTask","ts":1000,"dur":1000}]`,
			"\n0/0 \n event 0-1000 RunTask\n event 0-1000 FunctionCall\nwarning: 1 events outlive the event that " +
				"they began in; they were clipped\n"},
		{"a reused id", "[" + head(1, 5, "0x1", 1000, "") + "," + chunk(1, "0x1", 1100, one) + "," +
			head(1, 6, "0x1", 2000, "") + "," + chunk(1, "0x1", 2100, one) + "]", `
1/5 
 profile  0x1
  0+20 a (a.js:3)
  20+20 a (a.js:3)
1/6 
 profile  0x1
  1000+20 a (a.js:3)
  1020+20 a (a.js:3)
`},
		{"one profile is broken", "[" + head(1, 5, "0x1", 1000, "") + "," + chunk(1, "0x1", 1100, one) + "," + head(1,
			6, "0x2", 1000, "") + "," + chunk(1, "0x2", 1100, strings.Replace(one, "[10,20]", "[1e18,1]", 1)) + "]", `
1/5 
 profile  0x1
  0+20 a (a.js:3)
  20+20 a (a.js:3)
warning: profile 0x2 of process 1: invalid: samples[0]: its time 1.000000000000001e+18 µs is out of range; it was ` +
			`left out
`},
		{"a stray event long ago",
			`[{"ph":"X","name":"stray","ts":0,"dur":5},{"ph":"X","name":"a","ts":1795000000000000,"dur":5},{"ph":"X",` +
				`"name":"b","ts":1795000000000010,"dur":5}]`,
			"\n0/0 \n event 0-5 a\n event 10-15 b\nwarning: 1 events have times out of range; they were dropped\n"},
		{"other values before the first event", `[null,1,[],{},{"ph":"X","name":"a","ts":7,"dur":5}]`,
			"\n0/0 \n event 0-5 a\n"},
		{"no events", `[]`, "error: read as chrometrace: invalid: traceEvents: there are none\n"},
	})
}

func FuzzChromeTrace(f *testing.F) {
	f.Add([]byte(`[{"name":"Profile","ph":"P","pid":1,"tid":2,"id":"0x1","ts":5,"args":{"data":{"startTime":1,` +
		`"source":"Internal"}}},
{"name":"ProfileChunk","ph":"P","pid":1,"id":"0x1","ts":9,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,` +
		`"callFrame":{"functionName":"a"}}],"samples":[1,1],"trace_ids":{"7":1}},"timeDeltas":[1,2]}}},
{"ph":"X","name":"Layout","pid":1,"tid":2,"ts":6,"dur":1,"args":{"beginData":{"sampleTraceId":7}}},{"ph":"B",` +
		`"name":"RunTask","pid":1,"tid":2,"ts":4},{"ph":"E","pid":1,"tid":2,"ts":9}]`))
	f.Add([]byte(`{"traceEvents":[],"samples":[{"ts":"1","tid":"1","sf":1}],"stackFrames":{"1":{"name":"f(a:1:2)",` +
		`"parent":1}}}`))
	f.Add([]byte(`{"metadata":{"source":"DevTools","sourceMaps":[{"url":"/a.js","sourceMapUrl":"a.js.map",` +
		`"sourceMap":{"version":3}},{"sourceMap":"{}"}]},"traceEvents":[
{"args":{"data":{"isolate":"9","scriptId":3,"url":"/a.js","sourceMapUrl":"data:;base64,e30="}},` +
		`"name":"ScriptCatchup","ph":"X","pid":1,"tid":2,"ts":5,"dur":1},
{"args":{"data":{"isolate":"9","scriptId":3,"sourceText":"f()\n","splitIndex":0,"splitCount":1}},` +
		`"name":"LargeScriptCatchup","ph":"X","pid":1,"tid":2,"ts":5,"dur":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := v8.DecodeChromeTrace(bytes.NewReader(data), encode.Limits{})
		checkRecording(t, r, err)
	})
}
