// Package commits keeps new commits in Badger until they are rolled up. A commit is one value with
// all traces that arrived within some milliseconds.
//
//	commits.go      Log: open, put, list, delete and close
//	write.go        writes, their failures, and the numbers of records
//	get.go          read a commit
//	generations.go  which generation takes commits, and which ones end
//	generation.go   one of them: a store of Badger
//	state.go        the life of a generation
//	record.go       a commit as bytes that are found without Badger
//	scan.go         find commits in the files of Badger
//	lost.go         which acknowledged records are not there any more
//
// Badger compacts what is overwritten and deleted, which costs as much again as to write it. So a
// [Log] is a row of generations: the newest one takes commits, without compaction, and each one is
// removed in one step when all of its commits are deleted. Only the newest one is open. Commits of
// the others, and of all after a crash, are read from Badger's files: each record carries a mark,
// its length and its checksum, so that a damaged byte costs the record that it is in and nothing
// else. Its number shows whether others are missing.
//
// An error of reading is never taken for damage, and a generation is removed only if each of its
// commits was deleted.
package commits
