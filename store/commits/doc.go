// Package commits keeps in Badger what was committed a moment ago, until it is rolled up: a commit is one value, of all traces that
// came within some milliseconds.
//
//	commits.go      Log: put, get, list and delete commits
//	generations.go  which generation takes commits, and which ones end
//	generation.go   one of them: a store of Badger
//	record.go       a commit as bytes that are found without Badger
//	scan.go         what is in the files of Badger that was not closed
//
// Badger compacts what is overwritten and deleted, which costs as much again as to write it. So a [Log] is a row of generations:
// one takes what comes, without compaction, and each is removed as a whole when all of its commits are deleted. Only the one that
// takes commits is open. Of the others, as of all after a crash, the bytes of commits are read from Badger's files: each
// carries a mark, its length and its checksum, so that a damaged byte costs the commit that it is in and nothing else.
package commits
