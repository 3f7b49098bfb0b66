package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query/file"
)

// printed returns the standard output of aggregate.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if err := run(t.Context(), args, nil, &out, &errs); err != nil {
		t.Fatalf("aggregate %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// mainThread returns the streams that aggregate uses for the main thread of a recording.
func mainThread(t *testing.T, name string) (main []file.ThreadEntry) {
	t.Helper()
	var all []file.ThreadEntry
	if err := json.Unmarshal([]byte(printed(t, "--list", "threads", "-f", "json", name)), &all); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(e file.ThreadEntry) bool { return !e.Main })
}

// reference holds the results of an independent program for a recording.
type reference struct {
	Fixture string
	Profile *referenceProfile
	// Profiles counts the profiles of a trace, Slices its events.
	Profiles []referenceProfile
	Slices   *struct {
		Threads []struct {
			Pid, Tid int64
			Thread   string
			RootUs   float64
		}
	}
}

type referenceProfile struct {
	Pid, Tid int64
	ID       string
	Source   string
	Usable   int
	Times    struct {
		Total   float64
		TopSelf []struct {
			Func string
			V    float64
		}
	} `json:"after_lastMean"`
}

// Names that the reference uses for time outside functions.
const (
	refRoot    = "(root)"
	refIdle    = "(idle)"
	refProgram = "(program)"
	refGC      = "(garbage collector)"
)

// without returns the time of p outside JavaScript by kind, and an upper bound for missing time,
// because the reference lists only the functions with the most time.
func (p *referenceProfile) without() (times map[string]float64, unknown float64) {
	times = map[string]float64{}
	for _, x := range p.Times.TopSelf {
		name, _, _ := strings.Cut(x.Func, " :")
		switch name {
		case refRoot, refIdle, refProgram, refGC:
			times[name] = x.V
		}
	}
	if len(p.Times.TopSelf) >= 20 {
		unknown = p.Times.TopSelf[len(p.Times.TopSelf)-1].V
	}
	return times, unknown
}

// TestMainThreadsMatchReference compares the JavaScript time of the main thread of the
// recordings in the folder that the environment variable FIXTURES names with what an independent
// program found in them.
func TestMainThreadsMatchReference(t *testing.T) {
	dir := os.Getenv("FIXTURES")
	if dir == "" {
		t.Skip("FIXTURES names no folder with recordings of other projects")
	}
	traces, profiles := 0, 0
	for _, kind := range []string{"trace", "cpuprofile", "recorded"} {
		names, err := filepath.Glob(filepath.Join(dir, "reference", kind+"__*.json"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no references of %s in %s: %v", kind, dir, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var ref reference
			if err := json.Unmarshal(data, &ref); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if kind == "cpuprofile" {
				profiles++
			} else {
				traces++
			}
			t.Run(ref.Fixture, func(t *testing.T) { ref.check(t, filepath.Join(dir, ref.Fixture)) })
		}
	}
	t.Logf("%d traces, %d profiles", traces, profiles)
}

func (ref *reference) check(t *testing.T, name string) {
	main := mainThread(t, name)
	all := ref.Profiles
	if ref.Profile != nil {
		all = append(all, *ref.Profile)
	}
	all = slices.DeleteFunc(all, func(p referenceProfile) bool { return p.Usable == 0 || p.Source == "SelfProfiling" })
	switch {
	case len(all) == 1:
		if len(main) != 1 {
			t.Fatalf("got %+v, want one main thread", main)
		}
		checkSpent(t, name, main[0], &all[0])
	case len(all) == 0 && ref.Slices != nil:
		most := 0.0
		for _, s := range ref.Slices.Threads {
			if s.Thread == "CrRendererMain" {
				most = max(most, s.RootUs)
			}
		}
		if most == 0 { // without a page: the thread with the most work
			for _, s := range ref.Slices.Threads {
				most = max(most, s.RootUs)
			}
		}
		if most == 0 && len(main) == 0 {
			return // nothing in it
		}
		if len(main) != 1 || math.Abs(float64(main[0].Micros)-most) > 1 {
			t.Fatalf("got %+v, want %v µs", main, most)
		}
		checkTop(t, name, fmt.Sprintf("%.1f ms of work", float64(main[0].Micros)/1000))
	case len(main) > 0:
		t.Errorf("got %+v, of %d profiles", main, len(all))
	}
}

// checkSpent compares how a main thread spent its time with the reference.
func checkSpent(t *testing.T, name string, got file.ThreadEntry, ref *referenceProfile) {
	other, unknown := ref.without()
	stackless := float64(got.Micros - got.JavaScript - got.Collecting - got.Program - got.Idle)
	script := ref.Times.Total
	for what, us := range map[string]float64{
		refRoot: stackless, refIdle: float64(got.Idle), refProgram: float64(got.Program),
		refGC: float64(got.Collecting),
	} {
		want, ok := other[what]
		if !ok && us <= unknown+1 {
			want = us // too little to be listed
		}
		if math.Abs(us-want) > 1 {
			t.Errorf("%s: got %v µs, want %v", what, us, want)
		}
		script -= want
	}
	if math.Abs(float64(got.JavaScript)-script) > 3 { // the reference has fractions of microseconds
		t.Errorf("JavaScript: got %d µs, want %v", got.JavaScript, script)
	}
	if got.Process != ref.Pid && ref.Pid != 0 || got.Thread != ref.Tid && ref.Tid != 0 {
		t.Errorf("got thread %d/%d, want %d/%d", got.Process, got.Thread, ref.Pid, ref.Tid)
	}
	if got.Micros > 0 {
		checkTop(t, name, fmt.Sprintf("%.1f ms of JavaScript", float64(got.JavaScript)/1000))
	}
}

// checkTop checks the first rows of the table for people.
func checkTop(t *testing.T, name, want string) {
	t.Helper()
	first, _, _ := strings.Cut(printed(t, "-f", "top", name), "\n")
	if !strings.Contains(first, ": "+want) {
		t.Errorf("got %q, want %q in it", first, want)
	}
}

// For the recordings of this project, -f top reports the sum over the functions of the main
// thread's export.
func TestMainThreadsOfOwnRecordings(t *testing.T) {
	names, err := filepath.Glob("../../testdata/recordings/*.gz")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	checked := 0
	for _, name := range names {
		if strings.Contains(name, ".selfprofile.") {
			continue // a page view
		}
		checked++
		main := mainThread(t, name)
		if len(main) != 1 || main[0].JavaScript == 0 {
			t.Fatalf("%s: got %+v", name, main)
		}
		var export struct {
			Functions []struct {
				Name string
				Self int64 `json:"self_us"`
			}
		}
		of := fmt.Sprintf("%d/%d", main[0].Process, main[0].Thread)
		if err := json.Unmarshal([]byte(printed(t, "-f", "json", "--thread", of, name)), &export); err != nil {
			t.Fatal(err)
		}
		sums := map[string]int64{}
		for _, f := range export.Functions {
			switch f.Name {
			case "(gc)", "(program)":
				sums[f.Name] += f.Self
			default:
				sums["JavaScript"] += f.Self
			}
		}
		want := map[string]int64{"JavaScript": main[0].JavaScript}
		for what, us := range map[string]int64{"(gc)": main[0].Collecting, "(program)": main[0].Program} {
			if us > 0 {
				want[what] = us
			}
		}
		if !maps.Equal(sums, want) {
			t.Errorf("%s: functions sum up to %v, threads to %v", name, sums, want)
		}
		checkTop(t, name, fmt.Sprintf("%.1f ms of JavaScript", float64(main[0].JavaScript)/1000))
		if text := printed(t, "-f", "top", name); strings.Contains(text, "page view") {
			t.Errorf("%s: a recording is no page view:\n%s", name, text)
		}
	}
	t.Logf("%d recordings", checked)
}
