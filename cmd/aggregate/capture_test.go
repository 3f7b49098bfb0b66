package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestCaptureUsage checks that mistakes on the command line are reported before a browser starts.
// The tests of package capture start a browser.
func TestCaptureUsage(t *testing.T) {
	for args, want := range map[string]string{
		"": "give one URL to visit", "http://a.example http://b.example": "give one URL to visit",
		"a.example":                     `URL "a.example": must begin with https://`,
		"--to daemon http://a.example":  `--to "daemon": must begin with https://`,
		"--runs 0 http://a.example":     "--runs 0: must be from 1",
		"--cpu 0.5 http://a.example":    "--cpu 0.5: must be from 1",
		"--settle 2m http://a.example":  "--settle 2m0s: must be at most 1m",
		"--page /feed http://a.example": "unknown flag: --page",
	} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), append([]string{"capture"}, strings.Fields(args)...), strings.NewReader(""),
			&stdout, &stderr)
		if exitCode(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", args, err, want)
		}
	}
	for args, want := range map[string]string{"--script nowhere.js http://a.example": "--script: open nowhere.js",
		"--chromium nowhere http://a.example": "no Chromium found: none of nowhere can be run"} {
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), append([]string{"capture"}, strings.Fields(args)...), strings.NewReader(""),
			&stdout, &stderr)
		if exitCode(err) != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", args, err, want)
		}
	}
	var stdout bytes.Buffer
	if err := run(t.Context(), []string{"capture", "--help"}, strings.NewReader(""), &stdout, &stdout); err != nil ||
		!strings.Contains(stdout.String(), "--cpu float") {
		t.Errorf("%v\n%s", err, stdout.String())
	}
	if err := run(t.Context(), []string{"report", "--lab", "--compare-release", "a"}, strings.NewReader(""), &stdout,
		&stdout); exitCode(err) != 2 || !strings.Contains(err.Error(), "--compare-release does not go with --lab") {
		t.Errorf("got %v", err)
	}
}
