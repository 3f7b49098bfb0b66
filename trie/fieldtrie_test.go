package trie

import "testing"

// Work of the browser for the profiling script belongs to the script, and work of the site in its
// calls belongs to the site.
func TestCoalesceFieldtrie(t *testing.T) {
	const own = "https://profiles.example/sdk.js"
	trace := &Trace{Trie: *New()}
	f := func(name, resource string) Frame { return Frame{Name: name, Resource: resource} }
	trace.Samples = []Sample{
		{Time: 0, Node: trace.Insert(f("main", "/app.js"), f("start", own), f("Profiler", ""))},
		{Time: 10, Node: trace.Insert(f("main", "/app.js"), f("start", own), f("begin", own))},
		{Time: 20, Node: trace.Insert(f("main", "/app.js"), f("start", own), f("feature", own), f("render", "/app.js"),
			f("append", ""))},
		{Time: 30, Node: trace.Insert(f("start", own), f("(gc)", ""))},
		{Time: 40, Node: trace.Insert(f("Profiler", ""))},
	}
	rename := func(f Frame) Frame {
		if f.Resource == own {
			return Frame{Name: FrameFieldtrie}
		}
		return f
	}
	once := trace.Coalesce(rename)
	for i, want := range []string{"main (fieldtrie)", "main (fieldtrie)", "main (fieldtrie) render append",
		"(fieldtrie) (gc)", "Profiler"} {
		for pass, got := range []*Trace{once, once.Coalesce(nil)} {
			names := ""
			for n := range got.Stack(got.Samples[i].Node) {
				names = " " + got.Frame(n).Name + names
			}
			if names[1:] != want {
				t.Errorf("sample %d, coalesced %d times: got %q, want %q", i, pass+1, names[1:], want)
			}
		}
	}
}
