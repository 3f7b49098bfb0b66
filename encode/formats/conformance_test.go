package formats

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// fixtures returns the folder of real profiles and traces of other projects that is in the
// environment variable FIXTURES. They are not part of this project.
func fixtures(t *testing.T) string {
	dir := os.Getenv("FIXTURES")
	if dir == "" {
		t.Skip("FIXTURES names no folder with profiles of other projects")
	}
	return dir
}

// decodeFile reads a file of any format.
func decodeFile(t *testing.T, name string) encode.Document {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := Decode(f, encode.FileLimits())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return doc
}

// reference holds the results of an independent program for a file.
type reference struct {
	Fixture  string
	Kind     string
	Events   int
	Profile  *referenceProfile
	Profiles []referenceProfile
	Slices   *struct {
		Threads []struct {
			Pid, Tid          int64
			Thread            string
			Slices            int
			RootUs            float64
			Clipped           int
			TopSelf, TopTotal []referenceValue
		}
		ThreadCount int
	}
}

type referenceProfile struct {
	Pid, Tid        int64
	ID, Source      string
	Nodes, Usable   int
	Functions       int
	AfterLastMean   referenceTotals `json:"after_lastMean"`
	SpanUs          float64         `json:"spanUs_lastMinusFirst"`
	DistinctSampled int             `json:"distinctSampledNodes"`
}

type referenceTotals struct {
	Total             float64
	TopSelf, TopTotal []referenceValue
}

type referenceValue struct {
	Func string
	V    float64
}

// rootless are the files in which the time of the root is not compared, with the reasons.
var rootless = map[string]string{
	"trace/ff-test.chrome-unchunked.json": "it was cut down by hand: some nodes have no parent, and here they lie " +
		"at the root, as their time is real",
}

// TestConformance reads every file of FIXTURES and compares times and functions with the
// reference, to the microsecond.
func TestConformance(t *testing.T) {
	dir := fixtures(t)
	files, err := filepath.Glob(filepath.Join(dir, "reference", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no references in %s: %v", dir, err)
	}
	checked, profiles, threads := 0, 0, 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var ref reference
		if err := json.Unmarshal(data, &ref); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checked++
		t.Run(ref.Fixture, func(t *testing.T) {
			doc := decodeFile(t, filepath.Join(dir, ref.Fixture))
			if doc.Recording == nil {
				t.Fatalf("decoded as %+v", doc)
			}
			want := ref.Profiles
			if ref.Profile != nil {
				want = append(want, *ref.Profile)
			}
			for _, p := range want {
				if p.Usable > 0 {
					profiles++
					checkReference(t, findStream(doc.Recording, p), p, rootless[ref.Fixture] != "")
				}
				if len(want) == 1 && p.Usable > 0 {
					checkFunctions(t, filepath.Join(dir, ref.Fixture), findStream(doc.Recording, p), p.Functions)
				}
			}
			if ref.Slices != nil {
				for _, s := range ref.Slices.Threads {
					threads++
					i := slices.IndexFunc(doc.Recording.Threads, func(x trie.Thread) bool {
						return x.Process == s.Pid && x.ID == s.Tid
					})
					if i < 0 {
						t.Errorf("thread %d of %d is missing", s.Tid, s.Pid)
						continue
					}
					thread := &doc.Recording.Threads[i]
					if thread.Name != s.Thread {
						t.Errorf("thread %d of %d: got name %q, want %q", s.Tid, s.Pid, thread.Name, s.Thread)
					}
					events := slices.DeleteFunc(slices.Clone(thread.Events), func(e trie.Event) bool {
						return e.Measure
					})
					totals := totalsOf(nil, events)
					compareTotals(t, fmt.Sprintf("events of %d/%d", s.Pid, s.Tid), totals, s.RootUs, s.TopSelf,
						s.TopTotal, func(s string) string {
							return s
						})
				}
			}
		})
	}
	t.Logf("%d files, %d profiles, %d threads with events", checked, profiles, threads)
}

func findStream(r *trie.Recording, p referenceProfile) *trie.Trace {
	for _, thread := range r.Threads {
		for _, s := range thread.Streams {
			if p.Pid == thread.Process && p.Tid == thread.ID && (p.ID == s.ID || p.ID == "") {
				return s.Trace
			}
		}
	}
	return nil
}

// totals are self and total times by function.
type totals struct {
	self, total map[string]int64
	all         int64
}

// totalsOf sums the calls of a stream and events.
func totalsOf(s *trie.Stream, events []trie.Event) totals {
	m := trie.NewMerger()
	_ = m.AddCalls(s, events, m.Group(nil)) // with too many calls there are no totals
	return profileTotals(m.Profile(), func(f trie.Frame) string { return f.Name })
}

func profileTotals(p *trie.Profile, key func(trie.Frame) string) totals {
	out := totals{self: map[string]int64{}, total: map[string]int64{}}
	flat, _ := p.Flat()
	for n := range p.Preorder() {
		self := flat[n].Self
		out.all += self
		seen := map[string]bool{}
		for a := range p.Stack(n) {
			name := key(p.Frame(a))
			if a == n {
				out.self[name] += self
			}
			if !seen[name] {
				seen[name] = true
				out.total[name] += self
			}
		}
	}
	return out
}

var vmScript = regexp.MustCompile(`^VM\d+$`)

// v8Key returns the key of a function in the references: 0-based, -1 for unknown.
func v8Key(f trie.Frame) string {
	resource := f.Resource
	if vmScript.MatchString(resource) {
		resource = ""
	}
	return fmt.Sprintf("%s %s:%d:%d", cmp.Or(f.Name, output.Anonymous), resource, int64(f.Line)-1, int64(f.Column)-1)
}

// metaLine matches the names that V8 uses for time outside functions.
var metaLine = regexp.MustCompile(`^\((root|idle|program|garbage collector)\) :.*`)

func checkReference(t *testing.T, trace *trie.Trace, p referenceProfile, rootless bool) {
	t.Helper()
	if trace == nil {
		t.Errorf("profile %s of %d/%d is missing", p.ID, p.Pid, p.Tid)
		return
	}
	if len(trace.Samples) != p.Usable {
		t.Errorf("profile %s: %d samples, want %d", p.ID, len(trace.Samples), p.Usable)
	}
	got := totals{self: map[string]int64{}, total: map[string]int64{}}
	for i, s := range trace.Samples {
		end := trace.End
		if i+1 < len(trace.Samples) {
			end = trace.Samples[i+1].Time
		}
		w := end - s.Time
		got.all += w
		switch {
		case s.Marker == trie.MarkerGC: // on its own, as in the file
			got.self["(garbage collector)"] += w
			got.total["(garbage collector)"] += w
		case s.Marker == trie.MarkerIdle:
			got.self["(idle)"] += w
			got.total["(idle)"] += w
		case s.Node == trie.Root:
			got.self["(root)"] += w
		default:
			seen := map[string]bool{}
			for n := range trace.Stack(s.Node) {
				key := metaLine.ReplaceAllString(v8Key(trace.Frame(n)), "($1)")
				if n == s.Node {
					got.self[key] += w
				}
				if !seen[key] {
					seen[key] = true
					got.total[key] += w
				}
			}
		}
		got.total["(root)"] += w
	}
	if rootless {
		p.AfterLastMean.TopTotal = slices.DeleteFunc(p.AfterLastMean.TopTotal, func(v referenceValue) bool {
			return metaLine.ReplaceAllString(v.Func, "($1)") == "(root)"
		})
	}
	compareTotals(t, "profile "+p.ID, got, p.AfterLastMean.Total, p.AfterLastMean.TopSelf, p.AfterLastMean.TopTotal,
		func(s string) string { return metaLine.ReplaceAllString(s, "($1)") })
}

// checkFunctions checks the number of functions. The reference also counts nodes that V8 adds,
// which are not functions here.
func checkFunctions(t *testing.T, name string, trace *trie.Trace, want int) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := plain(bufio.NewReader(f), maxCompressions)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]bool{}
	for _, meta := range []string{"(root)", "(idle)", "(garbage collector)"} {
		if bytes.Contains(text, []byte(`"`+meta+`"`)) {
			functions[meta] = true
		}
	}
	for i := range trace.Frames {
		functions[v8Key(trace.FrameOf(trie.FrameID(i)))] = true
	}
	if len(functions) != want {
		t.Errorf("%d functions, want %d", len(functions), want)
	}
}

func compareTotals(t *testing.T, what string, got totals, total float64, self, all []referenceValue,
	key func(string) string) {
	t.Helper()
	near := func(a int64, b float64) bool { return math.Abs(float64(a)-b) <= 1 }
	if !near(got.all, total) {
		t.Errorf("%s: total %d µs, want %v", what, got.all, total)
	}
	for _, x := range self {
		if v := got.self[key(x.Func)]; !near(v, x.V) {
			t.Errorf("%s: self time of %s is %d µs, want %v", what, x.Func, v, x.V)
		}
	}
	for _, x := range all {
		if v := got.total[key(x.Func)]; !near(v, x.V) {
			t.Errorf("%s: total time of %s is %d µs, want %v", what, x.Func, v, x.V)
		}
	}
}

// TestConformanceConserves merges events and samples of every file: calls nest, and the self times
// sum to the time covered by the top calls, to the microsecond.
func TestConformanceConserves(t *testing.T) {
	dir := fixtures(t)
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	merged := 0
	for _, name := range files {
		if strings.Contains(name, "reference") || strings.Contains(filepath.Base(name), ".selfprofile.") {
			continue
		}
		doc := decodeFile(t, name)
		if doc.Recording == nil {
			continue
		}
		for i := range doc.Recording.Threads {
			thread := &doc.Recording.Threads[i]
			checkConserved(t, name, nil, thread.Events)
			for _, s := range thread.Streams {
				alone := checkConserved(t, name, &s, nil)
				checkSampled(t, name, s.Trace, alone)
				checkConserved(t, name, &s, thread.Events)
				merged++
			}
		}
	}
	t.Logf("%d files, %d streams merged with events", len(files), merged)
}

// callsOf returns the calls of s and events, and fails if there are too many.
func callsOf(t *testing.T, s *trie.Stream, events []trie.Event) *trie.Timeline {
	t.Helper()
	line, err := trie.Calls(s, events, trie.MaxCalls)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// checkConserved checks that the self times of calls sum to the time that the calls cover.
func checkConserved(t *testing.T, name string, s *trie.Stream, events []trie.Event) *trie.Timeline {
	t.Helper()
	l := callsOf(t, s, events)
	var covered, end int64
	end = math.MinInt64
	for _, c := range l.Calls {
		if c.Start >= end {
			covered, end = covered+c.End-c.Start, c.End
		} else if l.Nodes[c.Node].Parent == trie.Root || c.End > end {
			t.Errorf("%s: call %+v does not nest", name, c)
			return l
		}
	}
	if self := totalsOf(s, events).all; self != covered || l.Self() != covered {
		t.Errorf("%s: self times sum to %d µs, covered are %d", name, self, covered)
	}
	return l
}

// checkSampled checks that the calls of a stream take the time of its samples, exactly.
func checkSampled(t *testing.T, name string, trace *trie.Trace, l *trie.Timeline) {
	t.Helper()
	flat, _ := trace.Profile().Flat()
	var self int64
	for _, w := range flat {
		self += w.Self
	}
	if l.Self() != self {
		t.Errorf("%s: calls take %d µs, samples %d", name, l.Self(), self)
	}
}
