// Package block defines an immutable file of blocks about pages, of which any part can be read by
// one range request:
//
//	blocks | index | length of the index (4) | checksum of the index (4) | "FTB1"
//
// Blocks and the index are compressed with zstd. For each block the index has its kind, its page,
// its position and length, its decompressed length, its number of rows, and its checksum. The index
// is sorted by kind and page. Blocks keep the order in which they were written, so that blocks that
// are read together are adjacent. Numbers of fixed size are little-endian. Checksums are CRC-32C of
// the compressed bytes. A truncated or changed file is detected and never returns wrong data.
//
// This package does not interpret the content of blocks.
package block
