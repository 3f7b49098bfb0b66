package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// storeOfRelease creates a data directory with some page views of the release r1.
func storeOfRelease(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, end := storetest.OpenDirectory(t, dir, nil)
	var recs []store.Record
	for n := range 3 {
		tr := &trie.Trace{Trie: *trie.New()}
		tr.Context = trie.Context{Page: "/feed", ViewID: fmt.Sprintf("%016d", n), Release: "r1", Interval: 10_000}
		tr.Samples = []trie.Sample{{Node: tr.Insert(trie.Frame{Name: "main", Resource: "https://x.example/app.js",
			Line: 1, Column: 1})}}
		payload, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		rec := store.Record{Pages: []string{"/feed"}, Payload: payload}
		copy(rec.ID.View[:], tr.Context.ViewID)
		recs = append(recs, rec)
	}
	if _, err := s.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
	end()
	return dir
}

// A comparison with an empty side fails with an error that names the side, and writes no table.
// JSON is written anyway.
func TestCompareWithNothing(t *testing.T) {
	dir := storeOfRelease(t)
	for _, test := range []struct{ args, want string }{
		{"--compare-release r9", "nothing to compare with: no page views with release=r9 from "},
		{"--since 24h --compare-since 48h", "nothing to compare with: no page views from "},
		{"--release r9 --compare-release r1", "no traces with release=r9 in the last 24h"},
	} {
		for _, format := range []string{"table", "json"} {
			var stdout, stderr bytes.Buffer
			args := append(strings.Fields(test.args), "--data", dir, "--format", format)
			err := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
			if err == nil || exitCode(err) != 1 || !strings.HasPrefix(err.Error(), test.want) ||
				strings.Contains(stderr.String(), "too few") {
				t.Errorf("%s as %s: %v, %s", test.args, format, err, &stderr)
			}
			if written := json.Valid(stdout.Bytes()); written != (format == "json") {
				t.Errorf("%s as %s: wrote %s", test.args, format, &stdout)
			}
		}
	}
}

// The titles of a comparison describe the selections of both sides.
func TestCompareNamesSides(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"--data", storeOfRelease(t), "--compare-page", "/feed", "--since", ""}
	if err := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if want := "A: 3 page views for /feed\nB: 3 page views\n\n"; !strings.HasPrefix(stdout.String(), want) {
		t.Errorf("got %s, want %s", &stdout, want)
	}
	if !strings.Contains(stderr.String(), "too few page views") {
		t.Errorf("no warning: %s", &stderr)
	}
}

// Flags that a comparison table would ignore are rejected.
func TestCompareRefusesParts(t *testing.T) {
	for _, test := range []struct {
		args    string
		refused bool
	}{
		{"--by package", false}, {"--wasm nowhere.wasm", true}, {"--only app --format json", true},
		{"--by package --format top", false},
	} {
		var out bytes.Buffer
		err := run(t.Context(), append(strings.Fields(test.args), "--data", "nowhere", "--compare-release", "r1"),
			strings.NewReader(""), &out, &out)
		if got := exitCode(err) == 2; got != test.refused {
			t.Errorf("%s: %v", test.args, err)
		}
	}
}
