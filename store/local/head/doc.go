// Package head sums up what was received and is in no file of sums yet, above all in the
// newest hour.
//
// A [Head] has one running sum for each page of a partition that somebody rolls up or asks
// for. Each trace is decoded for it once. [Head.Page] answers queries from it, and
// [Head.Roll] writes it into the partition as rollups, so that after a restart what was
// rolled up is not read again.
//
// # Rollups in a partition of traces
//
// They are under the keys of package record: the stack table of a page in pieces, rollups
// by number, and a mark, which says up to which version of Badger the traces of the page are
// in the rollups. Rows are written first, the mark last, so that nothing counts twice or not
// at all, wherever it is interrupted. After eight rollups of a page their sum replaces them.
//
// # Who waits for whom
//
// Who works on a page holds its turn: a roll or a query. Whoever comes meanwhile waits, no
// longer than its context. The holder reads partitions and has the committer write; neither
// waits for a turn. Head.mu guards the table of pages alone, and nothing waits under it.
package head
