// Package watch finds changes of pages without being asked.
//
// Two detectors look at each page. The release detector compares the newest release with the one
// before, at the same hours ([query.Local.Compare] with its tests, at a stricter level, since it is
// asked again and again). The time detector looks for a point in time since which daily means are
// different, for causes that are no release. What they find are [Finding]s, each of one series. All
// findings with one cause become one [Change].
//
// The package does no I/O: an [Observer] reads.
package watch
