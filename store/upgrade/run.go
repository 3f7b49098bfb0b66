package upgrade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/store/shared/roll"
	"github.com/fieldtrie/fieldtrie/store/upgrade/former"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Options say how a directory is upgraded. The zero value is the default given with each field.
type Options struct {
	Program string           // that others are told of who want to use the directory: the name of this one
	Now     func() time.Time // the clock that traces are received by: time.Now
	Rollups rollup.Limits    // what rollups grow to
	MinFree int64            // as that of directory.Options, which see
	// Progress is told now and then how far it is: hours and days of all that there are, and traces; nobody is. It is called by one
	// goroutine at a time.
	Progress func(done, of int, traces uint64)

	step   func(what string) error // is called before each step: for tests that end it there
	free   func() (int64, error)   // returns how many bytes are free
	shards int                     // how many are written side by side, 0 for half as many as there are processors
}

// together returns how many shards are written side by side. Each takes memory.
func (o *Options) together() int {
	if o.shards > 0 {
		return o.shards
	}
	return max(1, runtime.GOMAXPROCS(0)/2)
}

// Stats say what became of a directory.
type Stats struct {
	Hours, Days int    // that were written
	Traces      uint64 // of them; one of two pages counts twice
	Repeats     uint64 // traces that were there twice in an hour, and are there once now
	// Left says what can not be read, and why. If there is anything, the files of the release before are kept in Former.
	Left []string
	// Former is the directory, below the one that was upgraded, in which old files are kept; "" if none are.
	Former string
	Lost   uint64 // acknowledged traces that the directory had lost in crashes before
}

// upgrade is one on its way.
type upgrade struct {
	dir  string
	o    Options
	step func(what string) error

	state  state
	from   *former.Directory
	place  objects.Store // nil when it is closed
	bucket *layout.Bucket
	shards []*roll.Shard

	done, of int // hours and days

	mu     sync.Mutex // guards the fields below
	traces uint64     // that are written
	failed error      // what was put last and could not be
}

// Run makes a directory of objects of a data directory of format 3, in its place. If something ends it, the next call goes on. It has
// the directory for itself: another process that uses it is a [*disk.InUseError]. It fails with a [*NoRoomError] where there is no room
// for both forms. If no upgrade is needed, see [Needed], it does nothing.
func Run(ctx context.Context, dir string, o Options) (stats Stats, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	u := &upgrade{dir: dir, o: o, step: o.step}
	if u.step == nil {
		u.step = func(string) error { return nil }
	}
	if needed, err := Needed(dir); !needed || err != nil {
		return stats, err
	}
	lock, err := disk.OpenLock(dir, o.Program)
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := lock.Exclusive("upgrade", disk.LockWait); err != nil {
		return stats, err
	}
	if needed, err := Needed(dir); !needed || err != nil { // another process may have done it meanwhile
		return stats, err
	}
	s, err := u.loadSwap()
	if err == nil && s == nil {
		s, err = u.make(ctx)
	}
	if errors.Is(err, roll.ErrLost) && u.failed != nil { // it is taken for another machine, and there is none
		err = u.failed
	}
	if err != nil {
		return stats, fmt.Errorf("upgrade %s: %w", dir, err)
	}
	if err := u.swap(s); err != nil {
		return stats, fmt.Errorf("upgrade %s: put the new form in its place: %w", dir, err)
	}
	return s.Stats, nil
}

// make makes the new form beside the old one.
func (u *upgrade) make(ctx context.Context) (_ *swap, err error) {
	if err := u.loadState(); err != nil {
		return nil, err
	}
	if err := u.checkRoom(); err != nil {
		return nil, err
	}
	if u.from, err = former.Open(u.dir); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, u.from.Close()) }()
	defer func() { err = errors.Join(err, u.closePlace()) }()
	if err := u.openPlace(ctx); err != nil {
		return nil, err
	}
	if err := u.tidy(ctx); err != nil {
		return nil, err
	}
	u.leave(u.from.Faulty...)
	if err := u.write(ctx); err != nil {
		return nil, err
	}
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	return u.planSwap()
}

// write writes what is not there yet, day by day: first hours, then their day.
func (u *upgrade) write(ctx context.Context) error {
	hours, days := map[string][]*former.Hour{}, map[string]*former.Day{}
	for _, h := range u.from.Hours {
		day := layout.DayOf(h.Name)
		hours[day] = append(hours[day], h)
		days[day] = nil
	}
	for _, d := range u.from.Days {
		days[d.Name] = d
	}
	u.of = len(u.from.Hours) + len(days)
	traces := uint64(0)
	for _, day := range slices.Sorted(maps.Keys(days)) {
		for _, h := range hours[day] {
			if _, done := u.state.Hours[h.Name]; !done {
				if err := u.hour(ctx, h); err != nil {
					return fmt.Errorf("hour %s: %w", h.Name, err)
				}
			}
			traces += u.state.Hours[h.Name]
			u.finished(traces)
		}
		if !u.state.Days[day] {
			if err := u.day(ctx, day, days[day]); err != nil {
				return fmt.Errorf("day %s: %w", day, err)
			}
		}
		u.finished(traces)
	}
	return nil
}

// progress says how far it is, with so many more traces of the present hour.
func (u *upgrade) progress(more uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.traces += more
	if u.o.Progress != nil {
		u.o.Progress(u.done, u.of, u.traces)
	}
}

// finished notes that something is done, and that so many traces are.
func (u *upgrade) finished(traces uint64) {
	u.done++
	u.traces = traces
	u.progress(0)
}

// check compares what is on the disk with what was written: all objects that manifests name, and how many traces there are of each hour.
func (u *upgrade) check(ctx context.Context) error {
	there := map[string]uint64{}
	for shard := range u.shards {
		m, err := u.readManifest(ctx, shard)
		if err != nil {
			return err
		}
		if err := u.checkObjects(ctx, shard, m); err != nil {
			return err
		}
		for name, h := range m.Hours {
			there[name] += h.Traces
			rows := uint64(0)
			for _, f := range h.Runs {
				rows += uint64(f.Rows)
			}
			if len(h.Runs) > 0 && rows != h.Traces {
				return fmt.Errorf("count traces: hour %s of shard %d has %d, its runs have %d", name, shard, h.Traces, rows)
			}
		}
	}
	for _, h := range u.from.Hours {
		if want := u.state.Hours[h.Name]; there[h.Name] != want {
			return fmt.Errorf("count traces: hour %s has %d in the new form, %d were written", h.Name, there[h.Name], want)
		}
	}
	return nil
}

// readManifest reads the manifest of a shard from the disk.
func (u *upgrade) readManifest(ctx context.Context, shard int) (*layout.Manifest, error) {
	got, err := u.bucket.Get(ctx, layout.ManifestKey(shard), layout.MaxManifest, "")
	if err != nil {
		return nil, err
	}
	return u.bucket.DecodeManifest(shard, got.Body)
}

// checkObjects fails if an object is missing that a manifest names.
func (u *upgrade) checkObjects(ctx context.Context, shard int, m *layout.Manifest) error {
	missing := m.Names(shard)
	for e, err := range u.bucket.ListNamed(ctx, shard) {
		if err != nil {
			return fmt.Errorf("list what is written: %w", err)
		}
		delete(missing, e.Key)
	}
	var err error
	for key := range missing {
		err = errors.Join(err, fmt.Errorf("%s is missing in the new form", key))
	}
	return err
}
