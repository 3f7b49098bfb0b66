package site

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/test/simulate"
	"github.com/fieldtrie/fieldtrie/trie"
)

// page is one of recorded page views, each with its functions varied.
func page(t *testing.T) *simulate.Page {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/traces/*.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	var traces []*trie.Trace
	for _, name := range files {
		packed, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := encode.DecodeTraceJSON(text, encode.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, trace)
	}
	p, err := simulate.NewPage("/feed", traces[:1])
	if err != nil {
		t.Fatal(err)
	}
	return p.Vary(rand.New(rand.NewPCG(1, 1)), 12, 0.5)
}

// reports replays months, and returns how many reports are true and false, and how many of the
// planted changes were found.
func reports(t *testing.T, p *simulate.Page, seeds int, plant func(*Plan)) (right, wrong, found int, moved bool) {
	t.Helper()
	for seed := range seeds {
		plan := Month(p, 20_000, uint64(seed))
		plant(&plan)
		all, err := Run(New(plan), watch.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			switch {
			case c.Direction == watch.Moved:
				moved = true
			case plan.True(&c):
				right++
			default:
				wrong++
				t.Log(Describe(&c))
			}
		}
		for i := range plan.Effects {
			if _, ok := plan.Delay(i, all); ok {
				found++
			}
		}
	}
	return right, wrong, found, moved
}

// The detectors are silent on months without a change and on spikes, and find planted changes. If
// docs/benchmarks.md is right, 999 of 1,000 seeds stay within the bounds.
func TestMonths(t *testing.T) {
	p := page(t)
	const seeds = 4
	if right, wrong, _, _ := reports(t, p, 2*seeds, func(*Plan) {}); right+wrong > 2 {
		t.Errorf("%d reports without a change", right+wrong)
	}
	if right, wrong, _, _ := reports(t, p, seeds, (*Plan).Spike); right+wrong > 1 {
		t.Errorf("%d reports of spikes", right+wrong)
	}
	if right, wrong, found, _ := reports(t, p, seeds, (*Plan).Harm); found < 2*seeds-2 || wrong > 2 {
		t.Errorf("%d of %d harmful releases were found; %d reports are true, %d false", found, 2*seeds, right, wrong)
	}
	if _, _, found, _ := reports(t, p, seeds, (*Plan).Creep); found < seeds-1 {
		t.Errorf("%d of %d creeping changes were found", found, seeds)
	}
	if right, wrong, _, moved := reports(t, p, 2, func(p *Plan) {
		if !p.Refactor() {
			t.Fatal("no refactoring is possible")
		}
	}); !moved || right+wrong > 2 {
		t.Errorf("refactorings: %d reports, moved %t", right+wrong, moved)
	}
}

// Effects of browser versions are not reported as changes of releases, and a much slower version is
// reported as the cause.
func TestVersions(t *testing.T) {
	p := page(t)
	for seed := range uint64(2) {
		plan := Month(p, 5000, seed)
		plan.Browsers(0.03)
		found, err := Run(New(plan), watch.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range Reports(found) {
			t.Errorf("seed %d: %s", seed, Describe(&c))
		}
	}
	browser := 0
	for seed := range uint64(3) {
		plan := Month(p, 20_000, seed)
		plan.NewVersion(0.1)
		found, err := Run(New(plan), watch.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range Reports(found) {
			if c.Detector == watch.ByRelease {
				t.Errorf("seed %d: %s", seed, Describe(&c))
			}
			if slices.ContainsFunc(c.Causes, func(x watch.Cause) bool {
				return x.Kind == watch.CauseBrowser && x.Label.Value == "Chrome 158"
			}) {
				browser++
			}
		}
	}
	if browser == 0 {
		t.Error("no report has the browser as its cause")
	}
}
