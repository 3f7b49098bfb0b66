// Package record is how the store writes things down: the keys of a partition, the values
// under them with their checksums, and the compression of payloads. It turns values into
// bytes and bytes into values; it opens nothing and locks nothing but its own tables.
//
// docs/storage.md draws the layouts.
package record
