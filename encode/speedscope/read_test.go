package speedscope

import (
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
)

func TestDecodeSpeedscopeSampled(t *testing.T) {
	r, err := Decode(fixture.ImportFile(t, "speedscope-sampled.json"), input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	const anonymous, render = ";(anonymous) (https://x.example/app.js:1:1)", ";render (https://x.example/app.js:20:5)"
	fixture.CheckLines(t, r, []string{
		// The times are rounded, so the third stack lasts 333 µs and not 333.4.
		"main 0/0 until 3300", "0" + anonymous + render, "333" + anonymous + render + ";native", "667",
		"1000" + anonymous + render,
		"worker 0/0 until 3000", "2000;native",
	}, []string{`profiles[2] ("heap"): skipped an allocation profile in bytes`})
}

func TestDecodeSpeedscopeEvented(t *testing.T) {
	r, err := Decode(fixture.ImportFile(t, "speedscope-evented.json"), input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	fixture.CheckLines(t, r, []string{
		"main 0/0 until 100", "0", "10;a (a.js);b (a.js:7)", "20;a (a.js)", "31;a (a.js);c", "41;a (a.js)", "82",
		"broken 0/0 until 100", "0;a (a.js)", "10;a (a.js);b (a.js:7)", "20;a (a.js);b (a.js:7)", "30;c",
	}, []string{
		`profiles[1] ("broken"): its values have no unit; µs are assumed`,
		`profiles[1] ("broken"): 1 events run backwards, taken at the time of the event before`,
		`profiles[1] ("broken"): 2 events close what is not the innermost open frame`,
		`profiles[1] ("broken"): 1 frames are not closed, taken as closed at the end`,
	})
}

// scopeDoc returns a document with one profile.
func scopeDoc(profile string) string {
	return `{"shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[{"name":"p",` + profile + `}]}`
}

func TestDecodeSpeedscopeRefuses(t *testing.T) {
	for _, c := range []struct{ in, err string }{
		{``, "malformed"},
		{`{}`, "malformed: profiles: missing"},
		{`{"profiles":[{"type":"sampled","unit":"bytes"}]}`, "only of bytes: allocation profiles hold no time"},
		{scopeDoc(`"type":"sampled","unit":"hours"`), `profiles[0].unit: "hours" is not known`},
		{scopeDoc(`"type":"flat","unit":"none"`), `profiles[0].type: "flat" is not known`},
		{scopeDoc(`"type":"sampled","unit":"none","samples":[[2]],"weights":[1]`),
			"profiles[0].samples[0]: not the number of one of 2 frames"},
		{scopeDoc(`"type":"sampled","unit":"none","samples":[[-1]],"weights":[1]`), "profiles[0].samples[0]"},
		{scopeDoc(`"type":"sampled","unit":"none","samples":[[1]],"weights":[]`), "0 weights for 1 samples"},
		{scopeDoc(`"type":"sampled","unit":"none","samples":[[1],[0]],"weights":[1,-1]`),
			"profiles[0].weights[1]: below zero"},
		{scopeDoc(`"type":"sampled","unit":"none","samples":[[1]],"weights":[1e300]`), "a time is out of range"},
		{scopeDoc(`"type":"sampled","unit":"none","samples":[[1]],"weights":[1e999]`), "a time is out of range"},
		{scopeDoc(`"type":"sampled","unit":"none","startValue":1e999,"samples":[[1]],"weights":[1]`),
			"a time is out of range"},
		{scopeDoc(`"type":"sampled","unit":"none","weights":[1],"events":[{"type":"O","frame":0,"at":0}]`), "weights"},
		{scopeDoc(`"type":"evented","unit":"none","samples":[[1]]`), "an evented profile with samples"},
		{scopeDoc(`"type":"evented","unit":"none","events":[{"type":"O","frame":0,"at":0},{"type":"X","frame":0,` +
			`"at":1}]`), `profiles[0].events[1].type: "X"`},
		{scopeDoc(`"type":"evented","unit":"none","events":[{"type":"O","frame":0}]`),
			"profiles[0].events[0]: no frame or no time"},
		{scopeDoc(`"type":"evented","unit":"none","events":[{"type":"O","frame":5,"at":0}]`),
			"profiles[0].events[0]: not the number"},
		{scopeDoc(`"type":"sampled","unit":"none","samples":[[0,0,0,0,0]],"weights":[1]`), "too large: profiles[0]"},
		{scopeDoc(`"type":"sampled","unit":"none","samples":[[],[],[],[],[]],"weights":[1]`), "more than 4 samples"},
		{`{"shared":{"frames":[{},{},{},{},{}]},"profiles":[]}`, "too large: shared.frames"},
		{`{"shared":{"frames":[{"name":"` + strings.Repeat("x", 101) + `"}]},"profiles":[]}`,
			"too large: shared.frames[0].name"},
	} {
		_, err := Decode([]byte(c.in), input.Limits{Samples: 4, Nodes: 4, Frames: 4, StringBytes: 100})
		if err == nil || !strings.Contains(err.Error(), c.err) || input.KindOf(err) == 0 {
			t.Errorf("%.80s: got %v, want %s", c.in, err, c.err)
		}
	}
}

// TestDecodeSpeedscopeTime has many closes of a frame that is not open, below a deep stack: no
// close may cost a scan of the whole stack.
func TestDecodeSpeedscopeTime(t *testing.T) {
	const n = 200_000
	events := strings.Repeat(`{"type":"O","frame":0,"at":0},`, n) + strings.Repeat(`{"type":"C","frame":1,"at":1},`, n)
	doc := scopeDoc(`"type":"evented","unit":"none","events":[` + strings.TrimSuffix(events, ",") + `]`)
	r, err := Decode([]byte(doc), input.FileLimits())
	if err != nil || len(r.Warnings) != 3 {
		t.Fatal(err, r)
	}
}

func TestIsSpeedscope(t *testing.T) {
	for _, name := range []string{"speedscope-sampled.json", "speedscope-evented.json"} {
		data := fixture.ImportFile(t, name)
		for _, n := range []int{len(data), 200, 400} {
			if !Detect(data[:n]) {
				t.Errorf("%s: %d bytes are not recognised", name, n)
			}
		}
	}
	for in, want := range map[string]bool{
		`{"shared":{"frames":[{"na`: true,
		`{"profiles":[{"type":"sampled","name":"x","unit":"none","startValue":1`: true,
		`{"profiles":[{"name":"x"}],"shared":{"stringArray":[]}}`:                false,
		`{"$schema":null,"shared":[],"profiles":3,"x":{"frames":[]}}`:            false,
		`{"profiles":[1,{"startValue":1}]}`:                                      false,
		`[{"shared":{"frames":[]}}]`:                                             false,
		`{"nodes":[],"samples":[],"timeDeltas":[]}`:                              false,
		"": false, "a;b 1": false,
	} {
		if Detect([]byte(in)) != want {
			t.Errorf("%s: want %v", in, want)
		}
	}
}

func FuzzDecodeSpeedscope(f *testing.F) {
	for _, name := range []string{"speedscope-sampled.json", "speedscope-evented.json"} {
		f.Add(fixture.ImportFile(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Detect(data)
		fixture.FuzzRecording(t, data, Decode, input.KindOf)
	})
}
