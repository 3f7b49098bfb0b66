package compare

import (
	"cmp"
	"slices"
	"strings"
)

// ScriptChange is a third-party script whose URL changed.
type ScriptChange struct {
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Scripts pairs the scripts that only one side has by the stable part of their URLs.
func Scripts(before, after []string) []ScriptChange {
	out := []ScriptChange{}
	gone := map[string][]string{}
	for _, url := range before {
		if !slices.Contains(after, url) {
			gone[StableURL(url)] = append(gone[StableURL(url)], url)
		}
	}
	for _, url := range after {
		if slices.Contains(before, url) {
			continue
		}
		x := ScriptChange{After: url}
		if old := gone[StableURL(url)]; len(old) > 0 {
			x.Before, gone[StableURL(url)] = old[0], old[1:]
		}
		out = append(out, x)
	}
	for _, urls := range gone {
		for _, url := range urls {
			out = append(out, ScriptChange{Before: url})
		}
	}
	slices.SortFunc(out, func(a, b ScriptChange) int {
		return cmp.Or(strings.Compare(a.After, b.After), strings.Compare(a.Before, b.Before))
	})
	return out
}
