package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	gosourcemap "github.com/go-sourcemap/sourcemap"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
	"github.com/fieldtrie/fieldtrie/test/bundles"
	"github.com/fieldtrie/fieldtrie/trie"
)

// namedBuild is a build with its scripts' tables.
type namedBuild struct {
	bundles.Build
	scripts map[string]*namedScript
	samples map[bundles.Place]int // self samples of the trace
}

// names measures the quality and cost of names for functions of production builds, compared
// with the rules of other tools.
func names(ctx context.Context, traces []trace, dirs []string, dayTraces, rounds int,
	stderr io.Writer) ([]figure, error) {
	var builds []*namedBuild
	for _, dir := range dirs {
		read, err := bundles.Read(dir)
		if err != nil {
			return nil, err
		}
		for _, b := range read {
			x, err := newNamedBuild(b)
			if err != nil {
				return nil, fmt.Errorf("build %s: %w", b.Name, err)
			}
			builds = append(builds, x)
		}
	}
	all, err := namedResponses(ctx, traces, dayTraces, rounds, stderr)
	if err != nil || len(builds) == 0 {
		return all, err
	}
	for _, part := range []func([]*namedBuild, io.Writer) ([]figure, error){rightNames, sameKeys, otherTables,
		sizeOfTables} {
		figures, err := part(builds, stderr)
		if err != nil {
			return nil, err
		}
		all = append(all, figures...)
	}
	figures, err := speedOfTables(builds, rounds)
	return append(all, figures...), err
}

func newNamedBuild(b bundles.Build) (*namedBuild, error) {
	x := &namedBuild{Build: b, scripts: map[string]*namedScript{}, samples: map[bundles.Place]int{}}
	for _, s := range b.Scripts {
		script, err := newNamedScript(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		x.scripts[s.Name] = script
	}
	if b.Trace == nil {
		return x, nil
	}
	t, err := encode.DecodeTraceJSON(b.Trace, encode.Limits{})
	if err != nil {
		return nil, fmt.Errorf("trace.json: %w", err)
	}
	for _, s := range t.Samples {
		if f := t.Frame(s.Node); f.Resource != "" {
			x.samples[bundles.Place{Script: path.Base(f.Resource), Line: f.Line, Column: f.Column}]++
		}
	}
	return x, nil
}

// tally counts results.
type tally struct{ all, right, wrong int }

func (t *tally) add(n int, a answer, row bundles.Row) {
	t.all += n
	switch {
	case a.right(row):
		t.right += n
	case !a.kept:
		t.wrong += n
	}
}

func (t tally) percent() float64 { return 100 * float64(t.right) / float64(max(t.all, 1)) }

// rightNames counts for each rule the functions and the self samples with the right name.
func rightNames(builds []*namedBuild, stderr io.Writer) ([]figure, error) {
	rules := namingRules()
	w := tabwriter.NewWriter(stderr, 0, 0, 1, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "build\t")
	for _, r := range rules {
		fmt.Fprintf(w, "%s\t", r.name)
	}
	fmt.Fprintln(w, "functions\twrong\t")
	var figures []figure
	all, leastFunctions, leastSamples, mostWrong := tally{}, 100.0, 100.0, 0.0
	for _, b := range builds {
		functions, samples := make([]tally, len(rules)), make([]tally, len(rules))
		for name, s := range b.scripts {
			for _, row := range s.Truth {
				if !row.Known {
					continue
				}
				n := b.samples[bundles.Place{Script: name, Line: row.Line, Column: row.Column}]
				for i, r := range rules {
					a := r.of(s, row)
					functions[i].add(1, a, row)
					samples[i].add(n, a, row)
				}
			}
		}
		ours := len(rules) - 1
		if functions[ours].all == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\t", b.Name)
		for i, r := range rules {
			fmt.Fprintf(w, "%.1f\t", samples[i].percent())
			figures = append(figures, figure{fmt.Sprintf("names/%s/%s_samples", b.Name, strings.ReplaceAll(r.name, " ",
				"_")), samples[i].percent(), "%", ""})
		}
		wrong := 100 * float64(functions[ours].wrong) / float64(functions[ours].all)
		fmt.Fprintf(w, "%.2f\t%.2f\t\n", functions[ours].percent(), wrong)
		leastFunctions, mostWrong = min(leastFunctions, functions[ours].percent()), max(mostWrong, wrong)
		if samples[ours].all > 0 {
			leastSamples = min(leastSamples, samples[ours].percent())
		}
		all.all, all.right = all.all+samples[ours].all, all.right+samples[ours].right
	}
	return append(figures,
		figure{"names/functions_right_least", leastFunctions, "%", ">= 99"},
		figure{"names/samples_right_least", leastSamples, "%", ">= 97.5"},
		figure{"names/samples_right_all", all.percent(), "%", ">= 99"},
		figure{"names/functions_wrong_most", mostWrong, "%", "<= 0.5"}), w.Flush()
}

// older returns the build of the release before b.
func older(b *namedBuild, builds []*namedBuild) *namedBuild {
	for _, o := range builds {
		if len(b.Same) > 0 && o.Name == strings.Replace(b.Name, "-next-", "-", 1) && o != b {
			return o
		}
	}
	return nil
}

// libraryOf returns the tables of builds as a library, newest build first.
func libraryOf(builds ...*namedBuild) *benchLibrary {
	l := &benchLibrary{tables: map[string]*symbols.Table{}}
	for _, b := range builds {
		u := symbols.Upload{Release: b.Name}
		for name, s := range b.scripts {
			key := hex.EncodeToString(s.table.Script[:])
			l.tables[key] = s.table
			u.Scripts = append(u.Scripts, symbols.Script{Path: name, SHA256: key})
		}
		l.uploads = append(l.uploads, u)
	}
	return l
}

type benchLibrary struct {
	uploads []symbols.Upload
	tables  map[string]*symbols.Table
}

func (l *benchLibrary) Uploads() []symbols.Upload                { return l.uploads }
func (l *benchLibrary) Table(key string) (*symbols.Table, error) { return l.tables[key], nil }
func (l *benchLibrary) Generation() string                       { return "bench" }

func (b *namedBuild) frame(p bundles.Place) trie.Frame {
	f := b.scripts[p.Script].table.Find(p.Line, p.Column)
	if f == nil {
		return trie.Frame{}
	}
	return trie.Frame{Name: f.Minified, Resource: "https://site.example/" + p.Script, Line: p.Line, Column: p.Column}
}

// sameKeys counts the unchanged functions of two releases that become one frame in a response
// with both.
func sameKeys(builds []*namedBuild, _ io.Writer) ([]figure, error) {
	var figures []figure
	least := 100.0
	for _, b := range builds {
		old := older(b, builds)
		if old == nil {
			continue
		}
		n := naming.New(libraryOf(b, old)).Begin()
		pairs := make([][2]trie.Frame, len(b.Same))
		for i, p := range b.Same {
			pairs[i] = [2]trie.Frame{old.frame(p.Old), b.frame(p.New)}
			n.See(old.Name, pairs[i][0], 1)
			n.See(b.Name, pairs[i][1], 1)
		}
		named := n.Names()
		equal := 0
		for _, p := range pairs {
			if named.Of(old.Name, p[0]) == named.Of(b.Name, p[1]) {
				equal++
			}
		}
		share := 100 * float64(equal) / float64(len(pairs))
		least = min(least, share)
		figures = append(figures, figure{"names/" + b.Name + "/one_frame", share, "%", ""})
	}
	return append(figures, figure{"names/one_frame_least", least, "%", ">= 99.5"}), nil
}

// otherTables looks up frames in the tables of the next release as if these were theirs.
func otherTables(builds []*namedBuild, _ io.Writer) ([]figure, error) {
	random := rand.New(rand.NewPCG(1, 2))
	offered, refused, passed, wrong := 0, 0, 0, 0
	for _, b := range builds {
		old := older(b, builds)
		if old == nil {
			continue
		}
		for name, s := range old.scripts {
			if b.scripts[name] != nil && bytes.Equal(s.Text, b.scripts[name].Text) {
				continue // both builds have the same script
			}
			other := counterpart(name, b)
			if other == nil {
				continue
			}
			own, foreign := onlyTable(name, s.table), onlyTable(name, other.table)
			var frames []trie.Frame
			for p := range old.samples {
				if p.Script == name && !(p.Line == 1 && p.Column == 1) {
					frames = append(frames, old.frame(p))
				}
			}
			slices.SortFunc(frames, trie.CompareFrames)
			for _, size := range []int{10, 30, 100, len(frames)} {
				for range 50 {
					random.Shuffle(len(frames), func(i, j int) { frames[i], frames[j] = frames[j], frames[i] })
					some := frames[:min(size, len(frames))]
					right, got := nameAll(own, some), nameAll(foreign, some)
					offered++
					named := false
					for _, f := range some {
						if to := got.Of("", f); to != f {
							named = true
							passed++
							if x := right.Of("", f); x.Name != to.Name || x.Resource != to.Resource {
								wrong++
							}
						}
					}
					if !named {
						refused++
					}
				}
			}
		}
	}
	return []figure{
		{"names/other_build_refused", 100 * float64(refused) / float64(max(offered, 1)), "%", ">= 95"},
		{"names/other_build_wrong", 1000 * float64(wrong) / float64(max(passed, 1)), "of 1000", "<= 2"},
		{"names/other_build_offered", float64(offered), "times", ""},
	}, nil
}

// counterpart returns the script of a build with the same name except for its hash.
func counterpart(name string, b *namedBuild) *namedScript {
	stem := name[:strings.IndexAny(name, "-.")]
	for other, s := range b.scripts {
		if strings.HasPrefix(other, stem) {
			return s
		}
	}
	return nil
}

func onlyTable(script string, t *symbols.Table) *naming.Symbolizer {
	return naming.New(naming.NewMemory("", map[string]*symbols.Table{script: t}))
}

func nameAll(s *naming.Symbolizer, frames []trie.Frame) *naming.Names {
	n := s.Begin()
	for _, f := range frames {
		n.See("", f, 1)
	}
	return n.Names()
}

// sizeOfTables measures the stored size.
func sizeOfTables(builds []*namedBuild, _ io.Writer) ([]figure, error) {
	functions, stored, maps := 0, 0, 0
	for _, b := range builds {
		for _, s := range b.scripts {
			var text bytes.Buffer
			if err := symbols.Encode(&text, s.table); err != nil {
				return nil, err
			}
			functions, stored, maps = functions+len(s.table.Functions), stored+text.Len(), maps+len(s.Map)
		}
	}
	return []figure{
		{"names/bytes_a_function", float64(stored) / float64(functions), "bytes", "<= 30"},
		{"names/table_of_map", 100 * float64(stored) / float64(maps), "%", "<= 3"},
	}, nil
}

// speedOfTables measures making tables and looking up places, in turns with go-sourcemap.
func speedOfTables(builds []*namedBuild, rounds int) ([]figure, error) {
	var making, reading, finding, peerReading, peerFinding, allocated []float64
	for range rounds {
		var bytes int
		var took, parsed, peer time.Duration
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, b := range builds {
			for _, s := range b.scripts {
				bytes += len(s.Text) + len(s.Map)
				begin := time.Now()
				m, err := sourcemap.Read(s.Map, sourcemap.DefaultLimits())
				if err != nil {
					return nil, err
				}
				parsed += time.Since(begin)
				if _, _, err := symbols.Make(s.Text, m); err != nil {
					return nil, err
				}
				took += time.Since(begin)
			}
		}
		runtime.ReadMemStats(&after)
		allocated = append(allocated, float64(after.TotalAlloc-before.TotalAlloc)/float64(bytes))
		maps := 0
		largest := builds[0].scripts[builds[0].Scripts[0].Name]
		for _, b := range builds {
			for _, s := range b.scripts {
				begin := time.Now()
				if _, err := gosourcemap.Parse("", s.Map); err != nil {
					return nil, err
				}
				peer += time.Since(begin)
				maps += len(s.Map)
				if len(s.Map) > len(largest.Map) || len(s.Map) == len(largest.Map) && cmp.Less(s.Name, largest.Name) {
					largest = s
				}
			}
		}
		making = append(making, float64(bytes)/1e6/took.Seconds())
		reading = append(reading, float64(maps)/1e6/parsed.Seconds())
		peerReading = append(peerReading, float64(maps)/1e6/peer.Seconds())
		own, theirs, err := findTimes(largest)
		if err != nil {
			return nil, err
		}
		finding, peerFinding = append(finding, own), append(peerFinding, theirs)
	}
	return []figure{
		{"names/make_mb_per_s", median(making), "MB/s of script and map", ">= 25"},
		{"names/make_allocated", median(allocated), "MB per MB", "<= 6"},
		{"names/read_map_mb_per_s", median(reading), "MB/s", ""},
		{"names/read_map_go_sourcemap_mb_per_s", median(peerReading), "MB/s", ""},
		{"names/find_ns", median(finding), "ns", "<= 100"},
		{"names/find_go_sourcemap_ns", median(peerFinding), "ns", ""},
		{"names/find_vs_go_sourcemap", median(peerFinding) / median(finding), "times faster", ">= 5"},
	}, nil
}

// findTimes returns the nanoseconds of a lookup, here and in go-sourcemap.
func findTimes(s *namedScript) (own, peer float64, err error) {
	c, err := gosourcemap.Parse("", s.Map)
	if err != nil {
		return 0, 0, err
	}
	order := rand.New(rand.NewPCG(3, 4)).Perm(len(s.table.Functions))
	places := make([][2]uint32, len(order))
	for i, k := range order {
		places[i] = [2]uint32{s.table.Functions[k].Line, s.table.Functions[k].Column}
	}
	const times = 20
	begin := time.Now()
	for range times {
		for _, p := range places {
			if s.table.Find(p[0], p[1]) == nil {
				return 0, 0, fmt.Errorf("%s: a function of the table is not in the script", s.Name)
			}
		}
	}
	own = float64(time.Since(begin).Nanoseconds()) / float64(times*len(places))
	begin = time.Now()
	for _, p := range places {
		c.Source(int(p[0]), int(p[1])-1)
	}
	return own, float64(time.Since(begin).Nanoseconds()) / float64(len(places)), nil
}
