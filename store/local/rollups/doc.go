// Package rollups keeps the sums of closed hours and days as immutable files: one file for
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
// the hour, so a block that turns up in another place is found out.
//
// # Bytes
//
// Integers of fixed length are big-endian; n is a LEB128 number, ± one in zigzag. A start is a time
// in minutes since the epoch. Nothing lies between the parts, and nothing is left over.
//
//	header     magic 8 │ version 1 │ span u8 │ start u32 │ length u32 │ times │ crc32c u32
//	times      n u32 │ n × (start u32, first µs i64, last µs i64, traces u64, missing u64,
//	             sources u32, sources × start u32)
//	run        directory │ stacks … 8 │ narrow … │ wide … │ details …
//	directory  strings n │ frames n │ nodes n │ pieces n × (block)
//	             │ hours n × (start u32, traces n, levels u8, none to three × (block))
//	block      length n │ decompressed n │ crc32c u32
//	index      times │ of each time: n × (block), where its counts are
//	             │ runs n × (page text, length n, of directory n, crc32c of directory u32)
//	trailer    offset of index u64 │ its length u32 │ its crc32c u32 │ length of header u32
//	             │ version 1 │ span u8 │ start u32 │ crc32c u32 of the trailer so far │ magic 8
//	text       shared n │ more n │ bytes
//
// In these:
//
//   - magic is 89 46 54 53 55 4d 53 0a, at both ends. span is 0 for hours and 1 for days. The start
//     of a file is that of its day or month, and must be that of its name.
//   - times are sorted by start, and are the same in the header and in the index. Only the index is
//     read, as long as it can be.
//   - a block describes zstd(bytes) in a run or in counts.
//   - stacks are the pieces of the page's stack table. Each has what came to it after the one before.
//     A table of 8 pieces that grows is written as one.
//   - levels has bit 0 for a narrow record, 1 for a wide one, 2 for details. Those that are there
//     follow in this order. An hour without a record still says how many traces were counted.
//   - counts are the catalogue of an hour, in pieces of some 256 KiB, decompressed: rows of (page
//     text, tag key text, tag value text, traces n, first µs ±, last µs ±), sorted. The first of a row
//     is less that of the row before; the last is less the first. A piece starts anew. Rows without
//     key and value are for all traces of the page.
//   - a text has some of the bytes of the one before it: at most 128, or all of them if it is the same.
//
// Checksums of header and trailer are over all bytes before them in there. The others are over where
// the bytes belong, followed by the bytes as they lie in the file:
//
//	span u8 │ kind u8 │ start of file u32 │ counts of u32 │ start or piece u32 │ page
//
// The kinds are 0 stacks, 1 narrow, 2 wide, 3 details, 4 directory, 5 counts, 6 index. Counts of is
// the start of the hour that is counted, and 0 for all other kinds. Where in the file a block lies
// does not matter, so a new file takes it over as it is, and what is damaged stays damaged.
//
// A newer version keeps the length of the trailer, and its last 18 bytes as they are here.
//
// A page, and the key and value of a tag, is at most 4 KiB, a list of times 4 MiB, an index 64 MiB, a
// directory 16 MiB, a block 256 MiB on disk and decompressed. Lengths are believed only within these
// limits and within the file.
//
// # Damage
//
// A damaged block costs what is in it, and its file is written anew in spite of it: the block
// is copied as it is, and goes on to be found out. [Writer.Damaged] names what was found. A
// file whose end is damaged can not be opened; [Load] sets it aside.
package rollups
