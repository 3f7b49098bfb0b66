package file

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/folded"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
)

// twoThreads is a trace of a main thread with two profiles and events, and of a thread with events
// only.
const twoThreads = `[{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"Main"}},
{"ph":"P","name":"Profile","id":"0x2","pid":1,"tid":2,"ts":1000,"args":{"data":{"source":"SelfProfiling"}}},
{"ph":"P","name":"ProfileChunk","id":"0x2","pid":1,"tid":9,"ts":1300,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,` +
	`"callFrame":{"functionName":"g","url":"a.js"}}],"samples":[1,1]},"timeDeltas":[110,10]}}},
{"ph":"P","name":"Profile","id":"0x1","pid":1,"tid":2,"ts":1000,"args":{"data":{"source":"Internal"}}},
{"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":9,"ts":1300,"args":{"data":{"cpuProfile":{"nodes":[
 {"id":1,"callFrame":{"functionName":"f","url":"a.js"}},{"id":2,"callFrame":{"functionName":"(idle)"}},{"id":3,` +
	`"parent":1,"callFrame":{"functionName":"h","url":"a.js"}}],
 "samples":[1,3,2]},"timeDeltas":[100,100,50]}}},
{"ph":"X","name":"FunctionCall","pid":1,"tid":2,"ts":1050,"dur":190},
{"ph":"X","name":"sleep","pid":1,"tid":3,"ts":1100,"dur":40}]`

// foldedOf returns a profile as folded stacks.
func foldedOf(t *testing.T, p *trie.Profile) string {
	t.Helper()
	var b bytes.Buffer
	if err := folded.Encode(&b, p, output.Options{}); err != nil {
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
		{"events", Pick{Events: true},
			"FunctionCall 50\nFunctionCall;f (a.js) 100\nFunctionCall;f (a.js);h (a.js) 40\n", 1},
		{"another name", Pick{Rename: func(f trie.Frame) trie.Frame {
			return trie.Frame{Name: f.Resource}
		}}, "a.js 100\na.js;a.js 50\n", 1},
		{"folded", Pick{Parts: selection.Parts{By: "file"}}, "a.js 150\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Merge(t.Context(), []Input{file}, selection.Selection{}, tt.pick, nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := foldedOf(t, got.Result.Profile); text != tt.want ||
				len(got.Result.Stats.Warnings) != tt.warnings {
				t.Errorf("got\n%s%q, want\n%s%d warnings", text, got.Result.Stats.Warnings, tt.want, tt.warnings)
			}
			// time order does not change total times
			lines, _, err := Timelines(t.Context(), []Input{file}, tt.pick, nil)
			if err != nil {
				t.Fatal(err)
			}
			var timed, merged int64
			for _, l := range lines {
				timed += l.Self()
			}
			flat, _ := got.Result.Profile.Flat()
			for _, w := range flat {
				merged += w.Self
			}
			if timed != merged {
				t.Errorf("%d µs in time order, %d merged", timed, merged)
			}
		})
	}
	for want, pick := range map[string]Pick{
		"no thread Nobody in trace.json; --list threads shows them":  {Threads: []string{"Main", "Nobody"}},
		"no profile Nobody in trace.json; --list threads shows them": {Profile: "Nobody"},
	} {
		if _, err := Merge(t.Context(), []Input{file}, selection.Selection{}, pick, nil); err == nil ||
			err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// Separate threads have a label, by which they can be selected.
	got, err := Merge(t.Context(), []Input{file}, selection.Selection{GroupBy: selection.AllGroups()},
		Pick{Threads: []string{"2", "3"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, g := range got.Result.Profile.Groups {
		labels = append(labels, g.Labels.Value("thread"))
	}
	if slices.Sort(labels); !slices.Equal(labels, []string{"1/3", "Main 1/2"}) {
		t.Errorf("labels %q", labels)
	}
	got, err = Merge(t.Context(), []Input{file}, selection.Selection{Page: "/feed"}, Pick{}, nil)
	if err != nil || len(got.Result.Profile.Groups) > 0 {
		t.Errorf("a trace has no pages: %v, %v", got.Result.Profile.Groups, err)
	}
}

func TestThreads(t *testing.T) {
	const profile = `{"nodes":[{"id":1,"callFrame":{"functionName":"f","url":"a.js"}}],"samples":[1,1],` +
		`"timeDeltas":[0,5]}`
	entries, warnings, err := Threads(t.Context(), []Input{
		fileOf("trace.json", []byte(twoThreads)),
		fileOf("out/CPU.20261121.090000.7.3.001.cpuprofile", []byte(profile)),
		fileOf("a.folded", []byte("a;b 5\n")),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []ThreadEntry{
		{File: "trace.json", Process: 1, Thread: 2, Name: "Main", Events: 1, Source: "Internal", ID: "0x1", Samples: 3,
			Micros: 225, Spent: output.Spent{JavaScript: 150, Idle: 75}, Chosen: true, Main: true},
		{File: "trace.json", Process: 1, Thread: 2, Name: "Main", Events: 1, Source: "SelfProfiling", ID: "0x2",
			Samples: 2, Micros: 20, Spent: output.Spent{JavaScript: 20}},
		{File: "trace.json", Process: 1, Thread: 3, Events: 1, Micros: 40},
		{File: "out/CPU.20261121.090000.7.3.001.cpuprofile", Process: 7, Thread: 3, Samples: 2, Micros: 10,
			Spent: output.Spent{JavaScript: 10}, Chosen: true, Main: true},
	}
	if !slices.Equal(entries, want) {
		t.Errorf("got  %+v\nwant %+v", entries, want)
	}
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "a.folded: ") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestTimeFilesWithoutTimes(t *testing.T) {
	_, _, err := Timelines(t.Context(), []Input{fileOf("a.folded", []byte("a;b 5\n"))}, Pick{}, nil)
	if want := "a.folded: a profile has no times, so it cannot be shown in time order"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// oneAfterTheOther is a trace of a thread that was profiled twice, within one task.
const oneAfterTheOther = `[{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"Main"}},
{"ph":"P","name":"Profile","id":"0x2","pid":1,"tid":2,"ts":1000,"args":{"data":{}}},
{"ph":"P","name":"ProfileChunk","id":"0x2","pid":1,"tid":9,"ts":1300,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,` +
	`"callFrame":{"functionName":"g","url":"b.js"}}],"samples":[1,1]},"timeDeltas":[500,100]}}},
{"ph":"P","name":"Profile","id":"0x1","pid":1,"tid":2,"ts":1000,"args":{"data":{}}},
{"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":9,"ts":1300,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,` +
	`"callFrame":{"functionName":"f","url":"a.js"}}],"samples":[1,1]},"timeDeltas":[100,100]}}},
{"ph":"X","name":"RunTask","pid":1,"tid":2,"ts":1050,"dur":1000},
{"ph":"X","name":"FunctionCall","pid":1,"tid":2,"ts":1060,"dur":940},
{"ph":"X","name":"Layout","pid":1,"tid":2,"ts":1110,"dur":10},
{"ph":"X","name":"Layout","pid":1,"tid":2,"ts":1610,"dur":10}]`

func TestPickOneAfterTheOther(t *testing.T) {
	file := fileOf("trace.json", []byte(oneAfterTheOther))
	for _, tt := range []struct {
		pick Pick
		want string
	}{
		{Pick{}, "f (a.js) 200\ng (b.js) 200\n"},
		{Pick{Profile: "0x2"}, "g (b.js) 200\n"},
		{Pick{Events: true}, "RunTask 60\nRunTask;FunctionCall 540\nRunTask;FunctionCall;f (a.js) " +
			"190\nRunTask;FunctionCall;f (a.js);Layout 10\n" +
			"RunTask;FunctionCall;g (b.js) 190\nRunTask;FunctionCall;g (b.js);Layout 10\n"},
	} {
		got, err := Merge(t.Context(), []Input{file}, selection.Selection{}, tt.pick, nil)
		if err != nil || len(got.Result.Stats.Warnings) > 0 {
			t.Fatal(err, got.Result.Stats.Warnings)
		}
		if text := foldedOf(t, got.Result.Profile); text != tt.want {
			t.Errorf("%+v: got\n%swant\n%s", tt.pick, text, tt.want)
		}
		lines, _, err := Timelines(t.Context(), []Input{file}, tt.pick, nil)
		if err != nil || len(lines) != 1 || lines[0].Name != "Main" {
			t.Fatalf("%+v: %v, %v", tt.pick, lines, err)
		}
		tasks := 0
		for _, c := range lines[0].Calls {
			if lines[0].Frame(c.Node).Name == "RunTask" {
				tasks++
			}
		}
		if tt.pick.Events && (tasks != 1 || lines[0].Self() != 1000) {
			t.Errorf("%d tasks, %d µs", tasks, lines[0].Self())
		}
	}
}

// Requested threads and profiles are searched in all files, and in the labels of profiles.
func TestPickOverFiles(t *testing.T) {
	trace := fileOf("trace.json", []byte(twoThreads))
	grouped, err := Merge(t.Context(), []Input{trace}, selection.Selection{GroupBy: selection.AllGroups()},
		Pick{Threads: []string{"2", "3"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := encode.EncodeProfile(grouped.Result.Profile)
	if err != nil {
		t.Fatal(err)
	}
	merged, folded := fileOf("merged.trie", data), fileOf("a.folded", []byte("a;b 5\n"))
	field := fileOf("field.json",
		[]byte(`{"resources":[],"frames":[{"name":"x"}],"stacks":[{"frameId":0}],"samples":[{"timestamp":0,`+
			`"stackId":0}]}`))
	for _, tt := range []struct {
		files []Input
		pick  Pick
		want  string
	}{
		{[]Input{trace, folded, field}, Pick{Threads: []string{"Other", "3"}},
			"error: no thread Other in trace.json, a.folded, field.json; --list threads shows them"},
		{[]Input{trace, folded, field}, Pick{Threads: []string{"3"}}, "sleep 40\n"},
		{[]Input{merged, folded}, Pick{Threads: []string{"Main"}}, "f (a.js) 100\nf (a.js);h (a.js) 50\n"},
		{[]Input{merged, folded}, Pick{Threads: []string{"Main 1/2"}}, "f (a.js) 100\nf (a.js);h (a.js) 50\n"},
		{[]Input{folded, merged}, Pick{Threads: []string{"1/3"}}, "sleep 40\n"},
		{[]Input{folded, merged}, Pick{Threads: []string{"3"}}, "sleep 40\n"},
		{[]Input{folded, merged, field}, Pick{Profile: "Internal"},
			"error: no profile Internal in a.folded, merged.trie, field.json; --list threads shows them"},
		{[]Input{folded, trace, field}, Pick{Profile: "SelfProfiling"}, "g (a.js) 20\n"},
		{[]Input{field}, Pick{Threads: []string{"x"}}, "error: no thread x in field.json; --list threads shows them"},
		{slices.Repeat([]Input{field}, 9), Pick{Threads: []string{"x"}},
			"error: no thread x in 9 files; --list threads shows them"},
	} {
		got, err := Merge(t.Context(), tt.files, selection.Selection{}, tt.pick, nil)
		text := ""
		if err != nil {
			text = "error: " + err.Error()
		} else {
			text = foldedOf(t, got.Result.Profile)
		}
		if text != tt.want {
			t.Errorf("%+v: got\n%s\nwant\n%s", tt.pick, text, tt.want)
		}
	}
	if _, _, err := Timelines(t.Context(), []Input{field}, Pick{Threads: []string{"x"}}, nil); err == nil {
		t.Error("in time order: no error")
	}
	entries, _, err := Threads(t.Context(), []Input{merged}, nil)
	want := []ThreadEntry{
		{File: "merged.trie", Process: 1, Thread: 2, Name: "Main", Samples: 2, Micros: 150,
			Spent: output.Spent{JavaScript: 150, Idle: 75}, Chosen: true, Main: true},
		{File: "merged.trie", Process: 1, Thread: 3, Micros: 40, Chosen: true},
	}
	slices.SortFunc(entries, func(a, b ThreadEntry) int { return int(a.Thread - b.Thread) })
	if err != nil || !slices.Equal(entries, want) {
		t.Errorf("got %+v, %v", entries, err)
	}
}

func TestPickWarnings(t *testing.T) {
	const hits = `{"nodes":[{"id":1,"callFrame":{"functionName":"f","url":"a.js"},"hitCount":5}],"samples":[],` +
		`"timeDeltas":[]}`
	const two = `[{"ph":"P","name":"Profile","id":"0x1","pid":1,"tid":2,"ts":1000,` +
		`"args":{"data":{"source":"Internal"}}},
{"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":9,"ts":1300,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,` +
		`"callFrame":{"functionName":"f","url":"a.js"}}],"samples":[1,1]},"timeDeltas":[10,10]}}},
{"ph":"P","name":"Profile","id":"0x2","pid":1,"tid":3,"ts":1000,"args":{"data":{"source":"Inspector"}}},
{"ph":"P","name":"ProfileChunk","id":"0x2","pid":1,"tid":9,"ts":1300,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,` +
		`"callFrame":{"functionName":"f","url":"a.js"}}],"samples":[1,1]},"timeDeltas":[10,10]}}}]`
	for _, tt := range []struct {
		in   string
		pick Pick
		want string
	}{
		{hits, Pick{}, "x: no samples"},
		{two, Pick{}, ""},
		{two, Pick{Events: true}, "x: no events to merge"},
		{twoThreads, Pick{Events: true, Threads: []string{"3"}}, ""},
		{"a;b 5\n", Pick{Events: true}, "x: no events to merge"},
		{two, Pick{Profile: "Internal"}, "x: skipped thread 1/3: no profile Internal"},
		{two, Pick{Profile: "Internal", Threads: []string{"3"}}, "x: skipped thread 1/3: no profile Internal"},
	} {
		got, err := Merge(t.Context(), []Input{fileOf("x", []byte(tt.in))}, selection.Selection{}, tt.pick, nil)
		if text := strings.Join(got.Result.Stats.Warnings, "\n"); err != nil || text != tt.want {
			t.Errorf("%+v: got %q, %v, want %q", tt.pick, text, err, tt.want)
		}
	}
}

// Functions get the names of their packages before they are merged with events, which have no
// package: a function called by an event must not get the package of the function around the event.
func TestPickRewritesLast(t *testing.T) {
	const in = `[{"ph":"P","name":"Profile","id":"0x1","pid":1,"tid":2,"ts":1000,"args":{"data":{}}},
{"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":9,"ts":1300,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,` +
		`"callFrame":{"functionName":"f","url":"a.js"}},
 {"id":2,"parent":1,"callFrame":{"functionName":"g","url":"a.js"}}],"samples":[1,2,1,1]},"timeDeltas":[100,100,100,` +
		`100]}}},
{"ph":"X","name":"RunTask","pid":1,"tid":2,"ts":1050,"dur":400},
{"ph":"X","name":"FunctionCall","pid":1,"tid":2,"ts":1060,"dur":390},
{"ph":"X","name":"EventDispatch","pid":1,"tid":2,"ts":1150,"dur":100}]`
	pick := Pick{Events: true, Parts: selection.Parts{By: "file"}}
	const want = "RunTask 10\nRunTask;FunctionCall 40\nRunTask;FunctionCall;a.js " +
		"250\nRunTask;FunctionCall;a.js;EventDispatch;a.js 100\n"
	got, err := Merge(t.Context(), []Input{fileOf("x", []byte(in))}, selection.Selection{}, pick, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := foldedOf(t, got.Result.Profile); text != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
	lines, _, err := Timelines(t.Context(), []Input{fileOf("x", []byte(in))}, pick, nil)
	if err != nil || len(lines) != 1 || lines[0].Self() != 400 || len(lines[0].Calls) != 5 {
		t.Errorf("in time order: %+v, %v", lines, err)
	}
}

func TestNameThreads(t *testing.T) {
	for file, want := range map[string]string{
		"CPU.20261121.090000.7.3.001.cpuprofile":                              "7/3",
		`C:\out\CPU.20261121.090000.7.3.001.cpuprofile`:                       "7/3",
		"out/pb-ng-build-cpu-CPU.20250519.000215.90620.0.001.cpuprofile":      "90620/0",
		"out/aCPU.20250519.000215.90620.0.001.cpuprofile":                     "0/0",
		"out/CPU.20250519.000215.90620.0.001.cpuprofile.d/profile.cpuprofile": "0/0",
	} {
		r := &trie.Recording{Threads: make([]trie.Thread, 1)}
		nameThreads(file, r)
		if got := threadNumber(&r.Threads[0]); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}
