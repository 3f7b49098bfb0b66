// Package tables stores the tables of symbols, and the uploads of builds, beside the traces:
//
//	tables/AB/ABCD…         the table of the script with the SHA-256 ABCD…
//	uploads/TIME-ID.json    a [symbols.Upload]
//
// Each of these [Files] is either complete or missing. Uploads never change. A table is replaced as a
// whole if the stored one is damaged or names fewer functions.
//
// Several stores may share a bucket. A store sees the changes of others when it is refreshed. The
// tables of a build may be sent to one store and its upload to another.
//
// Uploads are deleted when they are too old, or, oldest first, when all tables exceed their limit.
// A table is kept as long as an upload names it, and for a day before its upload.
//
// An unreadable table counts as missing, so that it is sent again. An unreadable upload is left
// out. The tables that it names are unknown, so no table is deleted until it is itself too old,
// unless all tables exceed their limit.
package tables
