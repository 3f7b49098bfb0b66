package local

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Options say how a data directory is opened. The zero value is the default given
// with each field.
type Options struct {
	// Program is the name that others see when the directory is in use; by default
	// that of the running binary.
	Program string

	// Partition is the span of time that shares a directory: one hour. It must
	// divide an hour and be whole minutes. It may differ from that of an earlier run.
	Partition time.Duration

	// Retention is how long traces are kept; zero means for ever. Scans do not see
	// older traces; their directories go away once all in them is older.
	Retention time.Duration

	// DoubtClock keeps a machine whose clock is wrong from deleting what it has, see [Store.ClockDoubt]. It is for daemons: a
	// time that jumps is no mistake of a program that passes its own.
	DoubtClock bool

	// HourRetention and DayRetention are how long the rollups of partitions and of days
	// are kept, at least as long as the traces and as the rollups of partitions; zero means
	// for ever.
	HourRetention, DayRetention time.Duration

	// MaxDisk bounds the size of the data directory in bytes, by deleting the oldest
	// partitions, those of traces first; zero means no bound.
	MaxDisk int64

	// RollEvery and RollTraces say when [Store.Roll] has something to do: when a trace has
	// waited for that long, 30 s, or that many wait, 32768. A negative RollEvery says that
	// nobody calls Roll: retention does not wait for rollups.
	RollEvery  time.Duration
	RollTraces int

	// Rollups bounds what rollups grow to.
	Rollups rollup.Limits

	// Now is the clock: time.Now.
	Now func() time.Time

	// GroupTraces is how many traces share one commit at most: 256.
	GroupTraces int

	// QueueTraces and QueueBytes bound what waits for a commit or is in one: 8192
	// traces and 64 MiB. Beyond that, Append returns ErrBusy.
	QueueTraces int
	QueueBytes  int64

	// MemTableSize is the size of Badger's memtable: 64 MiB. It is also a measure of
	// the memory the store takes, about four times as much when writing.
	MemTableSize int64

	// OpenPartitions is how many sealed partitions are kept open for reading: 8.
	OpenPartitions int

	// MaxPayload is the largest payload accepted and read back: 16 MiB.
	MaxPayload int64

	// MinFree is the space that must be free on the filesystem for a commit to be
	// tried, in bytes, beside what compactions need: six times MemTableSize. It is for
	// the tables of up to four memtables, for the log, and for a second compaction.
	// Badger ends the process when the disk is full. A negative value turns the check
	// off.
	MinFree int64

	// Ballast is how many bytes are set aside in the file BALLAST, to be released when a
	// start or an end finds too little space to bring the data in order; at most a 32nd
	// of the filesystem. Zero or less is none.
	Ballast int64

	// Logger gets what happens to partitions, and Badger's own lines at debug and
	// warn level; by default nobody.
	Logger *slog.Logger
}

// Keys of log lines.
const (
	logPartition = "partition"
	logErr       = "err"
)

const minMemTable = 8 << 20 // below this Badger does not take values of 1 MiB

// Validate reports the first option that can not be, as Open would.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

// withDefaults fills in the zero fields and checks the rest.
func (o Options) withDefaults() (Options, error) {
	o.Program = cmp.Or(o.Program, filepath.Base(os.Args[0]))
	o.Partition = cmp.Or(o.Partition, time.Hour)
	o.RollEvery = cmp.Or(o.RollEvery, 30*time.Second)
	o.RollTraces = cmp.Or(o.RollTraces, 1<<15)
	o.GroupTraces = cmp.Or(o.GroupTraces, 256)
	o.QueueTraces = cmp.Or(o.QueueTraces, 8192)
	o.QueueBytes = cmp.Or(o.QueueBytes, 64<<20)
	o.MemTableSize = cmp.Or(o.MemTableSize, 64<<20)
	o.OpenPartitions = cmp.Or(o.OpenPartitions, 8)
	o.MaxPayload = cmp.Or(o.MaxPayload, 16<<20)
	o.MinFree = cmp.Or(o.MinFree, 6*o.MemTableSize)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	o.HourRetention = longer(o.HourRetention, o.Retention)
	o.DayRetention = longer(o.DayRetention, o.HourRetention)
	switch {
	case o.Partition < time.Minute || o.Partition%time.Minute != 0 || time.Hour%o.Partition != 0:
		return o, fmt.Errorf("partition of %v: it must be whole minutes and divide an hour", o.Partition)
	case o.Retention < 0 || o.HourRetention < 0 || o.DayRetention < 0 || o.MaxDisk < 0:
		return o, fmt.Errorf("a retention or the byte budget is negative")
	case o.GroupTraces < 1 || o.GroupTraces > 256:
		return o, fmt.Errorf("groups of %d traces: from 1 to 256 are possible", o.GroupTraces)
	case o.QueueTraces < 1 || o.QueueBytes < 1 || o.OpenPartitions < 1 || o.MaxPayload < 1:
		return o, fmt.Errorf("a queue, payload or number of open partitions must not be negative")
	case o.MemTableSize < minMemTable:
		return o, fmt.Errorf("memtable of %d bytes: at least %d are needed", o.MemTableSize, minMemTable)
	}
	return o, nil
}

// longer returns the longer one of two times to keep something; zero is for ever.
func longer(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}
