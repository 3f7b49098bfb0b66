package query

import "github.com/fieldtrie/fieldtrie/trie"

// having returns matchers for time with all of these labels; an empty value is that of one
// that is missing.
func having(labels trie.Labels) (all []Matcher) {
	for _, l := range labels {
		all = append(all, Matcher{Key: l.Key, Op: Equal, Value: l.Value})
	}
	return all
}
