// Package part is the life of partitions of traces. It is the only package that knows
// Badger, and no handle, count or mutex of its own leaves it.
//
// A partition is a Badger directory with what was received in one aligned stretch of time. A
// [Shelf] has all partitions of a data directory. [Shelf.Read] is the only way to read one,
// [Writer.Commit] and [Writer.Put] are the only ways to write.
//
// # Who waits for whom
//
// A handle on a partition is closed at a moment at which nobody reads through it. Who wants
// to close it is told of the first such moment; readers that come before it are let in. So a
// reader waits only while a handle is being opened or closed, which no reader can hold up,
// and every such wait ends with its context. A reader may therefore read within a read.
//
// The writer never waits for a reader. Shortly before the time of its partition is over a
// goroutine makes the next one, with a mark beside it that hides it. At the turn the writer
// takes the mark away and goes on there. The partition before is still open, because each
// commit looks there for repeats; the one before that is closed behind the writer, by a
// goroutine of its own.
//
// # Lock order
//
// Shelf.mu guards the list of partitions and all of each partition but its name, start and
// path. Nothing is done under it that can wait: no file is touched, no other lock is taken.
// There is no other mutex in this package.
//
// # Files
//
//	shelf.go      which partitions there are; pins and deletions
//	handle.go     readers, and who opens and closes
//	txn.go        what a reader can do
//	writer.go     the turn from one partition to the next, and closing behind it
//	ahead.go      the next partition, made ahead of the turn
//	batch.go      commits
//	partition.go  names, and what is known of a partition
//	clean.go      CLEAN: what is known of a partition that is closed
//	commits.go    COMMITS: what was committed
//	aside.go      partitions that can not be opened, set aside
//	recover.go    after a crash
//	preflight.go  damage that Badger would not survive
//	sweep.go      what a crash leaves half made
//	badger.go     how Badger is opened
//	entries.go    partitions in backups
package part
