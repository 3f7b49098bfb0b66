// Package block packs what machines write about pages into one immutable file, of which any part
// can be read by one request for a range of bytes:
//
//	blocks | index | length of the index (4) | checksum of the index (4) | "FTB1"
//
// Blocks and the index are compressed with zstd. The index has for each block its kind, the page that it is
// about, where it lies, its length, the length and number of rows of what is in it, and its checksum. The index is sorted
// by kind and page; blocks lie as they were written, so that what is read together is one range. Numbers of fixed size are little-endian, checksums
// are CRC-32C of compressed bytes. A file that is torn or has changed is found out, never read wrongly.
//
// What is in the blocks is nothing to this package.
package block
