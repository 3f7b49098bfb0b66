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

// Options say how a bucket is used, or another place for objects. The zero value is the default given with each field, of a bucket and of a
// place that only this process uses.
type Options struct {
	// Flush is how long traces wait for others to share a segment with: 250 ms, 25 ms. FlushBytes end
	// the wait early: 4 MiB.
	Flush      time.Duration
	FlushBytes int64

	// Puts is how many segments are on their way at once: 8. GiveUp is how long one is tried: 8 s.
	Puts   int
	GiveUp time.Duration

	// Spool is a directory of this node for segments that the store does not take within SpoolAfter, 1 s, of at
	// most SpoolSize bytes, 1 GiB. Without it they are refused.
	Spool      string
	SpoolAfter time.Duration
	SpoolSize  int64

	// FS is the file system that the spool is on: disk.OS.
	FS disk.FS

	// CacheMemory is how many bytes of what queries read are kept in memory, 64 MiB. Cache is a directory of this
	// node for more of it, of at most CacheSize bytes, 4 GiB.
	CacheMemory int64
	Cache       string
	CacheSize   int64

	// QueueTraces and QueueBytes bound what waits to be stored: 16384 traces and 128 MiB. Beyond
	// that, Append returns [store.ErrBusy].
	QueueTraces int
	QueueBytes  int64

	// MaxPayload is the largest payload: 16 MiB.
	MaxPayload int64

	// Shards is how many parts the pages of a new prefix are divided into: 8, 4. Those of a prefix
	// that is there stay as they are.
	Shards int

	// RollEvery is how often what came in is rolled up: 15 s; where this process is alone, up to every second as long as that is little work.
	// TakeOver is how long a shard is left to
	// another node that has stopped: 30 s.
	RollEvery, TakeOver time.Duration

	wantedEvery time.Duration // between rounds that somebody waits for, at least: 1 s, 100 ms

	// RollRows is how many traces of a shard are rolled up at once: 8000, 10,000.
	RollRows int

	// Retention is how long traces are kept; HourRetention and DayRetention are how long their rollups
	// by the hour and day are, at least as long as the former. Zero means for ever.
	// A shard of a bucket keeps what it has for the longest time that any node was told, unless Shorten makes it those of this one.
	Retention, HourRetention, DayRetention time.Duration
	Shorten                                bool

	// MaxDisk bounds what a directory takes, without symbols: beyond it the oldest traces go, then the oldest rollups of hours, then
	// those of days. Zero is no bound. A bucket has none: its nodes may have different ones.
	MaxDisk int64

	// Rollups bounds what rollups grow to.
	Rollups rollup.Limits

	// Logger gets what happens; by default nobody.
	Logger *slog.Logger
}

func (o *Options) layout() layout.Options {
	return layout.Options{Shards: o.Shards, GiveUp: o.GiveUp, Rollups: o.Rollups}
}

func (o *Options) read() read.Options {
	return read.Options{Retention: o.Retention, CacheMemory: o.CacheMemory, Cache: o.Cache, CacheSize: o.CacheSize, Logger: o.Logger}
}

func (o *Options) write() write.Options {
	return write.Options{Flush: o.Flush, FlushBytes: o.FlushBytes, Puts: o.Puts, GiveUp: o.GiveUp, Spool: o.Spool, SpoolAfter: o.SpoolAfter, SpoolSize: o.SpoolSize, FS: o.FS,
		QueueTraces: o.QueueTraces, QueueBytes: o.QueueBytes, MaxPayload: o.MaxPayload, Logger: o.Logger}
}

func (o *Options) roll() roll.Options {
	return roll.Options{TakeOver: o.TakeOver, Rows: o.RollRows, Shorten: o.Shorten, RetentionPolicy: o.retentionPolicy(), Erase: erase.Apply, Logger: o.Logger}
}

func (o *Options) retentionPolicy() roll.RetentionPolicy {
	return roll.RetentionPolicy{MaxDisk: o.MaxDisk, Retention: layout.Retention{Traces: int64(o.Retention), Hours: int64(o.HourRetention), Days: int64(o.DayRetention)}}
}

// Validate reports the first option that can not be, as Open would.
func (o Options) Validate() error {
	_, err := o.withDefaults(o.MaxDisk > 0)
	return err
}

// withDefaults fills in the zero fields and checks the rest.
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
		return o, fmt.Errorf("a retention is negative")
	case o.Retention > 0 && o.Retention < 3*time.Hour:
		return o, fmt.Errorf("retention of %v: traces must stay until their hour is summed up and what comes twice is known; at least 3h", o.Retention)
	case o.MaxDisk < 0:
		return o, fmt.Errorf("the bound of the disk is negative")
	case o.MaxDisk > 0 && !alone:
		return o, fmt.Errorf("the disk of a bucket has no bound")
	case o.Shards < 1 || o.Shards > 999:
		return o, fmt.Errorf("%d shards: from 1 to 999 are possible", o.Shards)
	case o.FlushBytes < 1 || o.Puts < 1 || o.QueueTraces < 1 || o.QueueBytes < 1 || o.MaxPayload < 1 || o.RollRows < 1 || o.SpoolSize < 1 || o.CacheMemory < 1 || o.CacheSize < 1:
		return o, fmt.Errorf("a size is negative")
	case o.Flush < 0 || o.GiveUp < 0 || o.RollEvery < 0 || o.TakeOver < 0 || o.SpoolAfter < 0:
		return o, fmt.Errorf("a time is negative")
	}
	return o, nil
}

// set fills in what is not said.
func set[T int | int64 | time.Duration](p *T, v T) {
	if *p == 0 {
		*p = v
	}
}

// longer returns the longer one of two times to keep something; zero is for ever.
func longer(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}
