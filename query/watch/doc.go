// Package watch finds changes of pages automatically.
//
// Two detectors test each page. The release detector compares the newest release with the one
// before, at the same hours. It uses [query.Local.Compare] and its tests, at a stricter level
// because the test is repeated. The time detector looks for a day from which daily means differ, to
// find changes that no release caused. Each [Finding] of a detector is about one series. All
// findings with one cause become one [Change].
//
// The package does no I/O: an [Observer] reads the data.
package watch
