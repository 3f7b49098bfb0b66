package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Sizes of a response with names.
const (
	answerBuilds = 4
	answerFrames = 5000 // of each build
	answerNodes  = 100_000
)

// namedResponses measures the cost of names in responses.
func namedResponses(ctx context.Context, traces []trace, dayTraces, rounds int, progress io.Writer) ([]figure, error) {
	library, p := largeResponse()
	var took []float64
	nodes := 0
	for range rounds {
		s := naming.New(library) // which has not looked at the uploads yet
		begin := time.Now()
		named, _ := s.Profile(p)
		took = append(took, 1000*time.Since(begin).Seconds())
		nodes = len(named.Nodes)
	}
	figures := []figure{
		{"names/answer_more_ms", median(took), "ms", "<= 30"},
		{"names/answer_nodes", float64(nodes), "nodes", ""},
	}
	fmt.Fprintf(progress, "bench: store a day of traces …\n")
	day, err := namedDay(ctx, traces, dayTraces, rounds)
	return append(figures, day...), err
}

// largeResponse returns a profile with frames of several builds of one program, and the tables
// of these builds.
func largeResponse() (*benchLibrary, *trie.Profile) {
	random := rand.New(rand.NewPCG(7, 8))
	library := &benchLibrary{tables: map[string]*symbols.Table{}}
	p := trie.NewProfile()
	var frames []trie.FrameID
	for b := range answerBuilds {
		t := &symbols.Table{Script: [32]byte{byte(b)}}
		for i := range 200 {
			t.Sources = append(t.Sources, symbols.Source{Name: fmt.Sprintf("src/part%d/file.ts", i)})
		}
		name := fmt.Sprintf("app-%08x.js", 0x3bc00000+b)
		for i := range answerFrames {
			f := symbols.Function{Line: 1, Column: uint32(100*i + b + 1), Minified: fmt.Sprintf("a%d",
				(i*7+b)%answerFrames), Name: fmt.Sprintf("function%d", i),
				Source: int32(i % 200), SourceLine: uint32(i + b), SourceColumn: 3, Key: uint64(i + 1),
				Way: symbols.Start}
			t.Functions = append(t.Functions, f)
			frames = append(frames, p.Intern(trie.Frame{Name: f.Minified, Resource: "https://site.example/" + name,
				Line: f.Line, Column: f.Column}))
		}
		key := hex.EncodeToString(t.Script[:])
		library.tables[key] = stored(t)
		library.uploads = append(library.uploads, symbols.Upload{Release: name, Scripts: []symbols.Script{{Path: name,
			SHA256: key}}})
	}
	for len(p.Nodes) < answerNodes {
		parent := trie.NodeID(random.IntN(len(p.Nodes)))
		build := random.IntN(answerBuilds)
		if parent != trie.Root {
			build = int(p.Nodes[parent].Frame) / answerFrames
		}
		n := p.Child(parent, frames[build*answerFrames+random.IntN(answerFrames)])
		p.Add(nil, n, trie.Weight{Self: 10_000, Samples: 1, Reach: 1})
	}
	p.Group(nil).Coverage = trie.Coverage{Views: 1000, Traces: 1000}
	p.Views, p.Traces = 1000, 1000
	return library, p
}

// stored returns a table as it is read from the store.
func stored(t *symbols.Table) *symbols.Table {
	var text bytes.Buffer
	if err := symbols.Encode(&text, t); err != nil {
		panic(err) // impossible, the table was built here
	}
	t, err := symbols.Decode(&text)
	if err != nil {
		panic(err)
	}
	return t
}

// namedDay measures the query of a day with and without names, in turns, and again once a
// response is cached.
func namedDay(ctx context.Context, traces []trace, dayTraces, rounds int) (figures []figure, err error) {
	replayed, err := newReplay(traces)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fieldtrie-bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, err := fillDay(ctx, replayed, filepath.Join(dir, "day"), dayTraces)
	if err != nil {
		return nil, err
	}
	r, err := f.reader(ctx)
	if err != nil {
		return nil, err
	}
	page := replayed.decoded[0].Context.Page
	sel := selection.Selection{Page: page, Since: f.now.Add(-24 * time.Hour)}
	recent, stop := context.WithCancel(ctx)
	defer stop()
	kept := query.NewResponseCache(recent)
	ask := func(s *naming.Symbolizer, lag time.Duration) (float64, error) {
		sel.Lag = lag
		begin := time.Now()
		result, err := query.Local{Reader: r, Symbols: s, Responses: kept}.Profile(ctx, sel, nil)
		if err == nil && s != nil && (result.Stats.Names == nil ||
			result.Stats.Names.Named*10 < result.Stats.Names.Self*9) {
			return 0, fmt.Errorf("the result is not named: %+v", result.Stats.Names)
		}
		return 1000 * time.Since(begin).Seconds(), err
	}
	one, several := naming.New(fieldLibrary(replayed.decoded, 1)), naming.New(fieldLibrary(replayed.decoded, 2))
	var raw, named, byRelease, cached []float64
	for i := range rounds + 1 {
		for _, x := range []struct {
			of  *naming.Symbolizer
			lag time.Duration
			to  *[]float64
		}{{nil, 0, &raw}, {one, 0, &named}, {several, 0, &byRelease}, {one, time.Hour, &cached}} {
			ms, err := ask(x.of, x.lag)
			if err != nil {
				return nil, err
			}
			if i > 0 { // the first query reads from disk
				*x.to = append(*x.to, ms)
			}
		}
	}
	return []figure{
		{"names/day_ms", median(raw), "ms", ""},
		{"names/day_named_vs_raw", median(named) / median(raw), "times the time", "<= 1.5"},
		{"names/day_named_by_release_vs_raw", median(byRelease) / median(raw), "times the time", "<= 1.5"},
		{"names/day_named_kept_ms", median(cached), "ms", "<= 2"},
	}, nil
}

// fieldLibrary returns tables with all functions of traces for several builds, with different
// scripts but the same names. Then the release matters for each frame.
func fieldLibrary(traces []*trie.Trace, builds int) *benchLibrary {
	byScript := map[string]map[trie.Frame]bool{}
	releases := map[string]bool{}
	for _, t := range traces {
		releases[t.Context.Release] = true
		for i := range t.Frames {
			f := t.FrameOf(trie.FrameID(i))
			if f.Resource == "" || f.Line == 0 {
				continue
			}
			if byScript[f.Resource] == nil {
				byScript[f.Resource] = map[trie.Frame]bool{}
			}
			byScript[f.Resource][f] = true
		}
	}
	library := &benchLibrary{tables: map[string]*symbols.Table{}}
	for b := range builds {
		u := symbols.Upload{Release: fmt.Sprint(b)}
		if len(releases) == 1 && b == 0 {
			for r := range releases {
				u.Release = r
			}
		}
		number := 0
		for resource, frames := range byScript {
			t := fieldTable(resource, frames)
			binary.BigEndian.PutUint64(t.Script[:], uint64(number)<<8|uint64(b))
			number++
			key := hex.EncodeToString(t.Script[:])
			library.tables[key] = stored(t)
			path := resource
			if u, err := url.Parse(resource); err == nil && u.Path != "" {
				path = strings.TrimPrefix(u.Path, "/")
			}
			u.Scripts = append(u.Scripts, symbols.Script{Path: path, SHA256: key})
		}
		library.uploads = append(library.uploads, u)
	}
	return library
}

// fieldTable returns a table in which the frames are functions, with names such as readable_a and
// the same places in a source.
func fieldTable(resource string, frames map[trie.Frame]bool) *symbols.Table {
	t := &symbols.Table{Sources: []symbols.Source{{Name: "src/" + filepath.Base(resource) + ".ts"}}}
	for f := range frames {
		t.Functions = append(t.Functions, symbols.Function{Line: f.Line, Column: f.Column, Minified: f.Name,
			Name:       "readable_" + f.Name,
			SourceLine: f.Line, SourceColumn: f.Column,
			Key: uint64(len(resource))<<48 ^ uint64(f.Line)<<32 ^ uint64(f.Column) | 1<<62, Way: symbols.Start})
	}
	slices.SortFunc(t.Functions, func(a, b symbols.Function) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return t
}
