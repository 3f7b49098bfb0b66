// Package output has what encoders of all formats share: options, names as they are shown, and
// the weights of a profile beside those of another one.
package output

import (
	"cmp"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Options says what an encoder of a profile can not learn from the profile.
type Options struct {
	Since, Until time.Time // the time that was asked for; zero if there was no such
	Rows         int       // how many functions a table shows; 0 means 40, less than 0 all
	Title        string    // what the profile is of, such as "/feed"; "" if nobody said
	Of           string    // what the self times are of, "JavaScript" if empty: with events it is more
	// Base is the profile that the one to be written is compared with; nil if it stands
	// alone. Only formats with Compares set look at it.
	Base *trie.Profile
	// Selection and BaseSelection say in words which part of what there is the profile and
	// Base are, such as "/feed with release=B"; "" if nobody said.
	Selection, BaseSelection string
	// Template is the document that format html puts the profile into; package web has it.
	Template []byte
}

// Subject says what self times are of.
func (o Options) Subject() string { return cmp.Or(o.Of, "JavaScript") }

// RootName returns what the root of a chart is called. (root) is its name in the
// profiles of browsers.
func (o Options) RootName() string {
	if o.Title == "" {
		return "(root)"
	}
	return o.Title
}

// Alone returns o without a base, for formats that can not compare.
func (o Options) Alone() Options {
	o.Base = nil
	return o
}
