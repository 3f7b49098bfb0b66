package main

import (
	"strings"
	"testing"
)

// A figure that misses its target fails the run by name. A figure without a target never does.
func TestJudged(t *testing.T) {
	err := judged([]figure{{"a", 1, "ms", "<= 1"}, {"b", 1.1, "ms", "<= 1"}, {"c", 5, "times", ">= 6"},
		{"d", 6, "times", ">= 6"}, {"e", 9, "s", ""}, {"f", 9, "s", "1"}})
	if err == nil || !strings.Contains(err.Error(), "2 figures") || !strings.Contains(err.Error(),
		"b is 1.1 ms, not <= 1") || !strings.Contains(err.Error(), "c is 5 times") {
		t.Errorf("got %v", err)
	}
	if err := judged([]figure{{"a", 1, "ms", "<= x"}}); err == nil {
		t.Error("a target that is not a number is accepted")
	}
}
