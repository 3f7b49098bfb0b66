// Package backup copies all that a place has into one stream, while nodes go on, and makes another place of it.
//
// A backup is a tar file of objects under their own keys: FORMAT, segments, shard by shard the objects of its manifest and
// then this, symbols, and at last END.json, which counts what came before it. So it is the same whether they were in a
// bucket or in a directory, and its files are a directory of objects.
//
//	backup.go   what is copied, and in which order
//	restore.go  a place is made of it
//	archive.go  the stream
package backup
