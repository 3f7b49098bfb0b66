package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// TestChanges lists the changes of a data directory without a daemon, shows one, and tries to
// update it.
func TestChanges(t *testing.T) {
	const id = "94b7ca47cc2dee8a"
	dir := storeOfRelease(t)
	var stdout bytes.Buffer
	ask := func(args ...string) error {
		stdout.Reset()
		return run(t.Context(), append([]string{"changes", "--data", dir}, args...), strings.NewReader(""), &stdout,
			new(bytes.Buffer))
	}
	says := func(want string, args ...string) {
		t.Helper()
		if err := ask(args...); err != nil || !strings.Contains(stdout.String(), want) {
			t.Errorf("%q: %v\n%s", args, err, stdout.String())
		}
	}
	says("Pages have not been evaluated yet")
	n, end := storetest.OpenDirectory(t, dir, nil)
	r, now := changes.NewRegister(), time.Now()
	e := compare.Estimate{Value: 160, Low: new(112.0), High: new(208.0)}
	r.Apply(watch.Evaluation{Found: []watch.Change{{ID: id, Direction: watch.Slower, Detector: watch.ByRelease,
		Release: "r1", CompareRelease: "r0", Begin: now,
		What: watch.What{Kind: watch.OfFunction, Metric: "self", Function: &compare.Place{Name: "format\x1b[31m",
			Resource: "src/money.ts", Line: 7, Column: 1}},
		Causes: []watch.Cause{{Kind: watch.CauseEdited, Text: "it was edited"}},
		Pages:  []watch.PageChange{{Page: "/feed", Value: compare.Pair{A: 20, B: 180}, Change: e, Level: 0.95}}}}}, now,
		now)
	text, err := r.Encode(now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Changes().Save(t.Context(), text, ""); err != nil {
		t.Fatal(err)
	}
	end()
	says("slower     +160 ms  (+112 to +208)  /feed")
	says("r1     open")
	says("  " + id)
	says("became slower by 160 ms (+112 to +208) on /feed", id)
	says("it was edited", id)
	if strings.Contains(stdout.String(), "\x1b") {
		t.Error("a name from a browser reaches the terminal unescaped")
	}
	says("No changes match", "--page", "/other")
	says(`"id": "`+id, "--format", "json")
	for args, want := range map[string]string{
		"a b": `unexpected argument "b"`, "x": "is not the id of a change", "--acknowledge": "name a change",
		id + " --acknowledge --resolve": "only one at a time",
		id + " --note x":                "add the new state", id + " --expect-until 2020-01-01": "a future date",
		"--state none": "--state", "--format svg": "known are text, json",
	} {
		if err := ask(strings.Fields(args)...); exitCode(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", args, err, want)
		}
	}
	if err := ask("0123456789abcdef"); err == nil || !strings.Contains(err.Error(), "change 0123456789abcdef") {
		t.Errorf("an unknown change: %v", err)
	}
	if err := ask(id, "--acknowledge", "--note", "seen"); err == nil || !strings.Contains(err.Error(),
		"a daemon stores updates") {
		t.Errorf("without a daemon: %v", err)
	}
}
