package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// storeOfRollout creates a data directory with page views of releases. samples is the approximate
// number of samples of a page view, by release.
func storeOfRollout(t *testing.T, views int, samples map[string]int) string {
	t.Helper()
	dir := t.TempDir()
	s, end := storetest.OpenDirectory(t, dir, nil)
	rng := rand.New(rand.NewPCG(3, 2))
	var recs []store.Record
	for _, release := range slices.Sorted(maps.Keys(samples)) { // the same draws in each run
		mean := samples[release]
		for range views {
			tr := &trie.Trace{Trie: *trie.New()}
			tr.Context = trie.Context{Page: "/feed", ViewID: fmt.Sprintf("%016d", len(recs)), Release: release,
				Interval: 10_000}
			node := tr.Insert(trie.Frame{Name: "main", Resource: "https://x.example/app.js", Line: 1, Column: 1})
			for i := range mean + rng.IntN(11) - 5 {
				tr.Samples = append(tr.Samples, trie.Sample{Time: int64(i) * 10_000, Node: node})
			}
			payload, err := encode.EncodeTrace(tr)
			if err != nil {
				t.Fatal(err)
			}
			rec := store.Record{Pages: []string{"/feed"}, Payload: payload}
			copy(rec.ID.View[:], tr.Context.ViewID)
			recs = append(recs, rec)
		}
	}
	if _, err := s.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
	end()
	return dir
}

func TestVerdict(t *testing.T) {
	dir := storeOfRollout(t, 400, map[string]int{"a": 100, "same": 100, "slow": 120, "bit": 103})
	few := storeOfRollout(t, 20, map[string]int{"a": 100, "b": 100})
	var stdout bytes.Buffer
	ask := func(dir string, args ...string) error {
		stdout.Reset()
		return run(t.Context(), append([]string{"verdict", "--data", dir}, args...), strings.NewReader(""), &stdout,
			new(bytes.Buffer))
	}
	for _, x := range []struct {
		dir, release string
		status       int
		text         string
	}{
		{dir, "same", 0, "pass: JavaScript of a page view "},
		{dir, "slow", 3, "fail: JavaScript of a page view +20."},
		{dir, "bit", 4, "marginal: JavaScript of a page view +"},
		{few, "b", 5, "not yet: too few page views to detect changes: 100 are needed"},
		{dir, "none", 6, "not yet: "},
	} {
		for _, concurrent := range []string{"--concurrent=false", "--concurrent"} {
			err := ask(x.dir, "--page", "/feed", "--release", x.release, "--compare-release", "a", concurrent)
			text := x.text
			if concurrent == "--concurrent" && x.status >= 5 {
				text = "not yet: too few page views to detect changes"
			}
			if report(new(bytes.Buffer), err) != x.status || !strings.HasPrefix(stdout.String(), text) {
				t.Errorf("%s, %s: status %d, %v\n%s", x.release, concurrent, report(new(bytes.Buffer), err), err,
					stdout.String())
			}
		}
	}
	err := ask(few, "--release", "b", "--compare-release", "a", "--format", "json")
	var got decided
	if json.Unmarshal(stdout.Bytes(), &got) != nil || got.Word != "not yet" || got.Missing == nil ||
		got.Missing.B != 80 || got.Wait == nil || exitCode(err) != 5 {
		t.Errorf("%v\n%s", err, stdout.String())
	}
	if err := ask(few, "--format", "json"); json.Unmarshal(stdout.Bytes(), &got) != nil || got.Missing == nil ||
		got.Missing.B != 80 || exitCode(err) != 5 {
		t.Errorf("the newest release: %v\n%s", err, stdout.String())
	}
	for args, want := range map[string]string{
		"--compare-release a x":                 `unexpected argument "x"`,
		"--compare-release a --format pprof":    "known are text, json",
		"--compare-release a --limit 5":         `--limit "5" is not a percentage above 0 such as 5%`,
		"--compare-release a --vital-limit -1%": "is not a percentage",
		"--compare-release a --min-views 1":     "must be at least 2",
	} {
		if err := ask(dir, strings.Fields(args)...); exitCode(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", args, err, want)
		}
	}
	if err := ask(dir, "--help"); err != nil || !strings.Contains(stdout.String(), "Exit status: 0 pass") {
		t.Errorf("%v\n%s", err, stdout.String())
	}
}
