package compare_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/test/simulate"
	"github.com/fieldtrie/fieldtrie/trie"
)

// realPages reads the traces of the repository: one page view of each of twenty pages.
func realPages(t *testing.T) (all []*trie.Trace) {
	t.Helper()
	names, err := filepath.Glob(filepath.FromSlash("../../testdata/traces/*.json.gz"))
	if err != nil || len(names) == 0 {
		t.Fatal("no traces", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := encode.DecodeTraceJSON(text, encode.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, decoded)
	}
	return all
}

func scenario(views, runs int) simulate.Scenario {
	return simulate.Scenario{ViewsA: views, ViewsB: views, A: simulate.Devices(), B: simulate.Devices(), Sigma: 0.2,
		Runs: runs, Seed: 7}
}

// The limits in these tests are quantiles of binomial distributions, which one seed in a thousand
// exceeds. The seed is fixed; `bench --only compare` has the figures of many runs.

// TestFalseAlarms compares releases that differ only in their visitors.
func TestFalseAlarms(t *testing.T) {
	traces := realPages(t)
	const runs, atMost = 50, 0.05 + 3*0.031
	device := simulate.By{Device: true}
	for _, of := range traces[:3] {
		p, err := simulate.NewPage(of.Context.Page, []*trie.Trace{of})
		if err != nil {
			t.Fatal(err)
		}
		s := scenario(1500, runs)
		if got := s.Alarms(p, device)[0]; got.Any > atMost {
			t.Errorf("%s: false alarms in %.1f %% of runs: %+v", p.Name, 100*got.Any, got)
		}
		for d, share := range []float64{0.2, 0.4, 0.4} {
			s.B[d].Share = share
		}
		got := s.Alarms(p, device, simulate.By{})
		if got[0].Any > atMost {
			t.Errorf("%s: false alarms in %.1f %% of runs with another mix: %+v", p.Name, 100*got[0].Any, got[0])
		}
		if got[1].Any < 0.9 {
			t.Errorf("%s: the mix alone is found in %.1f %% of runs only", p.Name, 100*got[1].Any)
		}
	}
}

// TestPower adds a slowdown of 5 % to the heaviest function of a page. The function's time varies
// like that of devices and machines, because there is only one real view of each page here.
func TestPower(t *testing.T) {
	for _, of := range realPages(t)[:3] {
		p, err := simulate.NewPage(of.Context.Page, []*trie.Trace{of})
		if err != nil {
			t.Fatal(err)
		}
		x := scenario(5000, 40).Power(p, simulate.By{Device: true}, []int{0}, 1.05)[0]
		if x.Found < 0.9 {
			t.Errorf("%s: found in %.0f %% of runs: %+v", p.Name, 100*x.Found, x)
		}
	}
}

// TestRest slows down a whole page, and one function so much that the rest of all other functions
// changes. Functions that did not change themselves must not be reported.
func TestRest(t *testing.T) {
	const runs, atMost = 40, 0.05 + 3*0.035
	device := simulate.By{Device: true}
	for _, of := range realPages(t)[:3] {
		p, err := simulate.NewPageOfLengths(of.Context.Page, []*trie.Trace{of})
		if err != nil {
			t.Fatal(err)
		}
		same, slower := scenario(3000, runs), scenario(3000, runs)
		for i := range slower.B {
			slower.B[i].Factor *= 1.2
		}
		if x := slower.Alarms(p, device)[0]; x.Functions > atMost || x.Total < 1 || x.Contradicted > 0 {
			t.Errorf("%s: whole page slower: %+v", p.Name, x)
		}
		if x := same.Power(p, device, []int{0}, 1.5)[0]; x.False > atMost || x.Found < 0.9 {
			t.Errorf("%s: one function much slower: %+v", p.Name, x)
		}
	}
}

// TestPages compares all pages together, with strata by page and device. Without these strata, the
// variance between pages would hide everything else.
func TestPages(t *testing.T) {
	var pages []*simulate.Page
	for _, of := range realPages(t)[:6] {
		p, err := simulate.NewPage(of.Context.Page, []*trie.Trace{of})
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, p)
	}
	all := simulate.Mix("(all)", pages)
	s := scenario(10_000, 10)
	both := s.Power(all, simulate.By{Device: true, Page: true}, []int{0}, 1.05)[0]
	device := s.Power(all, simulate.By{Device: true}, []int{0}, 1.05)[0]
	if both.Found < 0.9 || both.Variation > 0.8*device.Variation {
		t.Errorf("by page and device %+v, by device %+v", both, device)
	}
}
