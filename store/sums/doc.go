// Package sums keeps the sums of closed hours and days as immutable files: one file for
// the hours of a day, 20261120.hours.sums, and one for the days of a month,
// 202611.days.sums. An hour here is the time of one partition of traces, whatever its
// length.
//
// A [Shelf] knows the files of one data directory. A [File] is read, also by ranges, and
// never changes. A [Writer] makes a new file out of the old one and one more hour or day,
// and puts it in the place of the old one by renaming.
//
// # A file
//
//	┌────────┬─────┬─────┬───┬─────┬────────┬───┬───────┬─────────┐
//	│ header │ run │ run │ … │ run │ counts │ … │ index │ trailer │
//	└────────┴─────┴─────┴───┴─────┴────────┴───┴───────┴─────────┘
//	run      │ directory │ stacks … │ narrow … │ wide … │ details … │
//
// A run has all of one page: its stack table in pieces, which the sums of all hours share,
// and the records of each level, by start. Runs are sorted by page, and nothing lies
// between them, so the index needs lengths alone. Counts are the catalogue of each hour.
// The trailer says where the index is; the index says what hours there are, where their
// counts are and where the run of each page is; the directory says where its blocks are.
// The header repeats what hours there are, for a file that has lost its end.
//
// Every byte is covered by a CRC-32C that is checked before the byte is believed. The
// checksum of a block also covers the span and start of the file, the page, the kind and
// the hour, so a block that turns up in another place is found out. docs/sums.md has the
// format byte by byte.
//
// # Damage
//
// A damaged block costs what is in it, and its file is written anew in spite of it: the block
// is copied as it is, and goes on to be found out. [Writer.Damaged] names what was found. A
// file whose end is damaged can not be opened; [Load] sets it aside.
package sums
