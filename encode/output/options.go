// Package output has the parts shared by the encoders of all formats: options, display names,
// and the comparison of two profiles.
package output

import (
	"cmp"
	"time"

	"github.com/fieldtrie/fieldtrie/trie"
)

// Options configures an encoder with data that is not part of the profile.
type Options struct {
	Since, Until time.Time // the selected time range; zero if there is none
	Rows         int       // how many functions a table shows; 0 means 40, less than 0 all
	Title        string    // the content of the profile, such as "/feed"; "" if unknown
	PerView      bool      // tables for people have times of a page view, not of all together
	Of           string    // the work that self times measure, "JavaScript" if empty: with events it is more
	// Threads are the threads of the profile's recordings, and BaseThreads the threads of Base. The
	// profile is the sum of the shown ones. Empty for page views, and if threads are unknown.
	Threads, BaseThreads Threads
	// OfThread returns the profile of one of Threads, for formats that let people choose; nil
	// if there is none.
	OfThread func(key string) *trie.Profile
	// Base is the profile to compare with; nil if there is none. Only formats with Compares
	// set use it.
	Base *trie.Profile
	// Selection and BaseSelection describe the selected data of the profile and of Base, such
	// as "/feed with release=B"; "" if unknown.
	Selection, BaseSelection string
	// Template is the document for format html; package web has it.
	Template []byte
}

// Subject names the work that self times measure.
func (o Options) Subject() string { return cmp.Or(o.Of, "JavaScript") }

// RootName returns the display name of a chart's root. (root) is its name in the profiles of
// browsers.
func (o Options) RootName() string {
	if o.Title == "" {
		return "(root)"
	}
	return o.Title
}

// Alone returns o without a base, for formats that cannot compare.
func (o Options) Alone() Options {
	o.Base = nil
	return o
}
