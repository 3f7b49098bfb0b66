// Package tables stores tables of symbols, and uploads of builds, alongside the traces:
//
//	tables/AB/ABCD…         the table of the script with the SHA-256 ABCD…
//	uploads/TIME-ID.json    a [symbols.Upload]
//
// Each of these [Files] is either complete or missing. Uploads never change. A table is replaced
// atomically if the stored one is damaged or names fewer functions.
//
// Several stores may share a bucket. A store reads the changes of others when it is refreshed. The
// tables of a build may be sent to one store and its upload to another.
//
// Uploads are deleted when they are too old, or, oldest first, when all tables exceed their limit.
// A table is kept as long as an upload refers to it, and for a day before its upload.
//
// An unreadable table counts as missing, so that it is sent again. An unreadable upload is ignored.
// The tables that it refers to are unknown, so tables are deleted only when they are too old
// themselves, or when all tables exceed their limit.
package tables
