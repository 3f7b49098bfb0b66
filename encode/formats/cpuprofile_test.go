package formats

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"

	v8 "github.com/fieldtrie/fieldtrie/encode/v8"
)

// flatNode returns a node of a .cpuprofile.
func flatNode(id int, name, more string) string {
	url := "a.js"
	if strings.HasPrefix(name, "(") {
		url = ""
	}
	return fmt.Sprintf(`{"id":%d,"callFrame":{"functionName":%q,"scriptId":"7","url":%q,"lineNumber":%d,`+
		`"columnNumber":4}%s}`, id, name, url, id, more)
}

// flatProfile returns a .cpuprofile.
func flatProfile(samples, deltas string, nodes ...string) string {
	return `{"nodes":[` + strings.Join(nodes, ",") + `],"startTime":1000,"endTime":2000,"samples":` + samples +
		`,"timeDeltas":` + deltas + `}`
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
		{"fractional deltas", flatProfile("[2,2,2]", "[0.4,0.4,0.4]", tree...), `
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
		{"parents instead of children", flatProfile("[3]", "[5]", flatNode(1, "(root)", ""),
			flatNode(3, "b", `,"parent":2`), flatNode(2, "a", `,"parent":1`)), `
0/0 
 profile  
  5+0 a (a.js:3:5);b (a.js:4:5)
`},
		{"root last, id 0, other functions at the root", flatProfile("[0,8]", "[5,5]", flatNode(0, "a", ""),
			flatNode(8, "b", ""), flatNode(9, "(root)", `,"children":[0]`)), `
0/0 
 profile  
  5+5 a (a.js:1:5)
  10+5 b (a.js:9:5)
`},
		{"a circle", flatProfile("[2,3]", "[5,5]", flatNode(1, "(root)", `,"children":[2]`),
			flatNode(2, "a", `,"children":[3]`), flatNode(3, "b", `,"children":[2]`)), `
0/0 
 profile  
  5+5 b (a.js:4:5);a (a.js:3:5)
  10+5 b (a.js:4:5)
warning: 1 nodes are their own ancestors; their stacks were cut there
`},
		{"a node that is its own child", flatProfile("[2,2]", "[5,5]", flatNode(1, "(root)", `,"children":[2]`),
			flatNode(2, "a", `,"children":[2]`)), `
0/0 
 profile  
  5+5 a (a.js:3:5)
  10+5 a (a.js:3:5)
warning: 1 nodes are their own ancestors; their stacks were cut there
`},
		{"references to missing nodes", flatProfile("[2,77,3]", "[5,5,5]", flatNode(1, "(root)", `,"children":[2,99]`),
			flatNode(2, "a", ""), flatNode(3, "b", `,"parent":44`)), `
0/0 
 profile  
  5+5 a (a.js:3:5)
  10+5 
  15+5 b (a.js:4:5)
warning: 1 children do not exist
warning: 1 nodes name a parent that does not exist; they were put at the root
warning: 1 samples are of nodes that do not exist; they count as time without a stack
`},
		{"a duplicate id", flatProfile("[2,2]", "[5,5]", flatNode(1, "(root)", `,"children":[2]`), flatNode(2, "a", ""),
			flatNode(2, "b", "")), `
0/0 
 profile  
  5+5 a (a.js:3:5)
  10+5 a (a.js:3:5)
warning: 1 nodes have the id of another node; their samples are assigned to the first
`},
		{"huge and negative ids", flatProfile("[-5,9007199254740991]", "[5,5]", flatNode(-5, "a", ""),
			strings.Replace(flatNode(3, "b", ""), `"id":3`, `"id":9007199254740991`, 1)), `
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
		{"no times at all", `{"nodes":[` + flatNode(1, "a", "") + `],"samples":[1]}`,
			"error: read as cpuprofile: invalid: timeDeltas: missing, and so are startTime and endTime, so " +
				"durations are unknown\n"},
		{"the older tree", `{"typeId":"CPU","head":{"functionName":"(root)","url":"","lineNumber":0,"id":1,` +
			`"hitCount":0,"children":[
			{"functionName":"","url":"a.js","lineNumber":3,"callUID":1,"id":2,"children":[{"id":3,"functionName":"b",` +
			`"url":"a.js","lineNumber":9,"children":[]}]}]},
			"startTime":12,"endTime":13,"samples":[2,3],"timestamps":[12500000,12500100]}`, `
0/0 
 profile  
  0+100 (anonymous) (a.js:3)
  100+100 (anonymous) (a.js:3);b (a.js:9)
`},
		{"the older tree without times",
			`{"head":{"functionName":"(root)","id":1,"children":[{"functionName":"a","url":"a.js","lineNumber":0,` +
				`"id":2,"children":[]}]},
			"startTime":"12","endTime":12.5,"samples":[2,2]}`, `
0/0 
 profile  
  0+250000 a (a.js)
  250000+250000 a (a.js)
warning: 2 samples have no times; they were spread evenly over the profile
`},
		{"a response of the protocol", `{"id":3,"result":{"profile":` + flatProfile("[2]", "[5]", tree...) + `}}`, `
0/0 
 profile  
  5+0 a (a.js:3:5)
`},
		{"members in another order", `{"timeDeltas":[5,5],"samples":[2,2],"endTime":9,"startTime":1,"nodes":[` +
			strings.Join(tree, ",") + `]}`, `
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
		{"truncated", flatProfile("[2]", "[5]", tree...)[:300],
			"error: read as cpuprofile: malformed: byte 300: the document ends where the end of a string should be\n"},
		{"a text as a time", flatProfile("[2]", `["x"]`, tree...),
			"error: read as cpuprofile: invalid: timeDeltas[0]: not a number\n"},
		{"a time out of range", flatProfile("[2]", `[1e300]`, tree...),
			"error: read as cpuprofile: invalid: samples[0]: its time 1e+300 µs is out of range\n"},
		{"a fraction as an id", flatProfile("[2.5]", `[1]`, tree...),
			"error: read as cpuprofile: malformed: byte 722: 2.5 is not a whole number within ±2^53\n"},
	})
}

// A stack of 20,000 calls, and a profile that is nested as deep, can be decoded.
func TestDecodeCPUProfileDeep(t *testing.T) {
	const depth = 20_000
	var nodes []string
	for i := 1; i <= depth; i++ {
		nodes = append(nodes, flatNode(i, "f", fmt.Sprintf(`,"children":[%d]`, i+1)))
	}
	nodes = append(nodes, flatNode(depth+1, "leaf", ""))
	nested := strings.Repeat(`{"functionName":"f","url":"a.js","id":1,"children":[`, depth) +
		strings.Repeat("]}", depth)
	for _, in := range []string{
		flatProfile(fmt.Sprintf("[%d,%d]", depth+1, depth+1), "[1,1]", nodes...),
		`{"samples":[1,1],"timestamps":[1,2],"head":` + nested + `}`,
	} {
		doc, err := Decode(strings.NewReader(in), encode.FileLimits())
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
				if err := f.Encode(io.Discard, p, output.Options{Template: fixture.HTMLTemplate()}); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
			if f.EncodeTimed != nil {
				lines := []*trie.Timeline{callsOf(t, &doc.Recording.Threads[0].Streams[0], nil)}
				if err := f.EncodeTimed(io.Discard, lines, output.Options{}); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
		}
	}
	_, err := Decode(strings.NewReader(`{"head":`+strings.Repeat(`{"functionName":"f","children":[`, 100_002)),
		encode.FileLimits())
	if encode.KindOf(err) != input.TooLarge {
		t.Errorf("got %v", err)
	}
}

func FuzzCPUProfile(f *testing.F) {
	f.Add([]byte(flatProfile("[2,1]", "[5,-3]", flatNode(1, "(root)", `,"children":[2,2,9]`),
		flatNode(2, "a", `,"parent":2`))))
	f.Add([]byte(`{"head":{"functionName":"(root)","id":1,"children":[{"functionName":"a","id":1,"children":[]}]},` +
		`"startTime":1,"endTime":2,"samples":[1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := v8.DecodeCPUProfile(bytes.NewReader(data), encode.Limits{})
		checkRecording(t, r, err)
	})
}
