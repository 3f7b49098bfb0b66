// Package tables keeps the tables of symbols, and what was uploaded of which build, in a folder
// beside the traces:
//
//	tables/AB/ABCD…         the table of the script with the SHA-256 ABCD…
//	uploads/TIME-ID.json    a [symbols.Upload]
//
// Files are written beside their place, synced and renamed, so that each is whole or not there.
// Uploads never change. A table is replaced as a whole if the one that is there is damaged or
// names fewer functions.
//
// In place of a folder there may be other [Files], such as those of a bucket, which several stores share. Each is
// told what others did when it is refreshed; a build may be named to one of them whose tables went to another.
//
// Uploads are kept until they are too old or all tables take too much, the oldest first. A table
// is kept as long as an upload names it, and for a day before.
//
// A table that can not be read counts as missing, so that it is sent again. An upload that can not
// be read is left out. As nobody knows which tables it names, none is deleted until it is too old
// itself, unless all take too much.
package tables
