// Package encode reads and writes the formats of the SDK and the store: Fieldtrie's own binary
// format, described in docs/format.md, and the JSON of the JS Self-Profiling API.
//
// The formats of other tools are in the packages below this one, a package for each family.
// Package formats has the table of all formats.
package encode

import "github.com/fieldtrie/fieldtrie/trie"

// Document is the content of one document. All fields but one are nil.
type Document struct {
	Trace     *trie.Trace
	Profile   *trie.Profile
	Recording *trie.Recording
}
