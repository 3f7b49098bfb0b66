package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport writes reports of a store with a single release, and with a blown budget.
func TestReport(t *testing.T) {
	dir := storeOfRelease(t)
	budgets := filepath.Join(t.TempDir(), "budgets.yaml")
	if err := os.WriteFile(budgets,
		[]byte("budgets:\n  - {name: tight, page: /feed, metric: mean, limit: 1us, min_views: 1}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	ask := func(args ...string) error {
		stdout.Reset()
		stderr.Reset()
		return run(t.Context(), append([]string{"report", "--data", dir}, args...), strings.NewReader(""),
			&stdout, &stderr)
	}
	if err := ask("--release", "r1", "--compare-release", "r0"); err != nil || !strings.Contains(stdout.String(),
		"There are no page views of release r0 to compare with.") {
		t.Errorf("%v\n%s", err, stdout.String())
	}
	if err := ask("--release", "r1", "--compare-release", "r1"); err != nil || !strings.Contains(stdout.String(),
		"**Not known yet**: 3 and 3 page views. As measured: +0 ms") {
		t.Errorf("%v\n%s", err, stdout.String())
	}
	err := ask("--release", "r1", "--compare-release", "r1", "--min-views", "2", "--budgets", budgets, "--dashboard",
		"https://d.example/x/")
	if exitCode(err) != 3 || !strings.Contains(stdout.String(), "❌ | tight") || !strings.Contains(stdout.String(),
		"(https://d.example/x/compare?compare_release=r1&page=%2Ffeed&") {
		t.Errorf("%v\n%s", err, stdout.String())
	}
	if err := ask("--release", "r1", "--compare-release", "r0", "--format", "json"); err != nil ||
		!strings.HasPrefix(stdout.String(), "{") {
		t.Errorf("%v\n%s", err, stdout.String())
	}
	for args, want := range map[string]string{
		"--compare-release a x":              `unexpected argument "x"`,
		"--compare-release a --format pprof": "known are markdown, json",
		"--compare-release a --pages 0":      "--pages 0: must be from 1 to 100",
		"--compare-release a --dashboard d":  "must be a URL such as", "--stats": "unknown flag: --stats",
		"--compare-release a --min-views 1": "must be at least 2", "--compare-release a --addr h:1": "use one of them",
	} {
		if err := ask(strings.Fields(args)...); exitCode(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", args, err, want)
		}
	}
	if err := ask("--help"); err != nil || !strings.Contains(stdout.String(), "--compare-release RELEASE") {
		t.Errorf("%v\n%s", err, stdout.String())
	}
}
