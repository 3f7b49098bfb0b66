// Package commits keeps new commits in Badger until they are rolled up. A commit is one value with
// all traces that arrived within some milliseconds.
//
//	commits.go      Log: open, put, list, delete and close
//	write.go        writes, their failures, and the numbers of records
//	get.go          reading a commit
//	generations.go  opening, retiring and removing generations
//	generation.go   a generation: a Badger database
//	state.go        the states of a generation
//	record.go       the encoding of a commit, which can be found without Badger
//	scan.go         finding commits in Badger's files
//	lost.go         detecting lost records
//
// Badger compacts overwritten and deleted values, which costs as much as writing them. A [Log]
// avoids this with generations: the newest generation takes commits, without compaction, and a
// generation is removed in one step when all of its commits are deleted. Only the newest generation
// is open. The commits of other generations, and of all generations after a crash, are read from
// Badger's files: each record has a mark, its length and its checksum, so a damaged byte affects
// only its record. Records are numbered, so missing ones are noticed.
//
// A failed read is never treated as damage, and a generation is removed only if all of its commits
// were deleted.
package commits
