// Package query answers queries about stored traces: it selects, merges and encodes them.
//
// A [Source] returns the responses. [Local] reads a data directory or a bucket; query/api serves a
// Source over HTTP and has a Source that queries such a server; query/file has a Source of files. A
// [selection.Selection] selects the data of a query.
package query
