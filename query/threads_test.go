package query

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
)

// twoThreads is a trace of a main thread with two profiles and events, and of a thread
// with events alone.
const twoThreads = `[{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"Main"}},
{"ph":"P","name":"Profile","id":"0x2","pid":1,"tid":2,"ts":1000,"args":{"data":{"source":"SelfProfiling"}}},
{"ph":"P","name":"ProfileChunk","id":"0x2","pid":1,"tid":9,"ts":1300,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"g","url":"a.js"}}],"samples":[1,1]},"timeDeltas":[10,10]}}},
{"ph":"P","name":"Profile","id":"0x1","pid":1,"tid":2,"ts":1000,"args":{"data":{"source":"Internal"}}},
{"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":9,"ts":1300,"args":{"data":{"cpuProfile":{"nodes":[
 {"id":1,"callFrame":{"functionName":"f","url":"a.js"}},{"id":2,"callFrame":{"functionName":"(idle)"}},{"id":3,"parent":1,"callFrame":{"functionName":"h","url":"a.js"}}],
 "samples":[1,3,2]},"timeDeltas":[100,100,50]}}},
{"ph":"X","name":"FunctionCall","pid":1,"tid":2,"ts":1050,"dur":190},
{"ph":"X","name":"sleep","pid":1,"tid":3,"ts":1100,"dur":40}]`

// foldedOf returns a profile as folded stacks.
func foldedOf(t *testing.T, p *trie.Profile) string {
	t.Helper()
	var b bytes.Buffer
	if err := encode.EncodeFolded(&b, p, encode.Output{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPick(t *testing.T) {
	file := fileOf("trace.json", []byte(twoThreads))
	for _, tt := range []struct {
		name     string
		pick     Pick
		want     string
		warnings int
	}{
		{"as it is", Pick{}, "f (a.js) 100\nf (a.js);h (a.js) 50\n", 1},
		{"by number", Pick{Threads: []string{"1/2"}}, "f (a.js) 100\nf (a.js);h (a.js) 50\n", 1},
		{"without samples", Pick{Threads: []string{"3"}}, "sleep 40\n", 0},
		{"two", Pick{Threads: []string{"3", "Main"}}, "sleep 40\nf (a.js) 100\nf (a.js);h (a.js) 50\n", 1},
		{"another profile", Pick{Profile: "SelfProfiling"}, "g (a.js) 20\n", 0},
		{"by id", Pick{Profile: "0x2"}, "g (a.js) 20\n", 0},
		{"idle", Pick{Idle: true}, "(idle) 75\nf (a.js) 100\nf (a.js);h (a.js) 50\n", 1},
		{"events", Pick{Events: true}, "FunctionCall 50\nFunctionCall;f (a.js) 100\nFunctionCall;f (a.js);h (a.js) 40\n", 1},
		{"another name", Pick{Rename: func(f trie.Frame) trie.Frame { return trie.Frame{Name: f.Resource} }}, "a.js 100\na.js;a.js 50\n", 1},
		{"folded", Pick{Rename: ByResource, Fold: true}, "a.js 150\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := MergeFiles(t.Context(), []File{file}, Selection{}, tt.pick, nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := foldedOf(t, got.Profile); text != tt.want || len(got.Stats.Warnings) != tt.warnings {
				t.Errorf("got\n%s%q, want\n%s%d warnings", text, got.Stats.Warnings, tt.want, tt.warnings)
			}
			// In time order it is the same time.
			lines, _, err := TimeFiles(t.Context(), []File{file}, tt.pick, nil)
			if err != nil {
				t.Fatal(err)
			}
			var timed, merged int64
			for _, l := range lines {
				timed += l.Self()
			}
			flat, _ := got.Profile.Flat()
			for _, w := range flat {
				merged += w.Self
			}
			if timed != merged {
				t.Errorf("%d µs in time order, %d merged", timed, merged)
			}
		})
	}
	for want, pick := range map[string]Pick{
		"trace.json: no thread Nobody; --list threads shows them":  {Threads: []string{"Nobody"}},
		"trace.json: no profile Nobody; --list threads shows them": {Profile: "Nobody"},
	} {
		if _, err := MergeFiles(t.Context(), []File{file}, Selection{}, pick, nil); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// Threads are kept apart by a label, and can be selected by it.
	got, err := MergeFiles(t.Context(), []File{file}, Selection{Grouped: true}, Pick{Threads: []string{"2", "3"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, g := range got.Profile.Groups {
		labels = append(labels, g.Labels.Value("thread"))
	}
	if slices.Sort(labels); !slices.Equal(labels, []string{"1/3", "Main 1/2"}) {
		t.Errorf("labels %q", labels)
	}
	got, err = MergeFiles(t.Context(), []File{file}, Selection{Page: "/feed"}, Pick{}, nil)
	if err != nil || len(got.Profile.Groups) > 0 {
		t.Errorf("a trace has no pages: %v, %v", got.Profile.Groups, err)
	}
}

func TestThreads(t *testing.T) {
	const profile = `{"nodes":[{"id":1,"callFrame":{"functionName":"f","url":"a.js"}}],"samples":[1,1],"timeDeltas":[0,5]}`
	entries, warnings, err := Threads(t.Context(), []File{
		fileOf("trace.json", []byte(twoThreads)),
		fileOf("out/CPU.20261121.090000.7.3.001.cpuprofile", []byte(profile)),
		fileOf("a.folded", []byte("a;b 5\n")),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []ThreadEntry{
		{File: "trace.json", Process: 1, Thread: 2, Name: "Main", Events: 1, Source: "SelfProfiling", ID: "0x2", Samples: 2, Micros: 20},
		{File: "trace.json", Process: 1, Thread: 2, Name: "Main", Events: 1, Source: "Internal", ID: "0x1", Samples: 3, Micros: 225, Chosen: true},
		{File: "trace.json", Process: 1, Thread: 3, Events: 1, Micros: 40},
		{File: "out/CPU.20261121.090000.7.3.001.cpuprofile", Process: 7, Thread: 3, Samples: 2, Micros: 10, Chosen: true},
	}
	if !slices.Equal(entries, want) {
		t.Errorf("got  %+v\nwant %+v", entries, want)
	}
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "a.folded: ") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestTimeFilesWithoutTimes(t *testing.T) {
	_, _, err := TimeFiles(t.Context(), []File{fileOf("a.folded", []byte("a;b 5\n"))}, Pick{}, nil)
	if want := "a.folded: a profile has no times, so it can not be shown in time order"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
