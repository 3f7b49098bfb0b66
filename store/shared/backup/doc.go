// Package backup copies all objects of a bucket or directory into one stream while nodes keep
// running, and restores such a stream.
//
// A backup is a tar file of objects under their own keys. It contains FORMAT and segments; then,
// for each shard, the objects that its manifest names, followed by the manifest; then the state of
// changes, requests to delete and symbols; and finally END.json with the counts of all entries. The
// format is the same for a bucket and a directory, and the extracted files form a directory of
// objects.
//
//	backup.go   what is copied, and in which order
//	restore.go  restoring a backup
//	archive.go  the stream
package backup
