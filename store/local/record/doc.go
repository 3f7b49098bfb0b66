// Package record is how the store writes things down: the keys of a partition, the values
// under them with their checksums, and the compression of payloads. It turns values into
// bytes and bytes into values; it opens nothing and locks nothing but its own tables.
//
// # Keys
//
// Integers are big-endian. Keys start with their kind:
//
//	trace        't' │ page │ 0x00 │ view [16] │ chunk u32
//	id           'i' │ view [16] │ chunk u32                      the value is empty
//	catalogue    'c' │ page │ 0x00 │ tag key │ 0x00 │ tag value   both empty: all of the page
//	commit       'n' │ number u64                                 from 1 in each partition
//	dictionary   'd' │ id u32 │ copy u8                           copies 0 and 1
//	rollup       'r' │ page │ 0x00 │ start u32 │ level │ part u16
//	stack table  's' │ page │ 0x00 │ piece u32 │ part u16
//	mark         'w' │ page                                       how far a page is rolled up
//	outcome      'o' │ page │ 0x00 │ outcome                      page views without a trace
//	web vitals   'v' │ page │ 0x00 │ label set [12]               a part of the hash of the labels
//
// A page has 1 to 1024 bytes and no NUL. The start of a rollup is its number, from 0; its level is
// 1 for wide and 2 for details.
//
// # Values
//
//	trace        version 1 │ crc32c u32 │ received µs i64 │ n uvarint, n × page │ zstd(payload)
//	catalogue    crc32c u32 │ traces u64 │ first µs i64 │ last µs i64      also of outcomes
//	commit       crc32c u32 │ traces u32 │ entries u32 │ received µs i64   entries: trace keys
//	dictionary   crc32c u32 │ content
//	part         crc32c u32 │ parts u16 │ bytes
//	mark         crc32c u32 │ version u64 │ next u32 │ first u32
//	web vitals   crc32c u32 │ a record of level wide with nothing else
//
// The checksum is CRC-32 with the Castagnoli polynomial over the key followed by all of the value
// but the checksum: Badger does not check keys, and a flipped bit in one would put a trace under
// another page.
//
// The pages of a trace are the others that it has time on, usually none: their length as uvarint,
// and their bytes. Rollups and pieces of stack tables are compressed with zstd and cut into parts of
// 384 KiB. Next in a mark is the number of the next rollup of the page; first is that of the first
// piece of the stack table, and is left out if it is 0.
//
// A dictionary is stored twice, in a transaction of its own, before a trace needs it. Stored are its
// page (length uvarint and bytes; none if it is of several) and its content, by zstd at the default
// level. Its id is made of the content.
//
// A record of the file COMMITS is the number of the commit as u64, followed by the value of its
// commit key: 28 bytes.
//
// docs/storage.md has the reasons.
package record
