// Package query answers queries about stored traces: it selects, merges and encodes.
//
// A [Source] is where the responses come from. [Local] reads a data directory or a bucket;
// query/api serves a Source over HTTP and has a Source that asks such a server; query/file has one
// of files. What can be asked for is a [selection.Selection].
package query
