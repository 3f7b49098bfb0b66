package store

import (
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// TagsOf returns the tags of a trace for the catalogue, and the number of tags that were left out
// because of the limits of a record. A catalogue can always be rebuilt, because the trace itself
// contains all of them.
func TagsOf(t *trie.Trace) (tags []Tag, left int) {
	add := func(key, value string) {
		tag := Tag{Key: key, Value: value}
		switch {
		case value == "" || slices.Contains(tags, tag):
		case len(tags) >= MaxTags || len(value) > MaxTagValue || strings.Contains(value, "\x00"):
			left++
		default:
			tags = append(tags, tag)
		}
	}
	add(rollup.KeyRelease, t.Context.Release)
	add(rollup.KeyEnvironment, t.Context.Environment)
	from, to := int64(0), int64(1) // the time that the samples represent, as in t.Pages
	if n := len(t.Samples); n > 0 {
		from, to = t.Samples[0].Time, t.Samples[n-1].Time+max(int64(t.Context.Interval), 1)
	}
	for _, s := range t.Context.Spans {
		if s.Kind == trie.SpanFeature && s.Length > 0 && s.Start < to && s.End() > from {
			add(rollup.KeyFeature, s.Name)
		}
	}
	return tags, left
}
