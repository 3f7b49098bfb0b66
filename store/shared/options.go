package shared

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/shared/erase"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/read"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/store/shared/write"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Options configures a [Node] or a [Reader]. Zero fields have the defaults given below. Where there
// are two, the first applies to a bucket and the second to a directory, which only one process
// uses.
type Options struct {
	// Flush is how long traces wait to share a segment with others: 250 ms or 25 ms. The wait ends
	// early at FlushBytes: 4 MiB.
	Flush      time.Duration
	FlushBytes int64

	// Puts is the maximum number of segments that are stored in parallel: 8. GiveUp is how long a
	// segment is retried: 8 s.
	Puts   int
	GiveUp time.Duration

	// Spool is a local directory for segments that the store does not accept within SpoolAfter, 1
	// s. It takes at most SpoolSize bytes, 1 GiB. Without a spool, such traces are rejected.
	Spool      string
	SpoolAfter time.Duration
	SpoolSize  int64

	// FS is the file system of the spool: disk.OS.
	FS disk.FS

	// CacheMemory is the maximum size of the in-memory cache of objects: 64 MiB. Cache is a local
	// directory for an additional cache of at most CacheSize bytes, 4 GiB.
	CacheMemory int64
	Cache       string
	CacheSize   int64

	// QueueTraces and QueueBytes bound the traces that wait to be stored: 16,384 traces and 128
	// MiB. Beyond that, Append returns [store.ErrBusy].
	QueueTraces int
	QueueBytes  int64

	// MaxPayload is the maximum size of a payload: 16 MiB.
	MaxPayload int64

	// Shards is the number of shards into which pages are divided: 8 or 4. It applies to new
	// buckets only; existing ones keep their number of shards.
	Shards int

	// RollEvery is how often segments are rolled up: 15 s. An exclusive process rolls up as often
	// as every second if that is little work. TakeOver is how long to wait for the node that owns a
	// shard if it makes no progress: 30 s.
	RollEvery, TakeOver time.Duration

	wantedEvery time.Duration // minimum time between rounds that queries wait for: 1 s or 100 ms

	// RollRows is the maximum number of traces of a shard that are rolled up in one step: 8,000 or
	// 10,000.
	RollRows int

	// Retention is how long traces are kept. HourRetention and DayRetention are how long their
	// hourly and daily rollups are kept, at least as long as the traces. 0 means forever. A shard
	// of a bucket uses the longest retention that any node was configured with, unless Shorten is
	// set: then it uses this node's.
	Retention, HourRetention, DayRetention time.Duration
	Shorten                                bool

	// MaxDisk bounds the size of a directory, without symbols. Beyond it the oldest traces are
	// deleted first, then the oldest hourly rollups, then the oldest daily rollups. 0 means no
	// limit. It is not allowed for a bucket, because nodes may be configured differently.
	MaxDisk int64

	// Rollups bounds the size of rollups.
	Rollups rollup.Limits

	// Logger receives log messages. By default they are discarded.
	Logger *slog.Logger
}

func (o *Options) layout() layout.Options {
	return layout.Options{Shards: o.Shards, GiveUp: o.GiveUp, Rollups: o.Rollups}
}

func (o *Options) read() read.Options {
	return read.Options{Retention: o.Retention, CacheMemory: o.CacheMemory, Cache: o.Cache, CacheSize: o.CacheSize,
		Logger: o.Logger}
}

func (o *Options) write() write.Options {
	return write.Options{Flush: o.Flush, FlushBytes: o.FlushBytes, Puts: o.Puts, GiveUp: o.GiveUp, Spool: o.Spool,
		SpoolAfter: o.SpoolAfter, SpoolSize: o.SpoolSize, FS: o.FS,
		QueueTraces: o.QueueTraces, QueueBytes: o.QueueBytes, MaxPayload: o.MaxPayload, Logger: o.Logger}
}

func (o *Options) roll() roll.Options {
	return roll.Options{TakeOver: o.TakeOver, Rows: o.RollRows, Shorten: o.Shorten,
		RetentionPolicy: o.retentionPolicy(), Erase: erase.Apply, Logger: o.Logger}
}

func (o *Options) retentionPolicy() roll.RetentionPolicy {
	return roll.RetentionPolicy{MaxDisk: o.MaxDisk, Retention: layout.Retention{Traces: int64(o.Retention),
		Hours: int64(o.HourRetention), Days: int64(o.DayRetention)}}
}

// Validate returns an error for the first invalid option, as Open does.
func (o Options) Validate() error {
	_, err := o.withDefaults(o.MaxDisk > 0)
	return err
}

// withDefaults sets the defaults of zero fields, and validates the others.
func (o Options) withDefaults(alone bool) (Options, error) {
	if alone {
		o.Shorten = true
		set(&o.Flush, 25*time.Millisecond)
		set(&o.Shards, 4)
		set(&o.RollRows, 10000)
		set(&o.wantedEvery, 100*time.Millisecond)
	}
	set(&o.Flush, 250*time.Millisecond)
	set(&o.GiveUp, 8*time.Second)
	set(&o.SpoolAfter, time.Second)
	set(&o.SpoolSize, 1<<30)
	set(&o.CacheMemory, 64<<20)
	set(&o.CacheSize, 4<<30)
	set(&o.RollEvery, 15*time.Second)
	set(&o.wantedEvery, time.Second)
	set(&o.TakeOver, 30*time.Second)
	set(&o.FlushBytes, 4<<20)
	set(&o.Puts, 8)
	set(&o.QueueTraces, 1<<14)
	set(&o.QueueBytes, 128<<20)
	set(&o.MaxPayload, 16<<20)
	set(&o.Shards, 8)
	set(&o.RollRows, 8000)
	if o.FS == nil {
		o.FS = disk.OS
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.HourRetention = longer(o.HourRetention, o.Retention)
	o.DayRetention = longer(o.DayRetention, o.HourRetention)
	switch {
	case o.Retention < 0 || o.HourRetention < 0 || o.DayRetention < 0:
		return o, fmt.Errorf("a retention must not be negative")
	case o.Retention > 0 && o.Retention < 3*time.Hour:
		return o, fmt.Errorf("retention of %v is too short: traces are needed until their hour is rolled up and "+
			"duplicates are detected; the minimum is 3h", o.Retention)
	case o.MaxDisk < 0:
		return o, fmt.Errorf("the limit of the disk usage must not be negative")
	case o.MaxDisk > 0 && !alone:
		return o, fmt.Errorf("a bucket has no limit of disk usage; this limit is for directories only")
	case o.Shards < 1 || o.Shards > 999:
		return o, fmt.Errorf("%d shards; the number must be from 1 to 999", o.Shards)
	case o.FlushBytes < 1 || o.Puts < 1 || o.QueueTraces < 1 || o.QueueBytes < 1 || o.MaxPayload < 1 ||
		o.RollRows < 1 || o.SpoolSize < 1 || o.CacheMemory < 1 || o.CacheSize < 1:
		return o, fmt.Errorf("sizes must be positive")
	case o.Flush < 0 || o.GiveUp < 0 || o.RollEvery < 0 || o.TakeOver < 0 || o.SpoolAfter < 0:
		return o, fmt.Errorf("times must not be negative")
	}
	return o, nil
}

// set sets a zero field to its default.
func set[T int | int64 | time.Duration](p *T, v T) {
	if *p == 0 {
		*p = v
	}
}

// longer returns the longer of two retentions, where 0 means forever.
func longer(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}
