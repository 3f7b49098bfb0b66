package formats

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// devToolsCase is a unit test of the trace engine of Chrome DevTools, as data.
type devToolsCase struct {
	Name           string
	Profile        json.RawMessage
	Chunks         []json.RawMessage
	Events         []json.RawMessage
	ExpectedFrames [][]any `json:"expected_frames_ms"`
	ExpectedUs     []struct {
		ID            int64
		TS, Dur, Self float64
	} `json:"expected_us"`
	ExpectedCalls [][]any `json:"expected_calls_us"`
}

// devToolsDiffers has the calls of cases in which this project differs intentionally.
var devToolsDiffers = map[string]struct {
	calls [][]any
	why   string
}{
	"merge: RunMicrotasks restarts the stack": {
		[][]any{{"a", 20.0, 30.0}, {"a", 50.0, 50.0}, {"b", 50.0, 50.0}},
		"a function that an event calls begins with the event and not with the next sample; and RunMicrotasks, " +
			"which ends after its task in this case, is clipped to it, as time must not count twice",
	},
}

func TestDevToolsCases(t *testing.T) {
	dir := fixtures(t)
	data, err := os.ReadFile(filepath.Join(dir, "devtools-cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []devToolsCase }
	if err := json.Unmarshal(data, &all); err != nil || len(all.Cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range all.Cases {
		t.Run(c.Name, func(t *testing.T) {
			switch {
			case c.ExpectedFrames != nil:
				checkDevToolsFrames(t, c)
			case c.ExpectedUs != nil:
				checkDevToolsChunks(t, c)
			default:
				checkDevToolsMerge(t, c)
			}
		})
	}
}

// callRow is a call in the cases: name, start, duration, self time, depth from 0.
type callRow struct {
	name             string
	start, dur, self float64
	depth            int
}

func callRows(l *trie.Timeline) []callRow {
	depths := l.Depths()
	children := map[int]int64{} // time of the callees of a call
	var open []int
	var rows []callRow
	for i, c := range l.Calls {
		for len(open) > 0 && l.Calls[open[len(open)-1]].End <= c.Start {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			children[open[len(open)-1]] += c.End - c.Start
		}
		open = append(open, i)
	}
	for i, c := range l.Calls {
		name := l.Frame(c.Node).Name
		if name == trie.FrameGC {
			name = "(garbage collector)"
		}
		rows = append(rows, callRow{name, float64(c.Start), float64(c.End - c.Start),
			float64(c.End - c.Start - children[i]), int(depths[c.Node]) - 1})
	}
	return rows
}

func readRecording(t *testing.T, data string) *trie.Recording {
	t.Helper()
	doc, err := Decode(strings.NewReader(data), encode.FileLimits())
	if err != nil || doc.Recording == nil {
		t.Fatalf("%v: %.200s", err, data)
	}
	return doc.Recording
}

func checkDevToolsFrames(t *testing.T, c devToolsCase) {
	var head struct{ StartTime float64 }
	if err := json.Unmarshal(c.Profile, &head); err != nil {
		t.Fatal(err)
	}
	l := callsOf(t, &readRecording(t, string(c.Profile)).Threads[0].Streams[0], nil)
	var got []string
	for _, r := range callRows(l) {
		got = append(got, fmt.Sprintf("%s %.3f %.3f %.3f %d", r.name, (r.start+head.StartTime)/1000, r.dur/1000,
			r.self/1000, r.depth))
	}
	var want []string
	for _, f := range c.ExpectedFrames {
		want = append(want, fmt.Sprintf("%s %.3f %.3f %.3f %.0f", f[0], f[1], f[2], f[3], f[4]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// checkDevToolsChunks makes a trace of the chunks. Their nodes have no functions.
func checkDevToolsChunks(t *testing.T, c devToolsCase) {
	id := regexp.MustCompile(`"id": ?(\d+)`)
	events := []string{`{"name":"Profile","ph":"P","ts":0,"pid":1,"tid":1,"id":"0x1","args":{"data":{"startTime":0}}}`}
	for i, raw := range c.Chunks {
		nodes := id.ReplaceAllString(string(raw),
			`"id":$1,"callFrame":{"functionName":"$1","url":"x","lineNumber":$1,"columnNumber":0}`)
		nodes = strings.ReplaceAll(nodes, `"functionName":"9"`, `"functionName":"(root)"`)
		var chunk struct {
			Nodes, Samples, TimeDeltas json.RawMessage
		}
		if err := json.Unmarshal([]byte(nodes), &chunk); err != nil {
			t.Fatal(err)
		}
		events = append(events, fmt.Sprintf(
			`{"name":"ProfileChunk","ph":"P","ts":%d,"pid":1,"tid":2,"id":"0x1",`+
				`"args":{"data":{"cpuProfile":{"nodes":%s,"samples":%s},"timeDeltas":%s}}}`,
			i+1, chunk.Nodes, chunk.Samples, chunk.TimeDeltas))
	}
	r := readRecording(t, "["+strings.Join(events, ",")+"]")
	var got, want []string
	for _, x := range callRows(callsOf(t, &r.Threads[0].Streams[0], nil)) {
		got = append(got, fmt.Sprintf("%s %.0f %.0f %.0f", x.name, x.start, x.dur, x.self))
	}
	for _, x := range c.ExpectedUs {
		want = append(want, fmt.Sprintf("%d %.0f %.0f %.0f", x.ID, x.TS, x.Dur, x.Self))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func checkDevToolsMerge(t *testing.T, c devToolsCase) {
	s := readRecording(t, string(c.Profile)).Threads[0].Streams[0]
	var events []trie.Event
	end := s.Trace.Samples[len(s.Trace.Samples)-1].Time // in the engine the last sample has no duration
	for _, raw := range c.Events {
		var e struct {
			Name    string
			TS, Dur int64
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, trie.Event{Frame: trie.Frame{Name: e.Name}, Start: e.TS, End: e.TS + e.Dur})
		end = max(end, e.TS+e.Dur) // but a call lasts as long as its event
	}
	s.Trace.End = end
	events, _, _ = trie.Nest(events)
	l := callsOf(t, &s, events)
	want := c.ExpectedCalls
	if d, ok := devToolsDiffers[c.Name]; ok {
		want = d.calls
		t.Logf("differs: %s", d.why)
	}
	var got, expected []string
	for i, x := range callRows(l) {
		if !l.Calls[i].Event {
			got = append(got, fmt.Sprintf("%s %.0f %.0f", x.name, x.start, x.dur))
		}
	}
	for _, x := range want {
		expected = append(expected, fmt.Sprintf("%s %.0f %.0f", x[0], x[1], x[2]))
	}
	if !slices.Equal(got, expected) {
		t.Errorf("got  %q\nwant %q", got, expected)
	}
}
