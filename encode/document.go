package encode

import "github.com/fieldtrie/fieldtrie/trie"

// Document is what one document holds; the other fields are nil.
type Document struct {
	Trace     *trie.Trace
	Profile   *trie.Profile
	Recording *trie.Recording
}
