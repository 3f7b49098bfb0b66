// Package snapshot copies a data directory while it is in use, and makes one of a copy.
//
// A backup is a tar stream of groups of entries:
//
//	backup.json, SHA256SUMS             what there is to come
//	sums/FILE …, sums/SHA256SUMS        the files of sums, as they are on disk
//	NAME/COMMITS, NAME/ENTRIES.000001 …, NAME/SHA256SUMS
//	                                    a partition that may be written to meanwhile
//	NAME/FILE …, NAME/SHA256SUMS        a partition that is closed, as it is on disk
//	symbols/FILE …, symbols/SHA256SUMS  the symbols of builds, if there are any
//	END.json                            how much there was
//
// Each SHA256SUMS is of the entries since the one before, in the form of sha256sum. A
// stream without END.json was cut off.
package snapshot
