package main

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/fieldtrie/fieldtrie/query/cause"
	"github.com/fieldtrie/fieldtrie/test/simulate/releases"
)

// causeViews is the number of page views of each of the two releases.
const causeViews = 4_000

// causing draws changes with a planted cause, and counts how often the reported cause is the
// planted one.
func causing(seeds int, progress io.Writer) ([]figure, error) {
	var runs, first, three, quiet, silent int64
	for _, kind := range releases.Kinds() {
		var of, right, listed, said atomic.Int64
		forEach(seeds, func(seed int) {
			x, ok := releases.Draw(kind, uint64(seed), causeViews)
			if !ok {
				return
			}
			of.Add(1)
			causes, _ := cause.Of(&x.Change, &x.Evidence)
			if len(causes) > 0 {
				said.Add(1)
			}
			for i := range causes {
				if x.Right(&causes[i]) {
					listed.Add(1)
					if i == 0 {
						right.Add(1)
					}
					break
				}
			}
		})
		fmt.Fprintf(progress, "%-50s %4d changes: first %d, in three %d, reported %d\n", kind, of.Load(), right.Load(),
			listed.Load(), said.Load())
		if kind == releases.None || kind == releases.All {
			quiet, silent = quiet+of.Load(), silent+of.Load()-said.Load()
			continue
		}
		runs, first, three = runs+of.Load(), first+right.Load(), three+listed.Load()
	}
	return []figure{
		{"cause/changes", float64(runs), "changes with a cause", ""},
		{"cause/first", float64(first) / float64(max(runs, 1)), "of the changes: the first cause is right", ">= 0.9"},
		{"cause/in_three", float64(three) / float64(max(runs, 1)), "of them: it is one of the first three", ">= 0.95"},
		{"cause/silent", float64(silent) / float64(max(quiet, 1)), "of changes that no edit, label or call explains",
			">= 0.95"},
	}, nil
}
