// Package former reads a data directory of format 3: partitions of traces in Badger, and files of rollups. It writes nothing, but
// for what Badger does when it replays the logs that a crash has left.
//
// # Layout
//
//	DIR/FORMAT                the version of this layout
//	DIR/LOCK                  locked by whoever has the directory open, which is up to the caller here
//	DIR/BALLAST               space set aside
//	DIR/20261121T10/          a partition: what was received in an hour, or from then on in a part of it (20261121T1015)
//	DIR/20261121T10/COMMITS   one small record for each commit, beside Badger
//	DIR/20261121T10/CLEAN     what is known of a partition that was closed
//	DIR/20261121T11.ahead     says that the partition of that name holds nothing yet
//	DIR/20261121T07.corrupt/  a partition that could not be opened
//	DIR/20261121.hours.sums   rollups of the partitions of a day
//	DIR/202611.days.sums      rollups of the days of a month
//
// # Keys
//
// Integers are big-endian. Keys start with their kind:
//
//	trace        't' │ page │ 0x00 │ view [16] │ chunk u32
//	catalogue    'c' │ page │ 0x00 │ tag key │ 0x00 │ tag value   both empty: all of the page
//	commit       'n' │ number u64
//	dictionary   'd' │ id u32 │ copy u8                           copies 0 and 1
//	outcome      'o' │ page │ 0x00 │ outcome                      page views without a trace
//	web vitals   'v' │ page │ 0x00 │ label set [12]
//
// Others are of no use without the program that wrote them: ids of traces, and rollups that were under way.
//
// # Values
//
//	trace        version 1 │ crc32c u32 │ received µs i64 │ n uvarint, n × page │ zstd(payload)
//	catalogue    crc32c u32 │ traces u64 │ first µs i64 │ last µs i64      also of outcomes
//	commit       crc32c u32 │ traces u32 │ entries u32 │ received µs i64   entries: trace keys
//	dictionary   crc32c u32 │ page text │ zstd(content)
//	web vitals   crc32c u32 │ a record with nothing else
//
// The checksum is CRC-32 with the Castagnoli polynomial over the key followed by all of the value but the checksum. A record of
// COMMITS is the number of the commit as u64, followed by the value of its commit key.
//
// # Files of rollups
//
//	┌────────┬─────┬─────┬───┬─────┬────────┬───┬───────┬─────────┐
//	│ header │ run │ run │ … │ run │ counts │ … │ index │ trailer │
//	└────────┴─────┴─────┴───┴─────┴────────┴───┴───────┴─────────┘
//	run        directory │ stacks … │ narrow … │ wide … │ details …
//	directory  strings n │ frames n │ nodes n │ pieces n × (block)
//	             │ hours n × (start u32, traces n, levels u8, none to three × (block))
//	block      length n │ decompressed n │ crc32c u32
//	index      times │ of each time: n × (block), where its counts are
//	             │ runs n × (page text, length n, of directory n, crc32c of directory u32)
//	times      n u32 │ n × (start u32, first µs i64, last µs i64, traces u64, missing u64,
//	             sources u32, sources × start u32)
//	trailer    offset of index u64 │ its length u32 │ its crc32c u32 │ length of header u32
//	             │ version 1 │ span u8 │ start u32 │ crc32c u32 of the trailer so far │ magic 8
//	text       shared n │ more n │ bytes
//
// A start is a time in minutes since the epoch; n is a LEB128 number. Runs are sorted by page, and nothing lies between the parts.
// Checksums are over where the bytes belong, followed by the bytes as they lie in the file:
//
//	span u8 │ kind u8 │ start of file u32 │ counts of u32 │ start or piece u32 │ page
//
// # Files
//
//	directory.go  what there is
//	hour.go       an hour: its partitions, its rollups
//	traces.go     the traces of a page, of several partitions in order
//	day.go        a day
//	partition.go  names, and what is known of a partition
//	recover.go    partitions that a crash has left
//	preflight.go  damage that Badger would not survive
//	badger.go     how Badger is opened
//	record.go     keys and values
//	payload.go    payloads and dictionaries
//	sums.go       files of rollups
//	index.go      what is in one, and where
//	decode.go     numbers, texts and checksums of them
package former
