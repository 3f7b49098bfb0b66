// Package encode reads and writes what browsers send and the store keeps: Fieldtrie's own binary
// format, which docs/format.md describes, and the JSON of the JS Self-Profiling API.
//
// The formats of other tools are in the packages below this one, each family in one. Package
// formats has the table of all.
package encode

import "github.com/fieldtrie/fieldtrie/trie"

// Document is what one document holds; the other fields are nil.
type Document struct {
	Trace     *trie.Trace
	Profile   *trie.Profile
	Recording *trie.Recording
}
